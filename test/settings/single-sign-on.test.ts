/** Single sign-on: with a real provider, whose forms are sent as a browser sends them, and with one that lies. */
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { addMember, removeMember } from '../../server/accounts/members.ts';
import { SingleSignOn } from '../../server/accounts/single-sign-on.ts';
import type { Member } from '../../server/entities/organization.ts';
import { certificates } from '../certificates.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { listen } from '../ports.ts';
import { useWorld } from '../world.ts';
import type { Tenant, World } from '../world.ts';
import { startHostileProvider } from './hostile-provider.ts';
import { startOpenIdProvider } from './providers.ts';
import { auditLog, password, passwordPath, signIn, someone, turnOnTwoFactor, unknownEmail, visit } from './visiting.ts';
import type { Reply, Visit } from './visiting.ts';

const home = '/settings/overview';
const refusedAt = '/settings/sign-in?after=single-sign-on';
const failedAt = '/settings/sign-in?after=provider';
const tooLateAt = '/settings/sign-in?after=too-late';

/** A member without a password. */
async function invited(world: World): Promise<{ tenant: Tenant; member: Member }> {
  const tenant = await world.organization();
  const fields = { email: unknownEmail(), name: 'Jo Kim', role: 'member' } as const;
  return { tenant, member: await addMember(world.database, tenant.organization, fields) };
}

