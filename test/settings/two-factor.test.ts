/** Two-factor authentication with an app: turning it on, signing in with it, and who is protected from whom. */
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { lockPasswords, readPasswords } from '../../server/accounts/credentials.ts';
import { knownDevices } from '../../server/accounts/known-devices.ts';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { stepOf } from '../../server/accounts/authenticator.ts';
import { addMember, removeMember } from '../../server/accounts/members.ts';
import { choosePassword, issueLink, setPassword } from '../../server/accounts/password-links.ts';
import { hashPassword } from '../../server/accounts/passwords.ts';
import { SignIns } from '../../server/accounts/sign-in.ts';
import { codeSeconds, SecondStep } from '../../server/accounts/second-step.ts';
import { TwoFactor } from '../../server/accounts/two-factor.ts';
import type { Member, Role } from '../../server/entities/organization.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { publicId } from '../../server/records/public-id.ts';
import { runCommand } from '../command.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { startMailServer } from './providers.ts';
import {
  auditLog,
  codeAt,
  givePassword,
  openSetUp,
  password,
  passwordPath,
  shownSecret,
  signIn,
  signInSingly,
  someone,
  someoneInTwo,
  turnOnTwoFactor,
  visit,
} from './visiting.ts';
import type { Visit } from './visiting.ts';

const stepMs = 30_000;
let nowMs = Date.parse('2026-11-22T12:00:00Z');
beforeEach(() => void (nowMs += 60 * 60_000));

const mailServer = await startMailServer();
afterAll(() => mailServer.close());
const [old, fresh] = ['o'.repeat(32), 'n'.repeat(32)];
const world = useWorld({
  now: () => nowMs,
  mail: { url: mailServer.url, from: 'api@acme.example' },
  trustedProxies: 1,
  authSecret: old,
});

const home = '/settings/overview';
const codePath = '/settings/sign-in/code';
const account = '/settings/account';
const path = `${account}/two-factor`;
const sql = (text: string, values: unknown[] = []) => world.database.pool.query(text, values);
const mailsTo = ({ email }: Pick<Member, 'email'>) =>
  mailServer.mails.filter(({ to }) => to.includes(email)).map(({ text }) => text);

const changesOf = async (tenant: Tenant) => (await auditLog(world, tenant)).filter((line) => !line.startsWith('key_'));

async function scene(role: Role = 'member') {
  const tenant = await world.organization({ name: 'Acme' });
  const member = await someone(world, tenant, role, 'Ida Berg');
  const visiting = await signIn(world, member);
  const setUp = await turnOnTwoFactor(visiting, nowMs);
  nowMs += stepMs;
  return { tenant, member, visiting, ...setUp };
}

/** The first step of a sign-in. */
async function begin(member: Pick<Member, 'email'>, headers = {}, typed = password): Promise<Visit> {
  const visiting = visit(world.url, headers);
  const { status, location } = await visiting.post('/settings/sign-in', { email: member.email, password: typed });
  expect([status, location]).toEqual([303, codePath]);
  return visiting;
}
const enter = (visiting: Visit, code: string, more = {}) => visiting.post(codePath, { code, ...more });
const nothing = async () => undefined;
/** The service's own, for what no request can cause. */
function secondStep(): SecondStep {
  const signing = { secret: old, secure: false };
  const parts = { ...signing, database: world.database, now: () => nowMs };
  const [signIns, twoFactor] = [new SignIns(parts), new TwoFactor(parts)];
  return new SecondStep({ ...parts, signIns, twoFactor, devices: knownDevices(signing) });
}
const isSignedIn = async (visiting: Visit) => (await visiting.get(home)).status === 200;

test('codes match RFC 6238, and those of the steps before and after are accepted', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const published: [number, string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ];
  for (const [seconds, code] of published) {
    const at = (ms: number) => stepOf(secret, code, seconds * 1000 + ms);
    const step = Math.floor(seconds / 30);
    expect([at(0), at(-stepMs), at(stepMs)]).toEqual([step, step, step]);
    expect([at(-2 * stepMs), at(2 * stepMs)]).toEqual([undefined, undefined]);
  }
  for (const code of ['', '28708', '2870822', 'abcdef']) expect(stepOf(secret, code, 59_000)).toBeUndefined();
});

