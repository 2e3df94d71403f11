/** Signs in and consents in a browser, as a person would. */
import type { Page } from 'playwright-core';
import type { Member } from '../../server/entities/organization.ts';
import { password } from '../settings/visiting.ts';

export async function signInHere(page: Page, { email }: Pick<Member, 'email'>): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Consents, and returns the URL that the browser is sent to. The website itself gets no request. */
export async function agree(page: Page, admin: Member, consentUrl: string, redirectUri: string): Promise<URL> {
  let returned: URL | undefined;
  await page.route(`${redirectUri}**`, async (route) => {
    returned = new URL(route.request().url());
    await route.fulfill({ contentType: 'text/html', body: '<h1>Connected</h1>' });
  });
  await page.goto(consentUrl);
  await signInHere(page, admin);
  await page.getByRole('button', { name: 'Create key and connect' }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  if (!returned) throw new Error('The browser was not sent back to the application.');
  return returned;
}
