import { describe, expect, test } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { hashPassword, mostWaiting } from '../../server/accounts/passwords.ts';
import { issueLink, linkHours, pathOfLink, resetHours, setPassword } from '../../server/accounts/password-links.ts';
import { readSessions, sessionSeconds } from '../../server/accounts/sessions.ts';
import { marks, watchNormalized } from '../normalized.ts';
import { useWorld } from '../world.ts';
import type { World } from '../world.ts';
import { givePassword, password, signIn, someone, unknownEmail, visit, passwordPath } from './visiting.ts';
import type { Reply, Visit } from './visiting.ts';

const world = useWorld({ trustedProxies: 1 });
const another = useWorld();
let hosts = 0;
/** An IP address that no other test uses. */
const elsewhere = () => ({ 'x-forwarded-for': `198.51.100.${(hosts += 1)}` });
const keys = '/settings/api-keys';
const home = '/settings/overview';

async function age(
  member: { email: string },
  column: 'createdAt' | 'expiresAt' | 'updatedAt',
  seconds: number,
): Promise<void> {
  await world.database.pool.query(
    `update sign_in.session set "${column}" = "${column}" - $2 * interval '1 second' where "userId" = (select id from sign_in."user" where email = $1)`,
    [member.email, seconds],
  );
}

/** Makes the network wait for its next attempt, no matter how slow this machine is. */
const slowDown = (network: string) =>
  world.database.pool.query(
    `insert into sign_in.attempts values ($1, 1, now() + interval '15 minutes')
     on conflict (key) do update set ends_at = excluded.ends_at`,
    [`slow ${network}`],
  );

async function refused(
  visiting: Visit,
  of: World,
  email: string,
): Promise<{ status: number; text: string; headers: string[] }> {
  const { status, text, headers } = await visiting.post('/settings/sign-in', { email, password: 'wrong wrong wrong' });
  return { status, text: text.replace(email, 'EMAIL').replace(of.url, ''), headers: [...headers.keys()] };
}

