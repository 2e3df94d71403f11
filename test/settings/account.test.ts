import { describe, expect, test, vi } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { lockPasswords, matchPassword } from '../../server/accounts/credentials.ts';
import { choosePassword } from '../../server/accounts/password-links.ts';
import { readSessions } from '../../server/accounts/sessions.ts';
import { hashPassword, longestWaitMs, passwordProblem, verifyPassword } from '../../server/accounts/passwords.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { useWorld } from '../world.ts';
import type { Member } from '../../server/entities/organization.ts';
import {
  auditLog,
  codeAt,
  openSetUp,
  password,
  passwordPath,
  recoveryCodesIn,
  shownSecret,
  signIn,
  someone,
  turnOnTwoFactor,
  visit,
} from './visiting.ts';
import type { Reply, Visit } from './visiting.ts';

const world = useWorld({ ownDatabase: true });
const path = '/settings/account';
const next = 'another horse altogether';

async function scene() {
  const tenant = await world.organization();
  const member = await someone(world, tenant, 'member', 'Ida Berg');
  return { tenant, member, visiting: await signIn(world, member) };
}
const sessionIds = (text: string) => [...text.matchAll(/name="session" value="([^"]+)"/g)].map(([, id = '']) => id);

describe('changing one’s own password', () => {
  test('requires the current one, ends all other sessions and links, and keeps this session', async () => {
    const { tenant, member, visiting } = await scene();
    const other = await signIn(world, member);
    const link = await passwordPath(world.database, member);
    const changed = await visiting.submit(`${path}/password`, { current: password, password: next });
    expect(changed.location).toBe(`${path}?done=password`);
    expect((await visiting.get(path)).status).toBe(200);
    expect((await other.get(path)).status).toBe(303);
    expect((await visit(world.url).get(link)).status).toBe(410);
    const signInAgain = async (typed: string) =>
      (await visit(world.url).post('/settings/sign-in', { email: member.email, password: typed })).status;
    expect([await signInAgain(password), await signInAgain(next)]).toEqual([422, 303]);
    expect(await auditLog(world, tenant)).toContain('password_changed');
  });

  test('rejects a wrong current password and a short or common new one, and says which', async () => {
    const { member, visiting } = await scene();
    for (const [current, typed, id, sentence] of [
      ['wrong wrong wrong', next, 'current', 'Incorrect password.'],
      ['', next, 'current', 'Enter your current password.'],
      [password, 'short', 'password', 'Use at least 12 characters.'],
      [password, 'abacabacabac', 'password', 'Use at least 4 different characters.'],
      [password, 'Passw0rd1234!', 'password', 'This password is too common.'],
    ] as const) {
      const { status, text } = await visiting.submit(`${path}/password`, { current, password: typed });
      expect(status).toBe(422);
      expect(text).toMatch(new RegExp(`id="${id}-problem" role="alert">${sentence}`));
    }
    expect((await visit(world.url).post('/settings/sign-in', { email: member.email, password })).status).toBe(303);
  });

  test('does not get around the sign-in limit', async () => {
    const { member, visiting } = await scene();
    await world.database.pool.query(`delete from sign_in.attempts where key like 'address %'`);
    // Strangers on the member's network use up only their own guesses.
    const guess = { email: member.email, password: 'wrong wrong wrong' };
    for (let count = 0; count <= attemptLimits.account.most; count += 1)
      await visit(world.url).post('/settings/sign-in', guess);
    const attempt = async () =>
      (await visiting.submit(`${path}/password`, { current: 'wrong wrong wrong', password: next })).status;
    for (let count = 0; count < attemptLimits.account.most; count += 1) expect(await attempt()).toBe(422);
    expect(await attempt()).toBe(429);
  });
});