describe('with a provider', () => {
  const singleSignOn = { issuer: 'http://localhost:1', clientId: '', clientSecret: '' };
  const world = useWorld({ singleSignOn });
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;

  beforeAll(async () => {
    provider = await startOpenIdProvider(`${world.url}/settings/oidc/callback`);
    // While the provider cannot be reached, each sign-in tries again.
    await visit(world.url).get('/settings/oidc');
    const { id: clientId, secret: clientSecret } = provider.client;
    Object.assign(singleSignOn, { issuer: provider.issuer, clientId, clientSecret });
  });
  afterAll(() => provider.close());

  /** Goes through the provider's two forms, and returns the service's response. */
  async function signInAs(visiting: Visit, name: string, start = '/settings/oidc'): Promise<Reply> {
    const there = visit(provider.issuer);
    let at = (await visiting.get(start)).location ?? '';
    for (let step = 0; step < 12 && !at.startsWith(world.url); step += 1) {
      const path = at.replace(provider.issuer, '');
      const page = await there.get(path);
      const [, action, prompt] = /action="([^"]+)"[\s\S]*?name="prompt" value="(\w+)"/.exec(page.text) ?? [];
      const sent = action
        ? await there.post(action.replace(provider.issuer, ''), { prompt: prompt ?? '', login: name, password: 'any' })
        : page;
      at = new URL(sent.location ?? '', provider.issuer + path).href;
    }
    return visiting.get(at.replace(world.url, ''));
  }

  test('signs in a member by the address that it verified, and returns to where the sign-in began', async () => {
    const { tenant, member } = await invited(world);
    provider.people.set('jo', { email: member.email.toUpperCase(), verified: true });
    const visiting = visit(world.url);
    expect((await visiting.get('/settings/sign-in')).text).toContain('Continue with single sign-on');
    expect((await visiting.get('/settings/oidc')).headers.getSetCookie()).toEqual([
      expect.stringMatching(/^settings\.oidc=.+; Max-Age=600; Path=\/settings\/oidc; HttpOnly; SameSite=Lax$/),
    ]);
    const answer = await signInAs(visiting, 'jo', '/settings/oidc?next=%2Fsettings%2Fmembers');
    expect([answer.status, answer.location]).toEqual([303, '/settings/members']);
    expect((await visiting.get('/settings/members')).text).toContain(member.email);
    // The session opens only the memberships that existed at sign-in.
    const later = await world.organization({ name: 'Later Ltd' });
    await addMember(world.database, later.organization, { email: member.email, name: 'Jo', role: 'admin' });
    expect((await visiting.get('/settings/members')).text).not.toContain('Later Ltd');
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual(['signed_in']);
    const { rows } = await world.database.pool.query(
      `select from sign_in.account a join sign_in."user" u on u.id = a."userId" where u.email = $1`,
      [member.emailKey],
    );
    // Nothing from the provider is stored, because it is not called again.
    expect(rows).toEqual([]);
    expect(visiting.cookie('/settings/oidc/callback')).not.toContain('settings.oidc=');
  });

  test('leads to the first page, if it began at another site or its URL is too long for a cookie', async () => {
    const { member } = await invited(world);
    provider.people.set('jo', { email: member.email, verified: true });
    for (const [from, location] of [
      ['/settings/members?x='.padEnd(2_500, 'y'), '/settings/members?x='],
      ['/settings/members?x='.padEnd(2_501, 'y'), home],
      ['//evil.example/', home],
    ] as const) {
      const visiting = visit(world.url);
      const next = encodeURIComponent(from);
      const answer = await signInAs(visiting, 'jo', `/settings/oidc?next=${next}`);
      expect([answer.status, answer.location?.replace(/y+$/, '')]).toEqual([303, location]);
      expect((await visiting.get(`/settings/oidc?next=${next}`)).headers.getSetCookie().join().length).toBeLessThan(
        4_096,
      );
    }
  });

  test('signs in no one whose address is unverified, not a member’s, or a removed member’s', async () => {
    const { tenant, member } = await invited(world);
    const leaver = await invited(world);
    provider.people.set('unverified', { email: member.email, verified: false });
    provider.people.set('stranger', { email: unknownEmail(), verified: true });
    provider.people.set('leaver', { email: leaver.member.email, verified: true });
    const before = visit(world.url);
    expect((await signInAs(before, 'leaver')).location).toBe(home);
    await removeMember(leaver.tenant.em(), null, leaver.member);
    expect((await before.get(home)).location).toBe('/settings/sign-in?after=session-ended');
    for (const name of ['unverified', 'stranger', 'leaver']) {
      const visiting = visit(world.url);
      expect((await signInAs(visiting, name)).location).toBe(refusedAt);
      expect((await visiting.get(home)).status).toBe(303);
      expect((await visiting.get(refusedAt)).text).toContain('Single sign-on failed.');
    }
    expect(JSON.stringify(world.log)).toContain('did not say that it has verified the email address');
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual([]);
  });

  test('uses the verified address at each sign-in, even if it is now a different member’s', async () => {
    const [one, other] = [await invited(world), await invited(world)];
    provider.people.set('mover', { email: one.member.email, verified: true });
    const visiting = visit(world.url);
    expect((await signInAs(visiting, 'mover')).location).toBe(home);
    provider.people.set('mover', { email: other.member.email, verified: true });
    const earlier = visiting.cookie();
    expect((await signInAs(visiting, 'mover')).location).toBe(home);
    expect((await visiting.get(home)).text).toContain(other.member.email);
    // The browser has only the cookie of its latest session.
    expect((await visit(world.url).get(home, { cookie: earlier })).status).toBe(303);
    provider.people.set('mover', { email: unknownEmail(), verified: true });
    expect((await signInAs(visit(world.url), 'mover')).location).toBe(refusedAt);
  });

  test('does not ask for this service’s code, and says why', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant);
    await turnOnTwoFactor(await signIn(world, member), Date.now());
    provider.people.set('protected', { email: member.email, verified: true });
    const visiting = visit(world.url);
    expect((await signInAs(visiting, 'protected')).location).toBe(home);
    expect((await visiting.get('/settings/account')).text).toContain('your provider decides whether to ask');
    const { member: without } = await invited(world);
    provider.people.set('without', { email: without.email, verified: true });
    const other = visit(world.url);
    await signInAs(other, 'without');
    expect((await other.get('/settings/account/two-factor')).text).toContain('You have no password here');
    const account = (await other.get('/settings/account')).text;
    expect(account).toContain('href="/settings/forgot-password"');
    expect(account).not.toContain('Current password');
    // So an admin who signs in this way can require it without having turned it on.
    provider.people.set('admin', { email: tenant.admin.email, verified: true });
    const admin = visit(world.url);
    await signInAs(admin, 'admin');
    const csrfToken = await admin.csrfToken();
    expect((await admin.post('/settings/members/two-factor/required', { csrfToken })).status).toBe(303);
  });

  test('locks in the same order as a removal, so that neither fails', async () => {
    const { tenant, member } = await invited(world);
    provider.people.set('jo', { email: member.email, verified: true });
    await signInAs(visit(world.url), 'jo');
    const removing = await patientConnection(world.database.pool);
    await removing.query('begin');
    await removing.query('select from organizations where id = $1 for update', [tenant.organization.id]);
    const signedIn = signInAs(visit(world.url), 'jo');
    await expect.poll(() => waitingStatements(world.database), { interval: 5 }).not.toEqual([]);
    await removing.query('select from sign_in."user" where email = $1 for update', [member.emailKey]);
    await removing.query('commit');
    removing.release();
    expect((await signedIn).location).toBe(home);
  });

  test('opens every organization of the address', async () => {
    const { member } = await invited(world);
    const second = await world.organization({ name: 'Second Ltd' });
    await addMember(world.database, second.organization, { email: member.email, name: 'Jo', role: 'member' });
    provider.people.set('both', { email: member.email, verified: true });
    const visiting = visit(world.url);
    await signInAs(visiting, 'both');
    expect((await visiting.get(home)).text).toMatch(/<option[^>]*>\s*Second Ltd/);
  });

  test('an admin who signs in as the member of one organization ends sessions only there', async () => {
    const { tenant, member } = await invited(world);
    const other = await world.organization({ name: 'Other Ltd' });
    await addMember(world.database, other.organization, { email: member.email, name: 'Jo', role: 'member' });
    provider.people.set('shared', { email: member.email, verified: true });
    const account = '/settings/account';
    const opened = async (visiting: Visit) => {
      const { text } = await visiting.get(account);
      return [tenant.organization.name, 'Other Ltd'].map((name) => text.includes(name));
    };
    const before = visit(world.url);
    await signInAs(before, 'shared');
    expect(await opened(before)).toEqual([true, true]);
    const token = (await passwordPath(world.database, member)).split('token=')[1] ?? '';
    const admin = visit(world.url);
    await admin.post('/settings/password', { token, password });
    expect(await opened(before)).toEqual([false, true]);
    expect((await admin.get(account)).text).not.toContain('name="session"');
    const after = visit(world.url);
    await signInAs(after, 'shared');
    const end = (visiting: Visit) => visiting.submit(`${account}/sessions`);
    expect((await end(admin)).location).toBe(`${account}?done=sessions`);
    expect(await opened(after)).toEqual([false, true]);
    expect((await after.get(account)).text).toContain('your provider decides whether to ask');
    // A session that proved the address itself ends all the others.
    const again = visit(world.url);
    await signInAs(again, 'shared');
    await end(again);
    for (const ended of [before, after, admin]) expect((await ended.get(account)).status).toBe(303);
    expect(await opened(again)).toEqual([true, true]);
  });

  test('a callback without a start signs in no one', async () => {
    for (const query of [
      '',
      '?code=x&state=y',
      '?error=access_denied&state=y',
      '?code=x',
      '?iss=https://evil.example',
    ]) {
      const begun = visit(world.url);
      await begun.get('/settings/oidc');
      for (const visiting of [visit(world.url), begun]) {
        const { status, location, headers } = await visiting.get(`/settings/oidc/callback${query}`);
        expect([status, location]).toEqual([303, tooLateAt]);
        expect(headers.getSetCookie().join(';')).not.toMatch(/session_token=[^;]/);
      }
    }
  });

  test('a callback with another of the service’s cookies in place of its own signs in no one', async () => {
    const visiting = await signIn(world, await someone(world, await world.organization()));
    const [, session = ''] = /settings\.session_token=([^;]+)/.exec(visiting.cookie()) ?? [];
    const answer = await visit(world.url).get('/settings/oidc/callback?code=x', { cookie: `settings.oidc=${session}` });
    expect([answer.status, answer.location]).toEqual([303, tooLateAt]);
  });
});