describe('turning it on', () => {
  test('needs the password and a code from the new app, and keeps its offer until both are right', async () => {
    const member = await someone(world, await world.organization(), 'member', 'Ida Berg');
    const visiting = await signIn(world, member);
    expect((await visiting.get(account)).text).toMatch(/Two-factor authentication\s*<span class="badge off">Off/);
    const { page, url, fields } = await openSetUp(visiting);
    expect(page.text).toContain('<svg xmlns="http://www.w3.org/2000/svg"');
    expect(page.text).not.toMatch(/ style=|<script>/);
    const { offer = '' } = fields;
    const secret = shownSecret(page);
    const send = (typed: Record<string, string>) => visiting.submit(path, { offer, ...typed });
    for (const [current, code, id, sentence] of [
      ['', '123456', 'current', 'Enter your password.'],
      [password, '', 'code', 'Enter a code.'],
      ['wrong wrong wrong', codeAt(secret, nowMs), 'current', 'Incorrect password.'],
      [password, codeAt(secret, nowMs + 5 * stepMs), 'code', 'Incorrect code.* check the clock of your phone'],
    ] as const) {
      const { status, text } = await send({ current, code });
      expect(status).toBe(422);
      expect(text).toMatch(new RegExp(`id="${id}-problem" role="alert">${sentence}`));
      // The browser opens the URL of the form when it reloads a rejected one.
      expect(text).toContain(`action="${url}"`);
    }
    expect(shownSecret(await visiting.get(url))).toBe(secret);
    expect((await visiting.get(path)).location).not.toBe(url);
    const other = await signIn(world, member);
    const code = codeAt(secret, nowMs).replace(/^.../, '$& ');
    const on = await send({ current: password, code });
    expect([on.status, on.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(new Set(on.text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g)).size).toBe(10);
    expect(on.text).toContain('download="recovery-codes.txt"');
    expect(on.text).toContain(`href="${account}" role="button">I have saved them`);
    expect((await visiting.get(account)).text).toContain('10 recovery codes are left.');
    expect(await isSignedIn(other)).toBe(false);
    expect((await visiting.get(path)).location).toBe(account);
    expect((await send({ current: password, code })).location).toBe(account);
    await expect.poll(() => mailsTo(member).join()).toContain('was turned on.');
  });

  test('waits for a password change, which ends a sign-in, and for a new session, and gives recovery codes only once', async () => {
    const { member, again } = await someoneInTwo(world);
    await givePassword(world, again);
    const { database } = world;
    const userId = (await readPasswords(database.signIns, [member.id]))[0]?.userId ?? '';
    const twoFactor = new TwoFactor({ database, secret: old, now: () => nowMs });
    const offer = twoFactor.offer('a session', '');
    const turnOn = () =>
      twoFactor.turnOn(offer, codeAt(offer.secret, nowMs), { userId, memberIds: [member.id] }, nothing);
    const duringChange = async <T>(work: () => Promise<T>, hash?: string): Promise<T> => {
      const changing = await patientConnection(database.pool);
      await changing.query('begin');
      await lockPasswords(changing, [{ userId }]);
      if (hash !== undefined) await choosePassword(changing, [{ memberId: member.id, userId }], { hash, except: null });
      const working = work();
      await expect.poll(() => waitingStatements(database), { interval: 5 }).not.toEqual([]);
      await changing.query('commit');
      changing.release();
      return working;
    };
    expect(await duringChange(turnOn)).toHaveLength(10);
    await expect(turnOn()).rejects.toThrow('Two-factor authentication is already on.');
    nowMs += stepMs;
    const header = (await begin(member)).cookie(codePath);
    const device = { ipAddress: '192.0.2.1', userAgent: '' };
    const finish = (cookie: string) => secondStep().finish(cookie, { code: codeAt(offer.secret, nowMs), device });
    expect(await duringChange(() => finish(header))).toMatchObject({ outcome: 'accepted' });
    expect(await twoFactor.read([again.id])).toHaveLength(1);
    nowMs += stepMs;
    const late = (await begin(member)).cookie(codePath);
    const hash = await hashPassword('another horse staple');
    expect(await duringChange(() => finish(late), hash)).toEqual({ outcome: 'ended' });
  });

  test('rejects an offer from another session, so no one can plant an app', async () => {
    const { tenant } = await scene();
    const [member, attacker] = [await someone(world, tenant), await someone(world, tenant)];
    const [mine, theirs] = [await signIn(world, member), await signIn(world, attacker)];
    const { page, url, fields } = await openSetUp(theirs);
    const typed = { ...fields, current: password, code: codeAt(shownSecret(page), nowMs) };
    expect((await mine.submit(path, typed)).status).toBe(422);
    const another = (await mine.get(url)).location ?? '';
    expect(shownSecret(await mine.get(another))).not.toBe(shownSecret(page));
  });

  test('stores the key encrypted and the recovery codes as hashes, and logs neither', async () => {
    const { member, visiting, secret, codes } = await scene();
    expect(codes).toHaveLength(10);
    await enter(await begin(member), codes[0] ?? '', { with: 'recovery' });
    await visiting.get(account);
    const { rows } = await sql('select f::text as row from sign_in.two_factor f');
    const stored = JSON.stringify(rows) + JSON.stringify(world.log);
    for (const shown of [secret, ...codes, ...codes.map((code) => code.replaceAll('-', ''))])
      expect(stored).not.toContain(shown);
    expect(stored).not.toContain(codeAt(secret, nowMs));
  });
});

describe('a sign-in', () => {
  test('needs a code after the password, and has no session until then', async () => {
    const { tenant, member, secret } = await scene();
    const visiting = await begin(member);
    expect(visiting.cookie()).toBe('');
    expect((await visiting.get(home)).location).toBe('/settings/sign-in');
    const page = await visiting.get(codePath);
    expect(page.text).toContain(`for ${member.email}`);
    expect(page.text).toMatch(/autocomplete="one-time-code"\s+inputmode="numeric"/);
    const before = await auditLog(world, tenant, ['sign_in']);
    const wrong = await enter(visiting, codeAt(secret, nowMs - 5 * stepMs));
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([422, []]);
    expect(wrong.text).toContain('check the clock of your phone');
    const right = await enter(visiting, codeAt(secret, nowMs).replace(/^.../, '$&-'));
    expect([right.status, right.location]).toEqual([303, home]);
    expect(await isSignedIn(visiting)).toBe(true);
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual([...before, 'sign_in_failed', 'signed_in']);
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    expect((await admin.get('/settings/activity?kind=sign_in')).text).toContain(
      'with the right password and a wrong code',
    );
  });

  test('ends the session that the browser had, but not before the code', async () => {
    const { tenant, member, secret } = await scene();
    const other = await signIn(world, await someone(world, tenant));
    const cookie = other.cookie();
    await other.post('/settings/sign-in', { email: member.email, password });
    expect(await isSignedIn(visit(world.url, { cookie }))).toBe(true);
    await enter(other, codeAt(secret, nowMs));
    expect([await isSignedIn(other), await isSignedIn(visit(world.url, { cookie }))]).toEqual([true, false]);
  });

  test('accepts each code once, even in several browsers at the same time', async () => {
    const { member, secret } = await scene();
    const browsers = await Promise.all([1, 2, 3].map(() => begin(member)));
    const code = codeAt(secret, nowMs);
    const statuses = await Promise.all(browsers.map(async (visiting) => (await enter(visiting, code)).status));
    expect(statuses.toSorted()).toEqual([303, 422, 422]);
    nowMs += stepMs;
    const late = await begin(member);
    expect((await enter(late, code)).status).toBe(422);
    expect((await enter(late, codeAt(secret, nowMs))).status).toBe(303);
  });

  test('does not accept the code that set up the app a second time', async () => {
    const member = await someone(world, await world.organization());
    const { secret } = await turnOnTwoFactor(await signIn(world, member), nowMs);
    expect((await enter(await begin(member), codeAt(secret, nowMs))).status).toBe(422);
  });

  test('accepts each recovery code once, however it is typed, and reports it by mail and in the audit log', async () => {
    const { tenant, member, codes } = await scene();
    const [first = '', second = ''] = codes;
    const visiting = await begin(member);
    expect((await visiting.get(`${codePath}?with=recovery`)).text).toContain('Recovery code');
    const typed = ` ${first.toUpperCase().replaceAll('-', ' ')} `;
    expect((await enter(visiting, typed, { with: 'recovery' })).location).toBe(`${account}?done=recovered`);
    expect((await visiting.get(account)).text).toContain('9 recovery codes are left.');
    const again = await begin(member);
    const refused = await enter(again, first, { with: 'recovery' });
    expect([refused.status, refused.text.includes('Incorrect recovery code.')]).toEqual([422, true]);
    expect((await enter(again, second)).status).toBe(303);
    expect(await changesOf(tenant)).toEqual(['two_factor_turned_on', 'recovery_code_used', 'recovery_code_used']);
    await expect.poll(() => mailsTo(member).join()).toContain('was completed with a recovery code');
  });

  test('uses up no code if the session cannot be stored', async () => {
    const { member, secret, codes } = await scene();
    const header = (await begin(member)).cookie(codePath);
    for (const code of [codeAt(secret, nowMs), codes[0] ?? '']) {
      // PostgreSQL stores no NUL character.
      const finish = (userAgent: string) =>
        secondStep().finish(header, { code, device: { ipAddress: '192.0.2.1', userAgent } });
      await expect(finish('\0')).rejects.toThrow('invalid byte sequence');
      expect(await finish('')).toMatchObject({ outcome: 'accepted' });
      expect(await finish('')).toMatchObject({ outcome: 'wrong' });
    }
  });

  test('continues to the requested page, such as an application’s consent page', async () => {
    const { member, secret } = await scene();
    // Longer than a cookie may be.
    const next = `/settings/connect?client_id=x&state=${'y'.repeat(4_000)}`;
    const query = `?next=${encodeURIComponent(next)}`;
    const visiting = visit(world.url);
    expect((await visiting.get(next)).location).toBe(`/settings/sign-in${query}`);
    const begun = await visiting.post('/settings/sign-in', { email: member.email, password, next });
    expect(begun.location).toBe(codePath + query);
    expect(begun.headers.getSetCookie().join().length).toBeLessThan(4_096);
    expect((await visiting.get(next)).status).toBe(303);
    const page = await visiting.get(codePath + query);
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(page.text.match(/href="\/settings\/sign-in[^"]*next=/g)).toHaveLength(2);
    const wrong = await visiting.post(codePath + query, { code: '123' });
    expect(wrong.text).toContain(`action="${codePath}${query}"`);
    expect((await visiting.post(codePath + query, { code: codeAt(secret, nowMs) })).location).toBe(next);
    expect((await visiting.get(next)).status).toBe(400);
    expect((await visiting.get(codePath + query)).location).toBe(`/settings/sign-in${query}`);
  });

  test('with a recovery code says so, and links to the requested page', async () => {
    const { member, codes } = await scene();
    const next = '/settings/connect?client_id=x';
    const query = `?next=${encodeURIComponent(next)}`;
    const visiting = visit(world.url);
    await visiting.post('/settings/sign-in', { email: member.email, password, next });
    const code = codes[0] ?? '';
    const { location } = await visiting.post(codePath + query, { with: 'recovery', code });
    const page = await visiting.get(location ?? '');
    expect(page.text).toMatch(
      /You signed in with a recovery code.*<a href="\/settings\/connect\?client_id=x">Continue/,
    );
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    const elsewhere = await visiting.get(`${account}?done=recovered&next=//evil.example/`);
    expect(elsewhere.text).not.toContain('evil.example');
  });

  test('leads to no other site, whatever `next` says', async () => {
    const member = await someone(world, await world.organization());
    const next = '//evil.example/';
    const query = `?next=${encodeURIComponent(next)}`;
    const fields = { email: member.email, password, next };
    const visiting = visit(world.url);
    expect((await visiting.post('/settings/sign-in', fields)).location).toBe(home);
    expect((await visiting.get(`/settings/sign-in${query}`)).location).toBe(home);
    expect((await visiting.submit('/settings/organization', { next })).location).toBe(home);
    const { page, url, fields: fieldsOfForm } = await openSetUp(visiting, query);
    const secret = shownSecret(page);
    const on = await visiting.post(url, { ...fieldsOfForm, current: password, code: codeAt(secret, nowMs) });
    expect([on.status, on.text.includes(`href="${home}"`), on.text.includes('evil.example')]).toEqual([
      201,
      true,
      false,
    ]);
    nowMs += stepMs;
    const coded = visit(world.url);
    expect((await coded.post('/settings/sign-in', fields)).location).toBe(codePath + query);
    expect((await coded.post(codePath + query, { code: codeAt(secret, nowMs) })).location).toBe(home);
  });

  test('in a known browser still needs a code', async () => {
    const { member, secret } = await scene();
    const visiting = await begin(member);
    expect((await enter(visiting, codeAt(secret, nowMs))).status).toBe(303);
    const again = await visiting.post('/settings/sign-in', { email: member.email, password });
    expect(again.location).toBe(codePath);
  });
});