describe('signing in', () => {
  test('leads to the overview, with a cookie that only this site, and no script, can read', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant);
    const visiting = visit(world.url);
    expect((await visiting.get('/settings')).location).toBe(home);
    expect((await visiting.get(home)).location).toBe('/settings/sign-in');
    expect((await visiting.get('/settings/sign-in')).text).toContain('to manage your organization');
    const answer = await visiting.post('/settings/sign-in', { email: ` ${member.email.toUpperCase()} `, password });
    expect([answer.status, answer.location]).toEqual([303, home]);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^settings\.session_token=.+; Max-Age=7200; Path=\/settings; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^settings\.device=.+; Path=\/settings\/sign-in; HttpOnly; SameSite=Lax$/),
    ]);
    const { text } = await visiting.get(keys);
    expect(text).toContain(member.email);
    expect(text).toContain('Dates and times are in UTC.');
    expect((await visiting.get('/settings/sign-in')).location).toBe(home);
  });

  test('leads to the page with the link to a file, because a download would leave the browser where it is', async () => {
    for (const path of ['/settings/activity.csv?kind=change', '/settings/imports/x/rejected']) {
      const { location } = await visit(world.url).get(path, { referer: `${world.url}/settings/activity?kind=change` });
      expect(location).toBe('/settings/sign-in?next=%2Fsettings%2Factivity%3Fkind%3Dchange');
      expect((await visit(world.url).get(path)).location).toBe('/settings/sign-in');
    }
  });

  test('says so if the browser does not keep the cookie', async () => {
    const { location } = await visit(world.url).get(keys, { referer: `${world.url}/settings/sign-in?next=%2F` });
    expect(location).toBe('/settings/sign-in?after=no-cookie&next=%2Fsettings%2Fapi-keys');
    const { text } = await visit(world.url).get(String(location));
    expect(text).toContain('Your browser did not keep the cookie of your session. Allow cookies for this site');
    expect((await visit(world.url).get(keys, { referer: `${world.url}/docs` })).location).not.toContain('after');
  });

  test('responds the same to a wrong password and an unknown address', async () => {
    const member = await someone(world, await world.organization());
    const unset = await addMember(world.database, (await world.organization()).organization, {
      email: unknownEmail(),
      name: 'Cy',
      role: 'admin',
    });
    const visiting = visit(world.url);
    const known = await refused(visiting, world, member.email);
    expect(known.status).toBe(422);
    expect(known.text).toContain('Incorrect email or password.');
    expect(await refused(visiting, world, unknownEmail())).toEqual(known);
    expect(await refused(visiting, world, unset.email)).toEqual(known);
    expect(await refused(visiting, world, 'not-an-address')).toEqual(known);
    expect(visiting.cookie()).toBe('');
  });

  test.each(['ana\0@example.com', 'ana\u0007@example.com', 'ana\uD800@example.com'])(
    'responds to %j as to any unknown address',
    async (email) => {
      const visiting = visit(world.url, elsewhere());
      expect((await refused(visiting, world, email)).status).toBe(422);
      expect((await visiting.post('/settings/forgot-password', { email })).status).toBe(200);
    },
  );

  test('is limited to ten attempts per account and network; from elsewhere the member can still sign in', async () => {
    const member = await someone(world, await world.organization());
    for (const email of [member.email, unknownEmail()]) {
      const here = visit(world.url, elsewhere());
      const attempt = (typed: string) =>
        here.post('/settings/sign-in', { email: email.toUpperCase(), password: typed });
      for (let count = 0; count < attemptLimits.account.most; count += 1)
        expect((await attempt('wrong wrong wrong')).status).toBe(422);
      const stopped = await attempt(password);
      expect(stopped.status).toBe(429);
      expect(stopped.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(800);
      // The attempts themselves take a while.
      expect(stopped.text).toMatch(/Too many attempts\. Try again in 1[0-5] minutes\./);
      expect(stopped.headers.getSetCookie()).toEqual([]);
    }
    const there = visit(world.url, elsewhere());
    expect((await there.post('/settings/sign-in', { email: member.email, password })).status).toBe(303);
  });

  test('from a network over its limit does not count against accounts', async () => {
    const here = { 'x-forwarded-for': '203.0.113.77' };
    const wrong = () => visit(world.url, here).post('/settings/sign-in', { email: unknownEmail(), password: 'x' });
    await wrong();
    const counted = async () =>
      (await world.database.pool.query(`select 1 from sign_in.attempts where key like 'account % 203.0.113.77'`))
        .rowCount;
    expect(await counted()).toBe(1);
    await world.database.pool.query(`update sign_in.attempts set count = $1 where key = 'address 203.0.113.77'`, [
      attemptLimits.address.most,
    ]);
    expect((await wrong()).status).toBe(422);
    const counts = await counted();
    await slowDown('203.0.113.77');
    expect((await wrong()).status).toBe(429);
    expect(await counted()).toBe(counts);
  });

  test('is limited to fifty failures per network over all accounts, then one every five seconds; successes do not count', async () => {
    const member = await someone(world, await world.organization());
    const attempt = async (address: string, fields: Record<string, string>) =>
      (await visit(world.url, { 'x-forwarded-for': address }).post('/settings/sign-in', fields)).status;
    const here = '2001:db8:1:2::7';
    const right = { email: member.email, password };
    const wrong = { email: unknownEmail(), password: 'wrong wrong wrong' };
    expect(await attempt(here, wrong)).toBe(422);
    // A guesser with an account of their own cannot start over either.
    for (let count = 0; count < 3; count += 1) expect(await attempt(here, right)).toBe(303);
    await world.database.pool.query(
      `update sign_in.attempts set count = count + $1 where key = 'address 2001:db8:1:2'`,
      [attemptLimits.address.most - 2],
    );
    await slowDown('2001:db8:1:2');
    expect([await attempt(here, wrong), await attempt(here, wrong)]).toEqual([422, 429]);
    await world.database.pool.query(`update sign_in.attempts set ends_at = now() where key = 'slow 2001:db8:1:2'`);
    expect(await attempt(here, wrong)).toBe(422);
    await slowDown('2001:db8:1:2');
    expect(await attempt('2001:db8:1:2:ffff::1', wrong)).toBe(429);
    expect(await attempt('2001:db8:1:3::7', wrong)).toBe(422);
  });

  test('finds an address whose letters are typed as a letter and an accent', async () => {
    const { organization } = await world.organization();
    const email = unknownEmail().replace('nobody', 'm\u00FCller');
    await givePassword(world, await addMember(world.database, organization, { email, name: 'Jo', role: 'member' }));
    const typed = { email: email.replace('\u00FC', 'u\u0308'), password };
    expect((await visit(world.url).post('/settings/sign-in', typed)).location).toBe(home);
  });

  test('shortens an address before it is normalized, which could take long', async () => {
    const { longest } = watchNormalized();
    const typed = { email: `a${marks.slice(0, 2_400)}`, password: 'wrong' };
    expect((await visit(world.url).post('/settings/sign-in', typed)).status).toBe(422);
    expect(longest()).toBeLessThan(2_100);
  });

  test('asks for what is missing', async () => {
    const answer = await visit(world.url).post('/settings/sign-in', { email: '', password: '' });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Enter your email address.');
  });

  test('is rejected while too many passwords wait to be checked, and works again afterward: no attempt has been used up', async () => {
    const member = await someone(world, await world.organization());
    const visiting = visit(world.url, elsewhere());
    const signingIn = () => visiting.post('/settings/sign-in', { email: member.email, password });
    const session = await signIn(world, member);
    const changing = { current: password, password: `${password} staple`, csrfToken: await session.csrfToken() };
    const changePassword = () => session.post('/settings/account/password', changing);
    let isOver = false;
    const checkOthers = async () => {
      while (!isOver) await hashPassword(password, { N: 1024, r: 8, p: 1 });
    };
    const others = Array.from({ length: mostWaiting }, checkOthers);
    const rejected: Reply[] = [];
    // The first beyond the limit of a network would only slow down the next.
    for (let count = 0; count < attemptLimits.address.most + 2; count += 1) rejected.push(await signingIn());
    for (let count = 0; count <= attemptLimits.account.most; count += 1) rejected.push(await changePassword());
    isOver = true;
    await Promise.all(others);
    const sentence = 'Too many people are signing in right now. Try again in 10 seconds.';
    for (const { status, headers, text } of rejected)
      expect([status, headers.get('retry-after'), text]).toEqual([503, '10', expect.stringContaining(sentence)]);
    expect((await signingIn()).status).toBe(303);
    expect((await changePassword()).status).toBe(303);
  });
});