describe('with a provider that lies', () => {
  const singleSignOn = { issuer: '', clientId: 'settings', clientSecret: 'a secret' };
  const world = useWorld({ singleSignOn });
  let provider: Awaited<ReturnType<typeof startHostileProvider>>;
  let email = '';

  beforeAll(async () => {
    provider = await startHostileProvider();
    singleSignOn.issuer = provider.issuer;
  });
  beforeEach(async () => ({ email } = (await invited(world)).member));
  afterAll(() => provider.close());

  type Changed = { nonce?: string };
  async function attempt(lies: typeof provider.lies, changed: Changed = {}): Promise<string | null> {
    const visiting = visit(world.url);
    const url = (await visiting.get('/settings/oidc')).location;
    provider.lies = lies;
    const location = await returnFrom(visiting, url, changed);
    provider.lies = {};
    // Each start is good for one callback, even one that fails.
    expect(visiting.cookie('/settings/oidc/callback')).not.toContain('settings.oidc=');
    return location;
  }

  async function returnFrom(visiting: Visit, url: string | null, changed: Changed = {}): Promise<string | null> {
    const { nonce = '', state = '' } = { ...Object.fromEntries(new URL(url ?? '').searchParams), ...changed };
    provider.nonce(nonce);
    const query = new URLSearchParams({ code: 'code', state });
    return (await visiting.get(`/settings/oidc/callback?${query.toString()}`)).location;
  }

  test('accepts claims from the ID token, or from the userinfo of the same subject', async () => {
    expect(await attempt({ token: { email, email_verified: true } })).toBe(home);
    expect(await attempt({ userinfo: { email, email_verified: true } })).toBe(home);
  });

  test.each([true, 1, 'true', '1'])('accepts an address that Microsoft Entra ID has verified: %j', async (verified) => {
    expect(await attempt({ token: { email, xms_edov: verified } })).toBe(home);
  });

  test('signs in no one with the userinfo of another subject, or a token for someone else', async () => {
    const verified = { email, email_verified: true };
    expect(await attempt({ userinfo: { sub: 'another', ...verified } })).toBe(failedAt);
    expect(await attempt({ token: { aud: 'another client', ...verified } })).toBe(failedAt);
    expect(await attempt({ token: { iss: 'https://evil.example', ...verified } })).toBe(failedAt);
    expect(await attempt({ token: { exp: 1, ...verified } })).toBe(failedAt);
    expect(await attempt({ token: verified }, { nonce: 'of another sign-in' })).toBe(failedAt);
    for (const told of [
      { email, email_verified: 'true' },
      { email, email_verified: false, xms_edov: true },
      { email, xms_edov: false },
      { email, xms_edov: '0' },
      { email },
      { email: [email], email_verified: true },
    ])
      expect(await attempt({ token: told })).toBe(refusedAt);
  });

  test('signs in no one whose address is another spelling of a member’s', async () => {
    const tenant = await world.organization();
    const fields = { email: `k${unknownEmail()}`, name: 'Jo Kim', role: 'member' } as const;
    const member = await addMember(world.database, tenant.organization, fields);
    const attemptAs = (address: string) => attempt({ token: { email: address, email_verified: true } });
    expect(await attemptAs(member.email)).toBe(home);
    const kelvin = '\u212a';
    for (const spelling of [member.email.replace('k', kelvin), `${member.email}\0`, ` ${member.email}`])
      expect(await attemptAs(spelling)).toBe(refusedAt);
  });

  test('the log says why with the request', async () => {
    const lastLogged = () => world.log.findLast(({ path }) => path === '/settings/oidc/callback');
    expect(await attempt({ token: { email: unknownEmail(), email_verified: true } })).toBe(refusedAt);
    expect(lastLogged()).toMatchObject({
      requestId: expect.stringMatching(/^req_/),
      status: 303,
      error: { message: 'No member has the email address that the OpenID provider verified.' },
    });
    expect(await attempt({ token: { exp: 1, email, email_verified: true } })).toBe(failedAt);
    expect(lastLogged()).toMatchObject({ error: { name: 'ClientError' } });
    expect(await attempt({ denied: '/token' })).toBe(failedAt);
    const message = `${provider.issuer}/token responded with status 401: {"error":"invalid_client"}`;
    expect(lastLogged()).toMatchObject({ error: { cause: { message } } });
    expect((await visit(world.url).get(failedAt)).text).toContain('Try again, or sign in with your password.');
  });

  test.each([
    { supported: undefined },
    { supported: ['client_secret_basic', 'private_key_jwt'] },
    { supported: ['client_secret_post'] },
    { supported: ['client_secret_basic', 'client_secret_post'] },
  ])('gets the client secret as its configuration says: $supported', async ({ supported }) => {
    const metadata = { token_endpoint_auth_methods_supported: supported };
    // After a failure, its configuration is read again.
    const forget = () => attempt({ denied: '/token' });
    await forget();
    provider.lies = { metadata };
    expect(await attempt({ metadata, token: { email, email_verified: true } })).toBe(home);
    await forget();
  });

  test('may move: its configuration is read again after five minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const settings = { secret: 'of this test', baseUrl: world.url, secure: false };
    const alone = new SingleSignOn({ ...settings, database: world.database, provider: singleSignOn });
    const placeOf = async () => new URL((await alone.start(home)).url).pathname;
    expect(await placeOf()).toBe('/auth');
    provider.lies = { metadata: { authorization_endpoint: `${provider.issuer}/moved` } };
    onTestFinished(() => void (provider.lies = {}));
    vi.advanceTimersByTime(299_999);
    expect(await placeOf()).toBe('/auth');
    vi.advanceTimersByTime(1);
    expect(await placeOf()).toBe('/moved');
  });

  test('that named no sign-in page, or a wrong token endpoint, is asked again at the next sign-in', async () => {
    const token = { email, email_verified: true };
    // The configuration that was read before leads to an error.
    expect(await attempt({ denied: '/token' })).toBe(failedAt);
    provider.lies = { metadata: { authorization_endpoint: 'none' } };
    expect((await visit(world.url).get('/settings/oidc')).status).toBe(503);
    provider.lies = { metadata: { token_endpoint: `${provider.issuer}/moved` } };
    await visit(world.url).get('/settings/oidc');
    expect(await attempt({ token })).toBe(failedAt);
    expect(await attempt({ token })).toBe(home);
  });

  test('signs in a member who was added before the clock was set back', async () => {
    const setBack = `update members set created_at = now() + interval '1 hour' where email = $1`;
    await world.database.pool.query(setBack, [email]);
    const visiting = visit(world.url);
    const { location } = await visiting.get('/settings/oidc');
    provider.lies = { token: { email, email_verified: true } };
    expect(await returnFrom(visiting, location)).toBe(home);
    provider.lies = {};
    expect((await visiting.get(home)).status).toBe(200);
  });

  test('started in two tabs, the later one signs in, and the earlier one says why it does not', async () => {
    const visiting = visit(world.url);
    const start = async (next: string) => (await visiting.get(`/settings/oidc?next=${next}`)).location;
    const [earlier, later] = [await start('/settings/members'), await start('/settings/usage')];
    provider.lies = { token: { email, email_verified: true } };
    expect(await returnFrom(visiting, earlier)).toBe(tooLateAt);
    expect((await visiting.get(tooLateAt)).text).toContain('your sign-in has changed in the meantime');
    expect(await returnFrom(visiting, later)).toBe('/settings/usage');
    // Now signed in, as after a reload of the page that the provider led to.
    expect(await returnFrom(visiting, later)).toBe(tooLateAt);
    expect((await visiting.get(tooLateAt)).location).toBe(home);
    // One that fails returns to the same page when it is tried again.
    provider.lies = { denied: '/token' };
    expect(await returnFrom(visiting, await start('/settings/usage'))).toBe(`${failedAt}&next=%2Fsettings%2Fusage`);
    provider.lies = {};
  });

  test('waits at most five seconds, and reads at most a megabyte', async () => {
    expect(await attempt({ endless: '/token' })).toBe(failedAt);
    expect(await attempt({ endless: '/me' })).toBe(failedAt);
    expect(await attempt({ silent: '/token' })).toBe(failedAt);
    expect(JSON.stringify(world.log)).toContain('sent more than 1000000 bytes');
  });
});