describe('between password and code, a sign-in', () => {
  test('belongs to its browser, and its cookie is not a session', async () => {
    const { member, secret } = await scene();
    const visiting = await begin(member);
    const stranger = visit(world.url);
    expect((await stranger.get(codePath)).location).toBe('/settings/sign-in');
    expect((await enter(stranger, codeAt(secret, nowMs))).location).toBe('/settings/sign-in?after=too-late');
    const value = /second_step=([^;]+)/.exec(visiting.cookie('/settings/sign-in'))?.[1] ?? '';
    expect(value).not.toBe('');
    const forged = await stranger.get(home, { cookie: `settings.session_token=${value}` });
    expect(forged.status).toBe(303);
    for (const cookie of [`settings.second_step=${value.slice(0, -6)}AAAAAA`, 'settings.second_step=x.y'])
      expect((await stranger.get(codePath, { cookie })).location).toBe('/settings/sign-in');
  });

  test('cannot be forged with another of the service’s cookies', async () => {
    const { member, secret } = await scene();
    const visiting = await begin(member);
    await enter(visiting, codeAt(secret, nowMs));
    const cookies = visiting.cookie('/settings/sign-in').split('; ');
    expect(cookies.length).toBeGreaterThan(1);
    for (const cookie of cookies.map((one) => one.replace(/^[^=]+/, 'settings.second_step')))
      expect((await visit(world.url).get(codePath, { cookie })).location).toBe('/settings/sign-in');
  });

  test('ends after ten minutes', async () => {
    const { member, secret } = await scene();
    const visiting = await begin(member);
    nowMs += codeSeconds * 1000 - 1;
    expect((await visiting.get(codePath)).status).toBe(200);
    nowMs += 1;
    expect((await visiting.get(codePath)).status).toBe(303);
    expect((await enter(visiting, codeAt(secret, nowMs))).location).toBe('/settings/sign-in?after=too-late');
    expect((await visiting.get('/settings/sign-in?after=too-late')).text).toContain('That took too long');
    expect(await isSignedIn(visiting)).toBe(false);
  });

  test('survives neither a new password, nor a reset, nor the removal of the member', async () => {
    const ends: ((one: Awaited<ReturnType<typeof scene>>) => Promise<unknown>)[] = [
      ({ member }) => setPassword(world.database.signIns, member, 'another horse altogether'),
      ({ member }) =>
        runCommand(['members', 'reset-two-factor', member.email], { DATABASE_URL: inject('databaseUrl') }),
      ({ tenant, member }) => removeMember(tenant.em(), null, member),
    ];
    for (const end of ends) {
      const one = await scene();
      const visiting = await begin(one.member);
      await end(one);
      expect((await enter(visiting, codeAt(one.secret, nowMs))).location).toBe('/settings/sign-in?after=too-late');
      expect(await isSignedIn(visiting)).toBe(false);
    }
  });
});