describe('a session', () => {
  test('ends on sign-out, on the server as well', async () => {
    const member = await someone(world, await world.organization());
    const visiting = await signIn(world, member);
    const held = visiting.cookie();
    expect((await visiting.post('/settings/sign-out', {})).status).toBe(403);
    expect((await visiting.submit('/settings/sign-out')).location).toBe('/settings/sign-in?after=signed-out');
    expect(visiting.cookie()).toBe('');
    expect((await visit(world.url).get(home, { cookie: held })).location).toBe('/settings/sign-in?after=session-ended');
    expect((await visiting.get('/settings/sign-in?after=signed-out')).text).toContain('You are signed out.');
    // As if the cookie had expired while a form was open.
    expect((await visit(world.url).post('/settings/members', { name: 'Late' })).location).toBe(
      '/settings/sign-in?after=session-ended',
    );
  });

  test('ends after two hours without a request, and is renewed by one', async () => {
    const member = await someone(world, await world.organization());
    const visiting = await signIn(world, member);
    await age(member, 'expiresAt', sessionSeconds.idle - 60);
    await age(member, 'updatedAt', sessionSeconds.idle - 60);
    const renewed = await visiting.get(home);
    expect(renewed.headers.getSetCookie()).toEqual([expect.stringContaining('Max-Age=7200')]);
    const [session] = await readSessions(world.database.signIns, member.id);
    expect(session?.updatedAt.getTime()).toBeGreaterThanOrEqual(Number(session?.createdAt));
    // At most every five minutes: otherwise, every page would be a write.
    await age(member, 'expiresAt', 270);
    expect((await visiting.get(home)).headers.getSetCookie()).toEqual([]);
    await age(member, 'expiresAt', 60);
    expect((await visiting.get(home)).headers.getSetCookie()).toHaveLength(1);
    await age(member, 'expiresAt', sessionSeconds.idle - 60);
    expect((await visiting.get(home)).status).toBe(200);
    await age(member, 'expiresAt', sessionSeconds.idle + 1);
    expect(await readSessions(world.database.signIns, member.id)).toEqual([]);
    const ended = await visiting.get(home);
    expect(ended.location).toBe('/settings/sign-in?after=session-ended');
    expect(ended.headers.getSetCookie()).toEqual([expect.stringMatching(/^settings\.session_token=; Max-Age=0;/)]);
  });

  test('ends twelve hours after it began, no matter what', async () => {
    const member = await someone(world, await world.organization());
    const visiting = await signIn(world, member);
    await age(member, 'createdAt', sessionSeconds.whole - 60);
    expect((await visiting.get(home)).status).toBe(200);
    await age(member, 'createdAt', 61);
    expect((await visiting.get(home)).location).toBe('/settings/sign-in?after=session-ended');
  });

  test('is valid in another process, and ends once the password changes', async () => {
    const member = await someone(world, await world.organization());
    const visiting = await signIn(world, member);
    expect((await visit(another.url).get(home, { cookie: visiting.cookie() })).status).toBe(200);
    await setPassword(world.database.signIns, member, 'another horse altogether');
    expect((await visiting.get(home)).status).toBe(303);
  });

  test('ends when someone signs in again in the same browser, with a password or a link', async () => {
    const tenant = await world.organization();
    const [member, other] = [await someone(world, tenant), await someone(world, tenant)];
    const visiting = await signIn(world, member);
    const first = visiting.cookie();
    await visiting.post('/settings/sign-in', { email: other.email, password });
    const second = visiting.cookie();
    const statusOf = async (cookie: string) => (await visit(world.url).get(home, { cookie })).status;
    expect([await statusOf(first), await statusOf(second)]).toEqual([303, 200]);
    const [, token = ''] = /token=(.+)$/.exec(await passwordPath(world.database, member)) ?? [];
    await visiting.post('/settings/password', { token, password });
    expect([await statusOf(second), await statusOf(visiting.cookie())]).toEqual([303, 200]);
    await visiting.post('/settings/sign-in', { email: other.email, password: 'wrong wrong wrong' });
    expect((await visiting.get(home)).status).toBe(200);
  });

  test('rejects a forged session cookie', async () => {
    const visiting = await signIn(world, await someone(world, await world.organization()));
    const [token = ''] = visiting.cookie().split('.').slice(-1);
    for (const cookie of [
      visiting.cookie().replace(token, `${token.slice(0, 5)}${token[5] === 'x' ? 'y' : 'x'}${token.slice(6)}`),
      'settings.session_token=a.b',
      'settings.session_token=',
      'settings.session_token=%',
    ]) {
      expect((await visit(world.url).get(home, { cookie })).status).toBe(303);
    }
  });
});

