import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import type { Member } from '../../server/entities/organization.ts';
import { hasChromium } from './chromium.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { expectSound, useBrowser } from './browser.ts';
import { startOpenIdProvider } from '../settings/providers.ts';
import { auditLog, signIn, someone, unknownEmail, visit } from '../settings/visiting.ts';

type Provider = Awaited<ReturnType<typeof startOpenIdProvider>>;
const singleSignOn = { issuer: '', clientId: '', clientSecret: '' };
const world = useWorld({ singleSignOn });
const screen = useBrowser();
let provider: Provider;

beforeAll(async () => {
  provider = await startOpenIdProvider(`${world.url}/settings/oidc/callback`);
  // The world has read none of it yet: the provider is asked when somebody first signs in.
  Object.assign(singleSignOn, {
    issuer: provider.issuer,
    clientId: provider.client.id,
    clientSecret: provider.client.secret,
  });
});
afterAll(() => provider.close());

/** A member without a password. */
async function invited(): Promise<{ tenant: Tenant; member: Member }> {
  const tenant = await world.organization();
  const member = await addMember(world.database, tenant.organization, {
    email: unknownEmail(),
    name: 'Jo Kim',
    role: 'member',
  });
  return { tenant, member };
}

async function signInAs(page: Page, name: string, start = '/settings/sign-in'): Promise<void> {
  await page.goto(world.url + start);
  await page.getByRole('button', { name: 'Continue with single sign-on' }).click();
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

describe.runIf(hasChromium)('single sign-on', { timeout: 300_000 }, () => {
  test('signs in a member with the address that the provider verified, and back to where it began', async () => {
    const { tenant, member } = await invited();
    provider.people.set('jo', { email: member.email.toUpperCase(), verified: true });
    const page = await screen.open();
    await page.goto(`${world.url}/settings/sign-in`);
    await expectSound(page);
    await signInAs(page, 'jo', '/settings/sign-in?next=%2Fsettings%2Fmembers');
    await page.getByRole('heading', { name: 'Members', exact: true, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/members');
    expect(await page.getByRole('banner').textContent()).toContain(member.email);
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual(['signed_in']);
    const { rows } = await world.database.pool.query(
      `select a."accessToken", a."refreshToken", a."idToken" from sign_in.account a join sign_in."user" u on u.id = a."userId" where u.email = $1`,
      [member.emailKey],
    );
    expect(rows).toEqual([{ accessToken: null, refreshToken: null, idToken: null }]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
  });

  test('signs in nobody with an address that is unverified or not a member’s', async () => {
    const { member } = await invited();
    provider.people.set('unverified', { email: member.email, verified: false });
    provider.people.set('stranger', { email: unknownEmail(), verified: true });
    for (const name of ['unverified', 'stranger']) {
      const page = await screen.open();
      await signInAs(page, name);
      await page.getByText('Single sign-on did not sign you in.').waitFor();
      await expectSound(page);
      await page.goto(`${world.url}/settings/members`);
      expect(new URL(page.url()).pathname).toBe('/settings/sign-in');
    }
    const users = await world.database.pool.query('select 1 from sign_in."user" where email = any($1)', [
      [member.emailKey, provider.people.get('stranger')?.email],
    ]);
    expect(users.rowCount).toBe(0);
  });

  test('signs in nobody who was removed', async () => {
    const { member } = await invited();
    provider.people.set('leaver', { email: member.email, verified: true });
    const page = await screen.open();
    await signInAs(page, 'leaver');
    await page.getByRole('heading', { name: 'API Keys', exact: true }).waitFor();
    await world.database.pool.query('update members set removed_at = now() where id = $1', [member.id]);
    await page.reload();
    await page.getByText('Your session has ended').waitFor();
    const again = await screen.open();
    await signInAs(again, 'leaver');
    await again
      .getByText(/did not sign you in|Sign in/)
      .first()
      .waitFor();
    await again.goto(`${world.url}/settings/api-keys`);
    expect(new URL(again.url()).pathname).toBe('/settings/sign-in');
  });
});

test('a callback that nobody began signs in nobody, and leads to no other site', async () => {
  for (const query of ['', '?code=x&state=y', '?error=access_denied&state=y', '?code=x']) {
    const { status, location, headers } = await visit(world.url).get(`/settings/oidc/callback${query}`);
    expect([status, location]).toEqual([303, '/settings/sign-in?after=single-sign-on']);
    expect(headers.getSetCookie().join(';')).not.toMatch(/session_token=[^;]/);
  }
});

describe('a provider that cannot be reached', () => {
  const alone = useWorld({ singleSignOn: { issuer: 'http://localhost:1', clientId: 'x', clientSecret: 'y' } });

  test('is a page, and passwords go on working', async () => {
    const failed = await visit(alone.url).get('/settings/oidc');
    expect([failed.status, failed.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(failed.text).not.toContain('localhost:1');
    await signIn(alone, await someone(alone, await alone.organization()));
  });
});

describe('without a provider', () => {
  const plain = useWorld();

  test('there is no button and no route', async () => {
    expect((await visit(plain.url).get('/settings/sign-in')).text).not.toContain('single sign-on');
    expect((await visit(plain.url).get('/settings/oidc')).status).toBe(404);
  });
});