describe('guesses', () => {
  test('are limited to ten in fifteen minutes over all networks; a browser that has signed in before has its own limit', async () => {
    const { member, secret } = await scene();
    const known = await begin(member);
    expect((await enter(known, codeAt(secret, nowMs))).status).toBe(303);
    nowMs += stepMs;
    const wrong = codeAt(secret, nowMs + 20 * stepMs);
    for (let count = 0; count < attemptLimits.code.most; count += 1) {
      const attacker = await begin(member, { 'x-forwarded-for': `203.0.113.${count + 1}` });
      expect((await enter(attacker, wrong)).status).toBe(422);
    }
    const attacker = await begin(member, { 'x-forwarded-for': '203.0.113.100' });
    const refused = await enter(attacker, codeAt(secret, nowMs));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(600);
    expect(refused.text).toContain('Too many attempts.');
    await known.post('/settings/sign-in', { email: member.email, password });
    expect((await enter(known, codeAt(secret, nowMs))).status).toBe(303);
  });

  test('are counted per app: another app for the same address neither adds guesses nor uses them up', async () => {
    const { member, secret } = await scene();
    const second = await world.organization();
    const { email } = member;
    const again = await addMember(world.database, second.organization, { email, name: 'Ida', role: 'member' });
    const otherPassword = 'another horse altogether';
    await givePassword(world, again, otherPassword);
    const theirs = visit(world.url);
    await theirs.post('/settings/sign-in', { email, password: otherPassword });
    const other = await turnOnTwoFactor(theirs, nowMs, otherPassword);
    const enterOther = async (network: number) => {
      nowMs += stepMs;
      const here = { 'x-forwarded-for': `203.0.113.${network}` };
      return (await enter(await begin(again, here, otherPassword), codeAt(other.secret, nowMs))).status;
    };
    const guessing = await begin(member);
    const wrong = codeAt(secret, nowMs + 40 * stepMs);
    for (let count = 0; count < attemptLimits.code.most; count += 1) {
      expect(await enterOther(count)).toBe(303);
      expect((await enter(guessing, wrong)).status).toBe(422);
    }
    expect((await enter(guessing, codeAt(secret, nowMs))).status).toBe(429);
    expect(await enterOther(100)).toBe(303);
  });

  test('are also limited when turning it off', async () => {
    const { visiting, secret } = await scene();
    const wrong = codeAt(secret, nowMs + 20 * stepMs);
    const attempt = async (code: string) => (await visiting.submit(`${path}/off`, { current: password, code })).status;
    for (let count = 0; count < attemptLimits.code.most; count += 1) expect(await attempt(wrong)).toBe(422);
    expect(await attempt(codeAt(secret, nowMs))).toBe(429);
  });
});