describe('a sign-in link', () => {
  test('sets one password, signs in, and then no longer works', async () => {
    const { admin } = await world.organization();
    const path = await passwordPath(world.database, admin);
    const [, token = ''] = /token=(.+)$/.exec(path) ?? [];
    const visiting = visit(world.url);
    const page = await visiting.get(path);
    expect(page.text).toContain(admin.email);
    const short = await visiting.post('/settings/password', { token, password: 'short' });
    expect([short.status, short.text.includes('Use at least 12 characters.')]).toEqual([422, true]);
    expect((await visiting.post('/settings/password', { token, password })).location).toBe(home);
    expect((await visiting.get(keys)).text).toContain(admin.email);
    expect((await visit(world.url).get(path)).status).toBe(410);
    expect(
      (await visit(world.url).post('/settings/password', { token, password: 'another horse altogether' })).status,
    ).toBe(410);
    await signIn(world, admin);
    expect(JSON.stringify(world.log)).not.toContain(token);
    const stored = await world.database.pool.query(
      `select 1 from sign_in.verification where identifier like '%' || $1 || '%'`,
      [token],
    );
    expect(stored.rowCount).toBe(0);
  });

  test('does not work after 72 hours, or one hour if the member requested it, or if it is made up', async () => {
    const { admin } = await world.organization();
    const issue = async (kind: 'invitation' | 'reset', hours: number) => {
      const token = await issueLink(world.database.signIns, admin, kind);
      await world.database.pool.query(
        `update sign_in.verification set "expiresAt" = "expiresAt" - $3 * interval '1 hour'
           where kind = $2 and value in ($1, (select id::text from sign_in."user" where email = $4))`,
        [admin.id, kind, hours, admin.emailKey],
      );
      return pathOfLink(token);
    };
    const expired = [await issue('invitation', linkHours), await issue('reset', resetHours)];
    for (const address of [...expired, '/settings/password', '/settings/password?token=x']) {
      const { status, text } = await visit(world.url).get(address);
      expect([status, text.includes('This link no longer works')]).toEqual([410, true]);
    }
    expect((await visit(world.url).get(await passwordPath(world.database, admin))).status).toBe(200);
  });
});

test('passwords and session tokens are never logged', async () => {
  const visiting = await signIn(world, await someone(world, await world.organization()));
  await visiting.get(keys);
  const lines = JSON.stringify(world.log);
  expect(lines).toContain('"path":"/settings/sign-in"');
  expect(lines).toContain('"memberId":"mem_');
  expect(lines).not.toContain(password);
  expect(lines).not.toContain(/token=([^.]+)/.exec(visiting.cookie())?.[1]);
});