test('a provider over https gets no request over plain http, not even where it asks for one', async () => {
  const { localhost: both } = certificates;
  let issuer = '';
  const server = createServer({ key: both, cert: both }, (_, response) => {
    const [authorization_endpoint, token_endpoint] = [`${issuer}/auth`, issuer.replace('https', 'http')];
    response
      .setHeader('Content-Type', 'application/json')
      .end(JSON.stringify({ issuer, authorization_endpoint, token_endpoint }));
  });
  issuer = `https://localhost:${await listen(server)}`;
  onTestFinished(() => void server.close());
  const trusted = getCACertificates('default');
  onTestFinished(() => setDefaultCACertificates(trusted));
  setDefaultCACertificates([both]);
  const provider = { issuer, clientId: 'settings', clientSecret: 'a secret' };
  const alone = new SingleSignOn({
    database: {} as never,
    provider,
    baseUrl: 'https://a.example',
    secret: 'of this test',
    secure: true,
  });
  const { url, cookies } = await alone.start(home);
  const errors: unknown[] = [];
  const state = new URL(url).searchParams.get('state');
  await alone.finish(`?code=code&state=${state}`, cookies.join(), (error) => errors.push(error));
  expect(errors).toMatchObject([{ message: 'only requests to HTTPS are allowed' }]);
});

describe('a provider that cannot be reached', () => {
  const alone = useWorld({ singleSignOn: { issuer: 'http://localhost:1', clientId: 'x', clientSecret: 'y' } });

  test('gets an error page, and passwords keep working', async () => {
    const failed = await visit(alone.url).get('/settings/oidc');
    expect([failed.status, failed.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(failed.text).not.toContain('localhost:1');
    expect(alone.log.findLast(({ path }) => path === '/settings/oidc')).toMatchObject({
      requestId: failed.headers.get('x-request-id'),
      error: { message: 'The OpenID provider at http://localhost:1 cannot be used.' },
    });
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