describe('a new password', () => {
  test('set with a link from an admin or from a reset does not replace the code', async () => {
    const { member, secret } = await scene();
    for (const kind of ['invitation', 'reset'] as const) {
      nowMs += stepMs;
      const token = await issueLink(world.database.signIns, member, kind);
      const visiting = visit(world.url);
      const chosen = await visiting.post('/settings/password', { token, password: `${kind} horse altogether` });
      expect([chosen.status, chosen.location]).toEqual([303, codePath]);
      expect(await isSignedIn(visiting)).toBe(false);
      expect((await enter(visiting, codeAt(secret, nowMs))).status).toBe(303);
      expect(await isSignedIn(visiting)).toBe(true);
    }
  });
});

describe('turning it off and creating recovery codes', () => {
  test('require the password and a code', async () => {
    const { tenant, member, visiting, secret, codes } = await scene();
    const send = async (what: string, current: string, code: string) =>
      visiting.submit(`${path}/${what}`, { current, code });
    for (const what of ['codes', 'off']) {
      expect((await visiting.get(`${path}/${what}`)).status).toBe(200);
      expect((await send(what, 'wrong wrong wrong', codeAt(secret, nowMs))).text).toContain('Incorrect password.');
      expect((await send(what, password, '000000')).text).toContain('Incorrect code.');
    }
    const made = await send('codes', password, codeAt(secret, nowMs));
    expect(made.status).toBe(201);
    const [next = ''] = made.text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/) ?? [];
    expect((await enter(await begin(member), codes[3] ?? '')).status).toBe(422);
    expect((await send('off', password, next)).location).toBe(`${account}?done=off`);
    expect((await visiting.get(`${account}?done=off`)).text).toContain('Two-factor authentication is off.');
    await signIn(world, member).then(async (again) => expect(await isSignedIn(again)).toBe(true));
    expect(
      (
        await sql('select from sign_in.two_factor where user_id in (select id from sign_in."user" where email = $1)', [
          member.emailKey,
        ])
      ).rowCount,
    ).toBe(0);
    expect(await changesOf(tenant)).toEqual(['two_factor_turned_on', 'recovery_codes_made', 'two_factor_turned_off']);
    await expect.poll(() => mailsTo(member).join()).toMatch(/has new recovery codes[\s\S]*was turned off/);
    for (const what of ['codes', 'off']) expect((await visiting.get(`${path}/${what}`)).location).toBe(account);
  });
});