describe('while a password is being changed', () => {
  /** Does `work` while another transaction stores this hash, by default the same; it commits once `waiting` wait for it. */
  async function during<T>(member: Member, waiting: number, work: () => Promise<T>, changed?: string): Promise<T> {
    const { right } = await matchPassword(world.database.signIns, member.email, password);
    const holder = await patientConnection(world.database.pool);
    await holder.query('begin');
    await lockPasswords(holder, right);
    await choosePassword(holder, right, { hash: changed ?? right[0]?.password ?? '', except: null });
    const done = work();
    await expect.poll(async () => (await waitingStatements(world.database)).length).toBe(waiting);
    await holder.query('commit');
    holder.release();
    return done;
  }

  test('a sign-in with the old one does not outlive it', async () => {
    const { member } = await scene();
    const visiting = visit(world.url);
    const work = () => visiting.post('/settings/sign-in', { email: member.email, password });
    const sent = await during(member, 1, work, await hashPassword(next));
    expect(sent.location).toBe('/settings/sign-in?after=too-late');
    expect((await visiting.get(path)).status).toBe(303);
  });

  test('of two changes from the same old one, only one succeeds', async () => {
    const { member, visiting } = await scene();
    const chosen = [next, 'yet another horse'];
    const sessions = [visiting, await signIn(world, member)];
    const change = (session: Visit, at: number) =>
      session.submit(`${path}/password`, { current: password, password: chosen[at] ?? '' });
    const answers = await during(member, 2, () => Promise.all(sessions.map(change)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect(answers.find(({ status }) => status === 422)?.text).toContain('Incorrect password.');
    const works = await Promise.all(
      chosen.map(async (one) => (await matchPassword(world.database.signIns, member.email, one)).right.length),
    );
    expect(works).toEqual(answers.map(({ status }) => (status === 303 ? 1 : 0)));
  });
});

test.each(['before', 'after'])(
  'a sign-in without a code does not outlive two-factor authentication that is turned on just %s its session starts',
  async (order) => {
    const { member, visiting } = await scene();
    const holder = await patientConnection(world.database.pool);
    await holder.query('begin');
    await lockPasswords(holder, (await matchPassword(holder, member.email, password)).right);
    const late = visit(world.url);
    let done = 0;
    const begin = [
      () => late.post('/settings/sign-in', { email: member.email, password }),
      () => turnOnTwoFactor(visiting, Date.now()),
    ];
    const both: Promise<unknown>[] = [];
    for (const [at, work] of (order === 'before' ? begin.toReversed() : begin).entries()) {
      both.push(work().finally(() => (done += 1)));
      await expect.poll(async () => done + (await waitingStatements(world.database)).length).toBe(at + 1);
    }
    await holder.query('commit');
    holder.release();
    await Promise.all(both);
    expect((await late.get(path)).status).toBe(303);
  },
);

describe('sessions', () => {
  test('are listed with browser and network, and can be ended one by one or all but this one', async () => {
    const { member, visiting } = await scene();
    const [second, third, fourth] = [
      await signIn(world, member),
      await signIn(world, member),
      await signIn(world, member),
    ];
    const page = (await visiting.get(path)).text;
    expect(page).toContain('127.0.0.1');
    expect(page.match(/This session/g)).toHaveLength(1);
    const ids = sessionIds(page);
    expect(ids).toHaveLength(3);
    const end = (fields: Record<string, string>) => visiting.submit(`${path}/sessions`, fields);
    expect((await end({ session: ids[0] ?? '' })).location).toBe(`${path}?done=session`);
    const alive = async () =>
      (await Promise.all([second, third, fourth].map((one) => one.get(path)))).filter(({ status }) => status === 200)
        .length;
    expect(await alive()).toBe(2);
    expect((await end({})).location).toBe(`${path}?done=sessions`);
    expect(await alive()).toBe(0);
    expect((await visiting.get(path)).status).toBe(200);
  });

  test('have the names of their browsers and systems', async () => {
    const { member } = await scene();
    const apple = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
    const iPhone = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${apple}`;
    for (const [agent, name] of [
      ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
      [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${apple} Version/18.5 Safari/605.1.15`, 'Safari on macOS'],
      [`${iPhone} Version/18.5 Mobile/15E148 Safari/604.1`, 'Safari on iOS'],
      [`${iPhone} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome on iOS'],
      [`${iPhone} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`, 'Firefox on iOS'],
      [`${iPhone} Version/18.5 EdgiOS/140.0.0.0 Mobile/15E148 Safari/604.1`, 'Edge on iOS'],
      ['Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0.0.0', 'Edge on Android'],
      ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0', 'Edge on Windows'],
      ['Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/140.0.0.0 Safari/537.36', 'Chrome'],
      ['curl/8.14.1', 'Another program'],
    ] as const) {
      const visiting = visit(world.url, { 'user-agent': agent });
      await visiting.post('/settings/sign-in', { email: member.email, password });
      expect((await visiting.get(path)).text).toMatch(new RegExp(`>${name}\\s+<[^>]+>This session`));
    }
  });

  test('of someone else cannot be ended', async () => {
    const { tenant, visiting } = await scene();
    const other = await scene();
    const { rows } = await world.database.pool.query<{ id: string }>(
      `select s.id from sign_in.session s join sign_in."user" u on u.id = s."userId" where u.email = $1`,
      [other.member.emailKey],
    );
    const end = async (session: string) => (await visiting.submit(`${path}/sessions`, { session })).status;
    expect([await end(rows[0]?.id ?? ''), await end('nonsense')]).toEqual([303, 422]);
    expect((await other.visiting.get(path)).status).toBe(200);
    expect(await auditLog(world, tenant)).not.toContain('sessions_ended');
  });

  test('keep only the beginning of a long User-Agent', async () => {
    const { member } = await scene();
    const visiting = visit(world.url, { 'user-agent': 'x'.repeat(400) });
    expect((await visiting.post('/settings/sign-in', { email: member.email, password })).status).toBe(303);
    const agents = (await readSessions(world.database.signIns, member.id)).map(({ userAgent }) => userAgent);
    expect(agents).toContain('x'.repeat(300));
  });

  test('are stored without the token that signs someone in', async () => {
    const { member, visiting } = await scene();
    const [, token = ''] = /session_token=([^.]+)\./.exec(decodeURIComponent(visiting.cookie())) ?? [];
    expect(token.length).toBeGreaterThan(20);
    const { rows } = await world.database.pool.query<{ token: string }>(
      `select s.token from sign_in.session s join sign_in."user" u on u.id = s."userId" where u.email = $1`,
      [member.emailKey],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.token).not.toContain(token);
  });
});

describe('a password', () => {
  test('is rejected if it is common, even in disguise', async () => {
    for (const common of [
      'passwordpassword',
      'PASSWORD2024!',
      'p@ssw0rd12345',
      'qwertyuiop123',
      '1q2w3e4r5t6y',
      'sunshine!!!!1',
    ])
      expect([common, await passwordProblem(common)]).toEqual([common, expect.stringContaining('too common')]);
    for (const good of [
      password,
      'abacabadabac',
      'T7#kzQ!m2xVb',
      'Großvaters alte Uhr',
      '馬電池正しいホッチキス青い空',
    ])
      expect([good, await passwordProblem(good)]).toEqual([good, undefined]);
  });

  test('has at most 128 characters, and at least six besides the names of its owner', async () => {
    const long = password.repeat(10);
    expect(await passwordProblem(long.slice(0, 128))).toBeUndefined();
    expect(await passwordProblem(long.slice(0, 129))).toBe('Use at most 128 characters.');
    expect(await passwordProblem('larkmoorqzxwv1', ['Larkmoor'])).toBeUndefined();
    expect(await passwordProblem('larkmoor-qzxwv', ['Larkmoor'])).toContain('Do not base');
  });

  test('is the same however its letters are encoded', async () => {
    // As macOS and Windows keyboards send it, and with the wide letters of Japanese ones.
    const [composed, decomposed, wide] = [
      'Zürich 1234 Ölberg',
      'Zu\u0308rich 1234 O\u0308lberg',
      'Ｚürich 1234 Ölberg',
    ];
    const hash = await hashPassword(composed, { N: 1024, r: 8, p: 1 });
    for (const typed of [composed, decomposed, wide])
      expect(await verifyPassword({ hash, password: typed })).toBe(true);
    expect(await verifyPassword({ hash, password: 'Zurich 1234 Olberg' })).toBe(false);
  });

  test('is hashed at the cost that OWASP recommends, with its own salt', async () => {
    const [one, other] = [await hashPassword(password), await hashPassword(password)];
    expect(one).not.toBe(other);
    expect(one).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(await verifyPassword({ hash: one, password })).toBe(true);
    for (const wrong of [
      { hash: one, password: `${password} ` },
      { hash: 'nonsense', password },
      { hash: '', password },
    ])
      expect(await verifyPassword(wrong)).toBe(false);
  });

  test('is not hashed once it has waited for too long, so that those behind it need not wait as well', async () => {
    const hash = () => hashPassword(password, { N: 1024, r: 8, p: 1 });
    // The first two do not wait.
    const outcomes = Promise.allSettled(Array.from({ length: 5 }, hash));
    await Promise.resolve();
    const later = performance.now() + longestWaitMs + 1;
    const clock = vi.spyOn(performance, 'now').mockReturnValue(later);
    const [first, second, ...waited] = await outcomes;
    expect([first?.status, second?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(waited).toEqual(
      waited.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'busy' }) })),
    );
    clock.mockRestore();
    expect(await hash()).toMatch(/^scrypt/);
  });
});

describe('a database that fails midway', () => {
  /** The replies while nothing can be added to the audit log, and afterward. */
  async function twice(work: () => Promise<Reply>): Promise<Reply[]> {
    const { pool } = world.database;
    await pool.query(`
      create or replace function fail() returns trigger language plpgsql as
        $$ begin raise 'the database is shutting down' using errcode = '57P01'; end $$;
      create trigger failing before insert on audit_events for each row execute function fail()`);
    const failed = await work();
    await pool.query('drop trigger failing on audit_events');
    return [failed, await work()];
  }
  const statuses = (replies: Reply[]) => replies.map(({ status }) => status);

  test('uses up no password link, and changes no password', async () => {
    const { member, visiting } = await scene();
    const other = await signIn(world, member);
    const changing = () => visiting.submit(`${path}/password`, { current: password, password: next });
    expect(statuses(await twice(changing))).toEqual([503, 303]);
    expect((await other.get(path)).status).toBe(303);
    const [, token = ''] = /token=(.+)$/.exec(await passwordPath(world.database, member)) ?? [];
    const choosing = () => visit(world.url).post('/settings/password', { token, password });
    expect(statuses(await twice(choosing))).toEqual([503, 303]);
    expect((await visiting.get(path)).status).toBe(303);
  });

  test('turns on no two-factor authentication without its codes, uses up no code, and starts no session', async () => {
    const { member, visiting } = await scene();
    const other = await signIn(world, member);
    const setUp = `${path}/two-factor`;
    const { page, url, fields } = await openSetUp(visiting);
    const code = () => codeAt(shownSecret(page), Date.now());
    const turningOn = () => visiting.post(url, { ...fields, current: password, code: code() });
    const on = await twice(turningOn);
    expect(statuses(on)).toEqual([503, 201]);
    expect((await other.get(path)).status).toBe(303);
    const [signing = '', renewing = ''] = on.flatMap(recoveryCodesIn);
    const coming = visit(world.url);
    const signingIn = () => coming.post('/settings/sign-in', { email: member.email, password });
    expect(statuses(await twice(signingIn))).toEqual([303, 303]);
    expect(statuses(await twice(() => coming.post('/settings/sign-in/code', { code: signing })))).toEqual([503, 303]);
    expect((await readSessions(world.database.signIns, member.id)).length).toBe(2);
    const confirm = (what: string, typed = '') =>
      visiting.submit(`${setUp}/${what}`, { current: password, code: typed });
    const renewed = await twice(() => confirm('codes', renewing));
    expect(statuses(renewed)).toEqual([503, 201]);
    expect(statuses(await twice(() => confirm('off', renewed.flatMap(recoveryCodesIn)[0])))).toEqual([503, 303]);
  });

  test('ends the sessions, or says that it did not', async () => {
    const { tenant, member, visiting } = await scene();
    await signIn(world, member);
    expect(statuses(await twice(() => visiting.submit(`${path}/sessions`)))).toEqual([503, 303]);
    expect(await readSessions(world.database.signIns, member.id)).toHaveLength(1);
    expect(await auditLog(world, tenant)).toContain('sessions_ended');
  });
});
