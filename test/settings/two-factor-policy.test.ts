/** An organization that requires two-factor authentication of its members. */
import { beforeAll, describe, expect, test } from 'vitest';
import { addMember, removeMember } from '../../server/accounts/members.ts';
import { publicId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { openPages, pathsOf, scene, stateOf } from './every-route.ts';
import { startMailServer } from './providers.ts';
import {
  auditLog,
  codeAt,
  givePassword,
  openSetUp,
  password,
  shownSecret,
  signIn,
  signInSingly,
  someone,
  turnOnTwoFactor,
} from './visiting.ts';
import type { Visit } from './visiting.ts';

const nowMs = Date.parse('2026-11-22T12:00:00Z');
const authSecret = 's'.repeat(32);
const mailServer = await startMailServer();
const mail = { url: mailServer.url, from: 'api@acme.example' };
const singleSignOn = { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' };
const world = useWorld({ now: () => nowMs, ownDatabase: true, authSecret, singleSignOn, mail });

const members = '/settings/members';
const setUp = '/settings/account/two-factor';
const choose = async (visiting: Visit, policy: 'required' | 'optional') =>
  visiting.submit(`${members}/two-factor/${policy}`);
const require = ({ organization }: Tenant) =>
  world.database.pool.query('update organizations set requires_two_factor = true where id = $1', [organization.id]);

test('an admin can require it after turning it on, and make it optional again; other admins get mail', async () => {
  const tenant = await world.organization({ name: 'Acme' });
  const [admin, removed] = [await someone(world, tenant, 'admin', 'Ida Berg'), await someone(world, tenant, 'admin')];
  await removeMember(tenant.em(), null, removed);
  const other = await someone(world, tenant, 'member');
  const visiting = await signIn(world, admin);
  const refused = await choose(visiting, 'required');
  expect([refused.status, refused.text.includes('for your own account first')]).toEqual([422, true]);
  await turnOnTwoFactor(visiting, nowMs);
  expect((await choose(visiting, 'required')).location).toBe(`${members}?two-factor`);
  expect((await visiting.get(`${members}?two-factor`)).text).toContain('Two-factor authentication is now required.');
  const told = () => mailServer.mails.flatMap(({ to }) => to);
  await expect.poll(told).toContain(tenant.admin.email);
  for (const _ of ['once', 'again']) expect((await choose(visiting, 'optional')).status).toBe(303);
  expect((await visiting.get(`${members}?two-factor`)).text).toContain('Two-factor authentication is now optional.');
  expect((await auditLog(world, tenant)).filter((line) => line.startsWith('two_'))).toEqual([
    'two_factor_turned_on',
    'two_factor_policy_changed required',
    'two_factor_policy_changed optional',
  ]);
  expect((await visiting.get('/settings/activity')).text).toContain('made two-factor authentication required');
  await choose(visiting, 'required');
  const toAdmin = () => mailServer.mails.filter(({ to }) => to.includes(tenant.admin.email)).map(({ text }) => text);
  const policies = () => toAdmin().map((text) => /authentication (\w+) for the members/.exec(text)?.[1]);
  await expect.poll(() => policies().toSorted()).toEqual(['optional', 'required', 'required']);
  for (const { email } of [removed, other]) expect(told()).not.toContain(email);
});

describe('a member without it', () => {
  let one: Awaited<ReturnType<typeof scene>>;
  beforeAll(async () => {
    one = await scene(world, nowMs);
    await require(one.tenant);
  });

  test('is redirected to set it up from every page, and sees only their own account', async () => {
    const reachable: string[] = [];
    for (const path of await pathsOf('get')) {
      if (openPages.includes(path)) continue;
      const at = one.fill(path);
      const { location } = await one.visiting.get(at);
      if (location?.startsWith(setUp) && at !== setUp)
        expect(location).toBe(`${setUp}?${new URLSearchParams({ next: at }).toString()}`);
      else reachable.push(path);
    }
    expect(reachable.toSorted()).toEqual(
      [
        '/account',
        '/account/password',
        '/account/sessions',
        '/account/two-factor',
        '/account/two-factor/codes',
        '/account/two-factor/off',
      ].toSorted(),
    );
    const { page } = await openSetUp(one.visiting);
    expect(page.text).toContain('requires two-factor authentication. Set it up to continue.');
  });

  test('cannot change anything with any form until it is set up', async () => {
    const { visiting, tenant, fill } = one;
    const csrfToken = await visiting.csrfToken('/settings/account');
    const before = await stateOf(world, tenant.organization.id);
    for (const path of await pathsOf('post')) {
      if (/^\/(?:sign-|password|forgot|organization|account)/.test(path)) continue;
      await world.database.pool.query(`delete from sign_in.attempts where key like 'member %'`);
      const sent = await visiting.post(fill(path), { csrfToken, name: 'X', kind: 'customers', role: 'member' });
      expect([path, sent.status, sent.location]).toEqual([path, 303, setUp]);
    }
    expect(await stateOf(world, tenant.organization.id)).toBe(before);
  });

  test('continues to the requested page once it is set up, and can sign out before that', async () => {
    const member = await someone(world, one.tenant);
    const leaving = await signIn(world, member);
    const csrfToken = await leaving.csrfToken('/settings/account');
    expect((await leaving.post('/settings/sign-out', { csrfToken })).location).toBe(
      '/settings/sign-in?after=signed-out',
    );
    const visiting = await signIn(world, member);
    const wanted = '/settings/connect?client_id=x';
    const { location } = await visiting.get(wanted);
    const at = location ?? '';
    const { page, url, fields } = await openSetUp(visiting, at.slice(setUp.length));
    const send = (code: string) => visiting.post(url, { ...fields, current: password, code });
    // The browser opens the URL of the form when it reloads a rejected one.
    expect((await send('wrong')).text).toContain(`action="${url.replaceAll('&', '&amp;')}"`);
    expect((await send(codeAt(shownSecret(page), nowMs))).text).toContain(
      `href="${wanted}" role="button">I have saved`,
    );
    expect((await visiting.get('/settings/overview')).status).toBe(200);
    expect((await visiting.get(wanted)).status).toBe(400);
  });

  test('can still switch to an organization that does not require it', async () => {
    const other = await world.organization({ name: 'Second Ltd' });
    const member = await someone(world, one.tenant);
    const again = await addMember(world.database, other.organization, {
      email: member.email,
      name: 'Bo',
      role: 'member',
    });
    await givePassword(world, again);
    const visiting = await signIn(world, member);
    const csrfToken = await visiting.csrfToken('/settings/account');
    await visiting.post('/settings/organization', {
      csrfToken,
      organization: publicId('organization', other.organization.id),
    });
    expect((await visiting.get('/settings/overview')).text).toContain('Second Ltd');
  });
});

test('single sign-on satisfies it: the provider decides about a second factor', async () => {
  const tenant = await world.organization();
  await require(tenant);
  const admin = await someone(world, tenant, 'admin');
  await turnOnTwoFactor(await signIn(world, admin), nowMs);
  const other = await someone(world, tenant, 'admin');
  for (const member of [admin, other]) {
    const visiting = await signInSingly(world, member, authSecret);
    expect((await visiting.get('/settings/overview')).status).toBe(200);
    expect((await visiting.get('/settings/account')).text).toContain('You signed in with single sign-on');
    expect((await choose(visiting, 'required')).status).toBe(303);
  }
});