describe('a person in two organizations', () => {
  /** With one password in both, and two-factor authentication turned on in the first. */
  async function twice() {
    const { first, second, member, again } = await someoneInTwo(world);
    await givePassword(world, again);
    const setUp = await turnOnTwoFactor(await signIn(world, member), nowMs);
    nowMs += stepMs;
    return { first, second, member, again, ...setUp };
  }
  const opened = async (visiting: Visit) => {
    const { text } = await visiting.get(account);
    return ['First Ltd', 'Second Ltd'].filter((name) => text.includes(name));
  };
  const resetBy = async (tenant: Tenant, member: Member) => {
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    const at = `/settings/members/${publicId('member', member.id)}/two-factor`;
    expect((await admin.get(at)).status).toBe(200);
    const { location } = await admin.submit(at);
    expect((await admin.get(location ?? '')).text).toContain(
      `two-factor authentication of ${member.name} has been reset.`,
    );
    return { location };
  };

  test('has one app for both: a guess at it counts once, and it is turned off for both', async () => {
    const { first, second, member, secret } = await twice();
    const visiting = await begin(member);
    await enter(visiting, codeAt(secret, nowMs));
    expect(await opened(visiting)).toEqual(['First Ltd', 'Second Ltd']);
    for (const tenant of [first, second]) expect(await changesOf(tenant)).toEqual(['two_factor_turned_on']);
    const guessing = await begin(member);
    const wrong = codeAt(secret, nowMs + 20 * stepMs);
    for (let count = 0; count < attemptLimits.code.most; count += 1)
      expect((await enter(guessing, wrong)).status).toBe(422);
    nowMs += stepMs;
    const csrfToken = await visiting.csrfToken();
    await visiting.post(`${path}/off`, { csrfToken, current: password, code: codeAt(secret, nowMs) });
    expect(await opened(await signIn(world, member))).toEqual(['First Ltd', 'Second Ltd']);
  });

  test('keeps it in one when an admin of the other resets it; the next code protects both again', async () => {
    const { first, second, member, secret } = await twice();
    expect((await resetBy(first, member)).location).toMatch(/members\?reset=mem_/);
    expect(await changesOf(first)).toEqual(['two_factor_turned_on', 'two_factor_reset']);
    expect(await changesOf(second)).toEqual(['two_factor_turned_on']);
    await expect
      .poll(() => mailsTo(member).join())
      .toMatch(/at First Ltd was reset by[\s\S]*If you did not expect this/);
    const without = await begin(member);
    expect((await without.get(codePath)).text).toContain('Continue to First Ltd without a code');
    expect((await without.post(codePath, { with: 'nothing' })).location).toBe(home);
    expect(without.cookie(codePath)).not.toContain('second_step');
    expect(await opened(without)).toEqual(['First Ltd']);
    const visiting = await begin(member);
    expect((await enter(visiting, codeAt(secret, nowMs))).status).toBe(303);
    expect(await opened(visiting)).toEqual(['First Ltd', 'Second Ltd']);
    expect(await isSignedIn(without)).toBe(false);
    const third = await begin(member);
    expect((await third.get(codePath)).text).not.toContain('without a code');
    expect((await third.post(codePath, { with: 'nothing' })).location).toBe('/settings/sign-in?after=too-late');
  });

  test('with one app for each opens only what the app of the entered code protects', async () => {
    const { second, member, again, secret } = await twice();
    await resetBy(second, again);
    const without = await begin(member);
    await without.post(codePath, { with: 'nothing' });
    const other = await turnOnTwoFactor(without, nowMs);
    nowMs += stepMs;
    for (const [key, names] of [
      [secret, ['First Ltd']],
      [other.secret, ['Second Ltd']],
    ] as const) {
      const visiting = await begin(member);
      expect((await enter(visiting, codeAt(key, nowMs))).status).toBe(303);
      expect(await opened(visiting)).toEqual(names);
    }
    // Single sign-on opens both, but turns off only the app whose code was entered.
    nowMs += stepMs;
    const both = await signInSingly(world, member, old);
    const entered = { current: password, code: codeAt(secret, nowMs) };
    expect((await both.submit(`${path}/off`, entered)).location).toBe(`${account}?done=off`);
    const left = await begin(member);
    expect((await enter(left, codeAt(other.secret, nowMs))).status).toBe(303);
  });

  test('does not open what another app begins to protect while the code is being accepted', async () => {
    const { second, member, again, secret } = await twice();
    await resetBy(second, again);
    const visiting = await begin(member);
    const [credential] = await readPasswords(world.database.signIns, [again.id]);
    const protecting = await patientConnection(world.database.pool);
    await protecting.query('begin');
    await lockPasswords(protecting, credential ? [credential] : []);
    const entered = enter(visiting, codeAt(secret, nowMs));
    await expect.poll(() => waitingStatements(world.database), { interval: 5 }).not.toEqual([]);
    await protecting.query(
      `with app as (insert into sign_in.two_factor (id, user_id, sealed_secret, last_step, recovery_hashes)
         values (gen_random_uuid(), $1, '', 0, '{}') returning id)
       insert into sign_in.two_factor_members (member_id, two_factor_id) select $2, id from app`,
      [credential?.userId, again.id],
    );
    await protecting.query('commit');
    protecting.release();
    expect((await entered).status).toBe(303);
    expect(await opened(visiting)).toEqual(['First Ltd']);
  });

  test('protects only what the given password opens, even where single sign-on has opened more', async () => {
    const { member, again } = await someoneInTwo(world);
    await setPassword(world.database.signIns, again, 'another horse altogether');
    const visiting = await signInSingly(world, member, old);
    const [first] = await readPasswords(world.database.signIns, [member.id]);
    await world.database.pool.query(
      `update sign_in.session set "organizationId" = $1 where "memberIds" is null and "userId" = $2`,
      [member.organizationId, first?.userId],
    );
    const change = { current: 'another horse altogether', password: 'a third horse altogether' };
    expect((await visiting.submit(`${account}/password`, change)).status).toBe(422);
    await turnOnTwoFactor(visiting, nowMs);
    await begin(member);
    const elsewhere = visit(world.url);
    const signedIn = await elsewhere.post('/settings/sign-in', {
      email: member.email,
      password: 'another horse altogether',
    });
    expect(signedIn.location).toBe(home);
  });

  test('is not locked out of one by what someone with a link to the other turns on', async () => {
    const { first, second, member, again } = await someoneInTwo(world);
    const token = (await passwordPath(world.database, again)).split('token=')[1] ?? '';
    const intruder = visit(world.url);
    await intruder.post('/settings/password', { token, password: 'another horse altogether' });
    await turnOnTwoFactor(intruder, nowMs, 'another horse altogether');
    expect(await opened(await signIn(world, member))).toEqual(['First Ltd']);
    const wrong = codeAt('A'.repeat(32), nowMs);
    expect((await enter(await begin(member, {}, 'another horse altogether'), wrong)).status).toBe(422);
    // Nor does the one learn of guesses at the other.
    expect(await auditLog(world, first, ['sign_in'])).toEqual(['signed_in']);
    expect(await auditLog(world, second, ['sign_in'])).toEqual(['signed_in', 'sign_in_failed']);
  });

  test('is removed from one along with its protection there', async () => {
    const { first, second, member, again, secret } = await twice();
    const count = async () =>
      (await sql('select from sign_in.two_factor_members where member_id = any($1)', [[member.id, again.id]])).rowCount;
    await removeMember(first.em(), null, member);
    expect(await count()).toBe(1);
    expect((await enter(await begin(member), codeAt(secret, nowMs))).status).toBe(303);
    await removeMember(second.em(), null, again);
    expect(await count()).toBe(0);
    expect(
      (
        await sql(
          'select from sign_in.two_factor f where not exists (select from sign_in.two_factor_members t where t.two_factor_id = f.id)',
        )
      ).rowCount,
    ).toBe(0);
  });
});

