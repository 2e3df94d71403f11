/** What people do in the settings, from start to finish, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from './chromium.ts';
import { changeOrganization } from '../../server/accounts/organizations.ts';
import { endSessions } from '../../server/accounts/sessions.ts';
import { listEndpoints } from '../../server/webhooks/log.ts';
import { useWorld } from '../world.ts';
import { expectSound, fillSignIn, useBrowser } from './browser.ts';
import { startMailServer } from '../settings/providers.ts';
import { password, signIn, someone, unknownEmail } from '../settings/visiting.ts';

const world = useWorld();
const screen = useBrowser();

const visitPath = (page: Page, path: string) => page.goto(`${world.url}/settings/${path}`);
const call = (key: string, path: string, init: RequestInit = {}) =>
  fetch(world.url + path, {
    ...init,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });

describe.runIf(hasChromium)('in a browser', () => {
  test('a member is invited, chooses a password, is made an admin, and creates, uses, replaces and revokes a key', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const page = await screen.openFor(admin, world.url);
    await page.getByRole('link', { name: 'Members' }).click();
    await expectSound(page);
    await page.getByLabel('Name', { exact: true }).fill('Jo Kim');
    const email = unknownEmail();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('heading', { name: 'Password link for Jo Kim' }).waitFor();
    await expectSound(page);
    const link = (await page.locator('#link').textContent()) ?? '';
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('row', { name: 'Jo Kim' }).getByText('Invited').waitFor();

    const other = await screen.open();
    await other.goto(link);
    await other.getByLabel('New password').fill('password1234');
    await other.getByRole('button', { name: 'Set password and sign in' }).click();
    await other.getByText('This password is too common.').waitFor();
    await expectSound(other);
    await other.reload();
    await other.getByRole('button', { name: 'Show new password' }).click();
    await expect.poll(() => other.locator('#announcement').textContent()).toBe('The password is shown.');
    // Its name says what it does; with a state as well, “Hide, pressed” would be read.
    const hide = other.getByRole('button', { name: 'Hide new password' });
    expect(await hide.getAttribute('aria-pressed')).toBeNull();
    await other.getByLabel('New password').fill(password);
    expect(await other.getByLabel('New password').getAttribute('type')).toBe('text');
    await other.getByRole('button', { name: 'Set password and sign in' }).click();
    await other.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
    await visitPath(other, 'api-keys');
    await other.getByText('Only admins of the organization can create').waitFor();
    await expectSound(other);
    await visitPath(other, 'members');
    await other.getByText('Only admins of the organization can manage members.').waitFor();
    await expectSound(other);

    await page.reload();
    await page.getByRole('row', { name: 'Jo Kim' }).getByText('just now').waitFor();
    await page.getByRole('link', { name: 'Change role Jo Kim' }).click();
    await expectSound(page);
    await page.getByLabel('Role').selectOption('admin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Jo Kim is now an admin.').waitFor();
    // Reloading must not repeat it.
    await page.waitForURL(`${world.url}/settings/members`);
    await expectSound(page);

    await visitPath(other, 'api-keys');
    await other.getByLabel('Name').fill('Zapier');
    await other.getByRole('button', { name: 'Create key' }).click();
    const raw = (await other.locator('#raw-key').textContent()) ?? '';
    expect((await call(raw, '/v1/customers')).status).toBe(200);
    expect((await call(raw, '/v1/customers', { method: 'POST', body: '{"name":"A","email":"nonsense"}' })).status).toBe(
      422,
    );

    await other.getByRole('link', { name: 'Done' }).click();
    await other.getByRole('link', { name: 'Zapier', exact: true }).click();
    const failure = other.getByRole('table', { name: 'Recent failures' }).getByRole('row').nth(1);
    expect(await failure.textContent()).toMatch(/422.*email.*req_/s);
    expect(await other.getByRole('main').textContent()).not.toContain('nonsense');
    await other.getByText('As a table').click();
    await expectSound(other);
    await visitPath(other, 'usage');
    await other.getByRole('img', { name: /2 in total/ }).waitFor();
    await expectSound(other);

    await visitPath(other, 'api-keys');
    await other.getByRole('link', { name: 'Replace Zapier' }).click();
    await expectSound(other);
    await other.getByLabel('For 1 hour').check();
    await other.getByRole('button', { name: 'Replace key' }).click();
    await other.getByText('The old key works until').waitFor();
    await expectSound(other);
    const next = (await other.locator('#raw-key').textContent()) ?? '';
    expect(next).not.toBe(raw);
    expect([(await call(raw, '/v1/me')).status, (await call(next, '/v1/me')).status]).toEqual([200, 200]);
    // Reloading does not offer to replace the old key again.
    await other.reload();
    await other.getByRole('row', { name: 'works until' }).getByRole('link', { name: 'Revoke Zapier' }).click();
    await other.getByRole('button', { name: 'Revoke key' }).click();
    await other.getByText('“Zapier” has been revoked').waitFor();
    expect([(await call(raw, '/v1/me')).status, (await call(next, '/v1/me')).status]).toEqual([401, 200]);
    await other.locator('summary', { hasText: 'Revoked and expired keys' }).click();
    await other.locator('summary', { hasText: 'Activity' }).click();
    await other.locator('summary', { hasText: 'Getting started' }).click();
    await expectSound(other);
  });

  test('a person whose address is in another script is invited, and signs in with it', async () => {
    const page = await screen.openFor(await someone(world, await world.organization(), 'admin'), world.url);
    await visitPath(page, 'members');
    const email = unknownEmail().replace('nobody', 'müller').replace('example', 'bücher');
    await page.getByLabel('Name', { exact: true }).fill('Jo Müller');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = (await page.locator('#link').textContent()) ?? '';
    expect(await page.getByRole('cell', { name: email }).count()).toBe(1);

    const other = await screen.open();
    await other.goto(link);
    await other.getByLabel('New password').fill(password);
    await other.getByRole('button', { name: 'Set password and sign in' }).click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await fillSignIn(other, { email });
    await other.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
  });

  test('a member who is removed while signed in is told so on the next click', async () => {
    const tenant = await world.organization();
    const page = await screen.openFor(await someone(world, tenant, 'admin', 'Mara Ellison'), world.url);
    const leaver = await someone(world, tenant, 'admin', 'Lee Vance');
    const other = await screen.openFor(leaver, world.url);
    await other.getByLabel('Name').fill('Leftover');
    await other.getByRole('button', { name: 'Create key' }).click();
    await other.getByRole('link', { name: 'Done' }).click();

    await visitPath(page, 'members');
    await page.getByRole('link', { name: 'Remove Lee Vance' }).click();
    await page.getByText('The API key that Lee Vance created will keep working').waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByText('Lee Vance is no longer a member').waitFor();

    await other.getByLabel('Name').fill('Too late');
    await other.getByRole('button', { name: 'Create key' }).click();
    await other.getByText('Your session has ended, and nothing was changed.').waitFor();
    await expectSound(other);
    await fillSignIn(other, leaver);
    await other.getByText('Incorrect email or password.').waitFor();
    await visitPath(page, 'api-keys');
    expect(await page.getByRole('row', { name: 'Leftover' }).textContent()).toContain('no longer a member');
    expect(await page.getByRole('row', { name: 'Too late' }).count()).toBe(0);
  });

  test('signing in after a session has ended leads back to the same page', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin');
    const page = await screen.openFor(admin, world.url);
    await visitPath(page, 'members');
    await endSessions(world.database.pool, [admin.id], { except: null });
    await page.getByRole('link', { name: 'Change role' }).first().click();
    await page.getByText('Your session has ended').waitFor();
    await fillSignIn(page, admin);
    await page.getByRole('heading', { name: 'Change the role of' }).waitFor();
    expect(page.url()).toMatch(/\/settings\/members\/mem_\w+\/role$/);
  });

  test('a form that is sent after the session has ended keeps what was typed, for the same person only', async () => {
    const tenant = await world.organization();
    const [admin, other] = [await someone(world, tenant, 'admin'), await someone(world, tenant, 'admin')];
    const page = await screen.openFor(admin, world.url);
    for (const [person, name, days] of [
      [admin, 'Website', '90'],
      [other, '', ''],
    ] as const) {
      await page.getByLabel('Name').fill('Website');
      await page.getByLabel('Expires').selectOption('90');
      await endSessions(world.database.pool, [admin.id], { except: null });
      await page.getByRole('button', { name: 'Create key' }).click();
      await fillSignIn(page, person);
      await page.getByRole('heading', { name: 'API Keys', exact: true }).waitFor();
      await page.waitForLoadState();
      const shown = [await page.getByLabel('Name').inputValue(), await page.getByLabel('Expires').inputValue()];
      expect(shown).toEqual([name, days]);
    }
  });

  test('a form that was rejected, or not sent at all, keeps what was typed when the browser comes back to it', async () => {
    const tenant = await world.organization();
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    // Safari does not tell a page its status.
    await page.addInitScript('delete PerformanceResourceTiming.prototype.responseStatus');
    await page.reload();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Rejected');
    await page.locator('form.stack input[name=csrfToken]').evaluate((one: { value: string }) => (one.value = ''));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Error 403').waitFor();
    await page.goBack();
    expect(await name.inputValue()).toBe('Rejected');
    await page.route('**', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await name.fill('Not sent');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('chrome-error://chromewebdata/');
    await page.goBack();
    expect(await name.inputValue()).toBe('Not sent');
    await page.unroute('**');
    await name.fill(' ');
    await page.getByLabel('Expires').selectOption('90');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    for (const comeBack of [() => page.goBack(), () => page.reload()]) {
      await comeBack();
      expect([await name.inputValue(), await page.getByLabel('Expires').inputValue()]).toEqual([' ', '90']);
    }
    await visitPath(page, 'members');
    await page.getByLabel('Name of the organization').fill('Umbrella');
    await page.getByLabel('Currency').fill('EUX');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('#currency-problem').waitFor();
    await page.getByLabel('Name of the organization').fill('Umbrella Group');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('Name of the organization').inputValue()).toBe('Umbrella Group');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.getByRole('link', { name: 'API Keys', exact: true }).click();
    await name.fill('Skipped');
    await page.route('**', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('chrome-error://chromewebdata/');
    await page.unroute('**');
    await page.goBack();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.getByRole('link', { name: 'API Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await page.waitForLoadState();
    expect(await name.inputValue()).toBe('Skipped');
  });

  test('a form that was left, or sent without success, keeps what was entered, and undoes nothing', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin');
    const page = await screen.openFor(admin, world.url);
    await visitPath(page, 'members');
    await page.getByLabel('Name of the organization').fill('Umbrella');
    await changeOrganization(tenant.em(), tenant.admin, { currency: 'EUR' });
    await endSessions(world.database.pool, [admin.id], { except: null });
    await page.getByRole('button', { name: 'Save' }).click();
    await fillSignIn(page, admin);
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    await page.waitForLoadState();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The organization has been updated.').waitFor();
    const { organization } = (await tenant.call('GET', '/v1/me')).body;
    expect(organization).toMatchObject({ name: 'Umbrella', currency: 'EUR' });

    await visitPath(page, 'webhooks');
    await page.getByLabel('Name', { exact: true }).fill('Zap');
    await page.getByLabel('URL').fill('https://93.184.216.34/');
    await page.getByLabel('item.created').check();
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByText('Change the endpoint').click();
    await page.getByLabel('Name', { exact: true }).fill('Zapier');
    await page.getByLabel('item.updated').check();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Zapier');
    await page.getByLabel('item.created').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The endpoint was changed.').waitFor();
    expect(await listEndpoints(tenant.em())).toMatchObject([{ name: 'Zapier', events: ['item.updated'] }]);
  });

  test('after an incorrect password, going back opens the sign-in page, which still leads to the requested page', async () => {
    const admin = await someone(world, await world.organization(), 'admin');
    const page = await screen.open();
    await visitPath(page, 'members');
    await fillSignIn(page, admin, 'not my password');
    await page.getByText('Incorrect email or password.').waitFor();
    await page.getByRole('link', { name: 'Forgot your password' }).click();
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
    await page.goBack();
    await fillSignIn(page, admin);
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    expect(page.url()).toBe(`${world.url}/settings/members`);
  });

  test('a member ends another session, and changes the password', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant, 'member', 'Ida Berg');
    const page = await screen.openFor(member, world.url);
    const elsewhere = await signIn(world, member);
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('table', { name: 'Sessions' }).getByRole('row').nth(2).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'End the session' }).click();
    await page.getByText('The session has ended.').waitFor();
    expect((await elsewhere.get('/settings/account')).status).toBe(303);

    await page.getByLabel('Current password').fill('not my password');
    await page.getByLabel('New password').fill('another horse altogether');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Incorrect password.').waitFor();
    await expectSound(page);
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill('another horse altogether');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password has been changed').waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await fillSignIn(page, member, 'another horse altogether');
    await page.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
  });

  test('a forgotten password leads to an admin, without naming one', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant, 'member');
    const page = await screen.open();
    await visitPath(page, 'sign-in');
    await page.getByRole('link', { name: 'Forgot your password' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Enter your email address.').waitFor();
    await expectSound(page);
    await page.getByLabel('Email').fill(member.email);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Ask an admin for a link' }).waitFor();
    expect(await page.getByText('Ann', { exact: true }).count()).toBe(0);
    await expectSound(page);
    // Reloading does not send the form again.
    expect(new URL(page.url()).pathname).toBe('/settings/sign-in');
  });

  test('an unknown URL gets an HTML page', async () => {
    const page = await screen.open();
    expect((await page.goto(`${world.url}/nowhere`))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectSound(page);
    await page.goto(world.url);
    // A link that looks like a button reacts to the space bar, too.
    await page.getByRole('button', { name: 'Read the docs' }).press('Space');
    await page.waitForURL('**/docs');
  });

  test('no page caused a browser error or warning', () => expect(screen.complaints).toEqual([]));
});

describe.runIf(hasChromium)('with a mail server', () => {
  let mail: Awaited<ReturnType<typeof startMailServer>>;
  const options: { mail?: { url: string; from: string } } = {};
  beforeAll(async () => {
    mail = await startMailServer();
    options.mail = { url: mail.url, from: 'Proposal API <api@example.com>' };
  });
  afterAll(() => mail.close());
  const mailing = useWorld(options);

  test('a forgotten password is reset by email', async () => {
    const member = await someone(mailing, await mailing.organization());
    const page = await screen.open();
    await page.goto(`${mailing.url}/settings/forgot-password`);
    await expectSound(page);
    await page.getByLabel('Email').fill(member.email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('a link is on its way').waitFor();
    await expectSound(page);
    await expect.poll(() => mail.mails.length).toBe(1);
    expect(mail.mails[0]).toMatchObject({ from: 'api@example.com', to: [member.email] });
    const [link = ''] = /http:\S+/.exec(mail.mails[0]?.text ?? '') ?? [];
    await page.goto(link);
    await page.getByLabel('New password').fill('another horse altogether');
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
  });
});