test('no one can reset their own, or one that is off', async () => {
  const { tenant, member, visiting } = await scene('admin');
  const other = await someone(world, tenant);
  const reset = ({ id }: Member) => visiting.submit(`/settings/members/${publicId('member', id)}/two-factor`);
  expect((await reset(member)).status).toBe(422);
  expect((await reset(other)).status).toBe(409);
  const { text } = await visiting.get('/settings/members');
  expect(text).toMatch(/Ida Berg[\s\S]*badge on">On/);
  expect(text).not.toContain('Reset two-factor');
  await turnOnTwoFactor(await signIn(world, other), nowMs);
  expect((await visiting.get('/settings/members')).text).toContain('Reset two-factor');
  expect((await (await signIn(world, await someone(world, tenant))).get('/settings/members')).text).not.toContain(
    'badge on',
  );
});

describe('the command line', () => {
  const run = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: inject('databaseUrl'), SMTP_URL: mailServer.url });

  test('lists who has it, and resets it in all of a person’s organizations', async () => {
    const { tenant, member } = await scene();
    const list = async () => {
      const { out } = await run('members', 'list', '--organization', tenant.organization.slug, '--json');
      return JSON.parse(out).find(({ email }: { email: string }) => email === member.email).twoFactor;
    };
    expect(await list()).toBe(true);
    const reset = await run('members', 'reset-two-factor', member.email);
    expect(reset).toMatchObject({ status: 0, out: `Reset the two-factor authentication of ${member.email}.\n` });
    expect(mailsTo(member).join()).toContain('at Acme was reset');
    expect(await changesOf(tenant)).toEqual(['two_factor_turned_on', 'two_factor_reset']);
    expect(await list()).toBe(false);
    expect(await isSignedIn(await signIn(world, member))).toBe(true);
    const again = await run('members', 'reset-two-factor', member.email);
    expect([again.status, again.err]).toEqual([
      1,
      `error: ${member.email} has no two-factor authentication to reset\n`,
    ]);
  });
});

test('AUTH_SECRET can be rotated without anyone setting it up again: one sign-in during the rotation is enough', async () => {
  const { member, secret } = await scene();
  const { database } = world;
  const started = (authSecret: string) =>
    serve({
      database,
      log: () => undefined,
      warn: () => undefined,
      host: '127.0.0.1',
      port: 0,
      authSecret,
      now: () => nowMs,
    });
  const signInAt = async (url: string) => {
    const visiting = visit(url);
    await visiting.post('/settings/sign-in', { email: member.email, password });
    return (await enter(visiting, codeAt(secret, (nowMs += stepMs)))).status;
  };
  const statuses: number[] = [];
  for (const authSecret of [fresh, `${fresh},${old}`, fresh, old]) {
    const serving = await started(authSecret);
    statuses.push(await signInAt(serving.url));
    await serving.close();
  }
  expect(statuses).toEqual([422, 303, 303, 422]);
});
