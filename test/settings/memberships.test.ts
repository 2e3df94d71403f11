/** One person in several organizations: what each learns about the other, and which of them a password opens. */
import { describe, expect, inject, test } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { addMember, changeRole, removeMember } from '../../server/accounts/members.ts';
import { issueLink, pathOfLink } from '../../server/accounts/password-links.ts';
import { removeOrganization } from '../../server/accounts/organizations.ts';
import type { Member } from '../../server/entities/organization.ts';
import { publicId } from '../../server/records/public-id.ts';
import { runCommand } from '../command.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import {
  auditLog,
  givePassword,
  password,
  passwordPath,
  signIn,
  someone,
  someoneInTwo,
  turnOnTwoFactor,
  unknownEmail,
  visit,
} from './visiting.ts';

const world = useWorld({ trustedProxies: 1 });
const home = '/settings/api-keys';
const otherPassword = 'another horse altogether';

const twice = () => someoneInTwo(world, 'admin');

/** Sets a password with a link, as a person without a session does. */
async function choose(path: string, typed: string) {
  const visiting = visit(world.url);
  const token = path.split('token=')[1] ?? '';
  const { status } = await visiting.post('/settings/password', { token, password: typed });
  expect(status).toBe(303);
  return visiting;
}

/** The number of sign-in rows about this person, by table. */
async function signInRows({ emailKey }: Pick<Member, 'emailKey'>, memberIds: readonly string[]) {
  const { rows } = await world.database.pool.query<Record<string, number>>(
    `with person as (select id from sign_in."user" where email = $1)
     select (select count(*)::int from person) as users,
       (select count(*)::int from sign_in."session" where "userId" in (select id from person)) as sessions,
       (select count(*)::int from sign_in."account" where "accountId" = any($2)) as passwords,
       (select count(*)::int from sign_in."verification" where value = any($2)) as links,
       (select count(*)::int from sign_in.two_factor_members where member_id::text = any($2)) as apps,
       (select count(*)::int from sign_in.two_factor where user_id in (select id from person)) as secrets`,
    [emailKey, memberIds],
  );
  return rows[0];
}

test('removing an organization leaves nothing of its members, unless they are in another', async () => {
  const { first, second, member, again } = await twice();
  await choose(await passwordPath(world.database, again), otherPassword);
  await turnOnTwoFactor(await signIn(world, member), Date.now());
  await passwordPath(world.database, member);
  const [of, ofAgain] = [await signInRows(member, [member.id]), await signInRows(member, [again.id])];
  expect(of).toMatchObject({ users: 1, passwords: 1, links: 1, apps: 1, secrets: 1 });
  await removeOrganization(world.database, first.organization.id);
  expect(await signInRows(member, [member.id])).toMatchObject({
    users: 1,
    passwords: 0,
    links: 0,
    apps: 0,
    secrets: 0,
  });
  expect(await signInRows(member, [again.id])).toEqual({ ...ofAgain, secrets: 0 });
  await removeOrganization(world.database, second.organization.id);
  expect(Object.values((await signInRows(member, [again.id])) ?? {})).toEqual([0, 0, 0, 0, 0, 0]);
});

test('removing a person from one organization after the other leaves nothing to sign in with', async () => {
  const { first, second, member, again } = await twice();
  await removeMember(first.em(), null, member);
  expect(await signInRows(member, [member.id])).toMatchObject({ users: 1, passwords: 0 });
  await removeMember(second.em(), null, again);
  expect(await signInRows(member, [member.id, again.id])).toMatchObject({ users: 0, passwords: 0 });
});

describe('an address in two organizations', () => {
  test('signs in to both with one password, and switches between them', async () => {
    const { second, member, again } = await twice();
    await givePassword(world, again);
    const visiting = await signIn(world, member);
    const page = (await visiting.get(home)).text;
    expect(page).toMatch(/<option[^>]*selected[^>]*>\s*(First|Second) Ltd/);
    const csrfToken = await visiting.csrfToken();
    const to = (organization: string) => visiting.post('/settings/organization', { csrfToken, organization });
    expect((await to(publicId('organization', second.organization.id))).status).toBe(303);
    expect((await visiting.get(home)).text).toMatch(/selected[^>]*>\s*Second Ltd/);
    // The session keeps it even without the cookie that later sessions read.
    const [session = ''] = /settings\.session_token=[^;]*/.exec(visiting.cookie()) ?? [];
    expect((await visit(world.url, { cookie: session }).get(home)).text).toMatch(/selected[^>]*>\s*Second Ltd/);
    expect((await visiting.get('/settings/members')).text).toContain(
      'Only admins of the organization can manage members.',
    );
    const stranger = await world.organization({ name: 'Third Ltd' });
    await to(publicId('organization', stranger.organization.id));
    expect((await visiting.get(home)).text).toMatch(/selected[^>]*>\s*Second Ltd/);
    expect((await visiting.get(home)).text).not.toContain('Third Ltd');
    expect((await visiting.post('/settings/organization', { csrfToken: 'x', organization: '' })).status).toBe(403);
    // The next session continues in the same organization, so that nobody works in another one by mistake.
    await visiting.post('/settings/sign-out', { csrfToken });
    await visiting.post('/settings/sign-in', { email: member.email, password });
    expect((await visiting.get(home)).text).toMatch(/selected[^>]*>\s*Second Ltd/);
  });

  test('changes nothing from a stale page after another tab has switched organizations', async () => {
    const { first, second, member, again } = await twice();
    await changeRole(second.em(), null, again, 'admin');
    await givePassword(world, again);
    const visiting = await signIn(world, member);
    const open = async ({ organization }: Tenant) => {
      const fields = { csrfToken: await visiting.csrfToken(), organization: publicId('organization', organization.id) };
      expect((await visiting.post('/settings/organization', fields)).status).toBe(303);
      return visiting.csrfToken();
    };
    const csrfToken = await open(first);
    await open(second);
    const fields = { csrfToken, name: 'Cy', email: unknownEmail(), role: 'admin' };
    for (const path of [home, '/settings/members']) {
      const { status, text } = await visiting.post(path, fields);
      expect([path, status, text.includes('You have switched to Second Ltd')]).toEqual([path, 409, true]);
    }
    expect(await auditLog(world, second)).toEqual(['key_created test', 'role_changed admin']);
    const back = { csrfToken, organization: publicId('organization', first.organization.id) };
    expect((await visiting.post('/settings/organization', back)).status).toBe(303);
    expect((await visiting.post('/settings/members', fields)).status).toBe(201);
    const current = { ...fields, csrfToken: await open(second) };
    expect((await visiting.post('/settings/members', current)).status).toBe(201);
    expect((await visiting.post('/settings/sign-out', { csrfToken })).location).toBe(
      '/settings/sign-in?after=signed-out',
    );
  });

  test('with two passwords signs in to one at a time, and an admin’s link opens only that admin’s organization', async () => {
    const { first, member, again } = await twice();
    const visiting = await choose(await passwordPath(world.database, again), otherPassword);
    const page = (await visiting.get(home)).text;
    expect(page).toContain('Second Ltd');
    expect(page).not.toContain('First Ltd');
    expect((await (await signIn(world, member)).get(home)).text).not.toContain('Second Ltd');
    const before = await signIn(world, member);
    await choose(await passwordPath(world.database, again), 'a third horse altogether');
    expect((await before.get(home)).status).toBe(200);
    await signIn(world, member);
    expect((await auditLog(world, first)).filter((line) => line.startsWith('password'))).toEqual([]);
  });

  test('gets no extra guesses at the password of one by signing in to the other', async () => {
    const { member, again } = await twice();
    await givePassword(world, again, otherPassword);
    const rejected = { right: 0, wrong: 0 };
    for (let count = 0; count <= attemptLimits.account.most; count += 1) {
      const visiting = visit(world.url, { 'x-forwarded-for': '198.51.100.205' });
      for (const typed of [otherPassword, 'wrong wrong wrong']) {
        const { status } = await visiting.post('/settings/sign-in', { email: member.email, password: typed });
        if (status === 429) rejected[typed === otherPassword ? 'right' : 'wrong'] += 1;
      }
    }
    expect(rejected).toEqual({ right: 1, wrong: 1 });
    // A person whose password opens all of their organizations is never throttled.
    const last = await world.organization();
    const alone = await someone(world, last);
    for (let count = 0; count <= attemptLimits.account.most; count += 1) await signIn(world, alone);
  });

  test('makes a browser one device for each set of organizations that a password opens', async () => {
    const { member, again } = await twice();
    await givePassword(world, again);
    const deviceAfter = async (typed: string) => {
      const { headers } = await visit(world.url).post('/settings/sign-in', { email: member.email, password: typed });
      return headers.getSetCookie().find((cookie) => cookie.startsWith('settings.device='));
    };
    const [both, ...repeated] = [await deviceAfter(password), await deviceAfter(password), await deviceAfter(password)];
    expect(both).toContain('Max-Age=15552000');
    expect(repeated).toEqual([both, both]);
    await world.database.pool.query(`delete from sign_in."account" where "accountId" = $1`, [again.id]);
    await givePassword(world, again, otherPassword);
    expect(new Set([both, await deviceAfter(password), await deviceAfter(otherPassword)]).size).toBe(3);
  });

  test('still signs in with its first password after signing in with many others', async () => {
    const { first, member, again } = await twice();
    await givePassword(world, again, otherPassword);
    for (let count = 0; count < 6; count += 1) {
      const { organization } = await world.organization();
      const other = await addMember(world.database, organization, { email: member.email, name: 'Bo', role: 'member' });
      await givePassword(world, other, `horse number ${count} altogether`);
      const fields = { email: member.email, password: `horse number ${count} altogether` };
      expect((await visit(world.url).post('/settings/sign-in', fields)).status).toBe(303);
    }
    expect((await (await signIn(world, member)).get(home)).text).toContain('First Ltd');
    // And after being added to more organizations than a sign-in looks at.
    await world.database.pool.query(
      `with added as (insert into organizations (id, name, slug, currency, plan)
         select gen_random_uuid(), 'Yet another', 'another-' || gen_random_uuid(), 'USD', 'team' from generate_series(1, 50) returning id),
       joined as (insert into members (organization_id, id, name, email, email_key, role)
         select id, gen_random_uuid(), 'Bo', $1, $1, 'member' from added returning id)
       insert into sign_in.account ("userId", "providerId", "accountId", password, "updatedAt")
         select "userId", 'credential', joined.id, password, now()
         from joined, sign_in.account where "accountId" = $2`,
      [member.emailKey, again.id],
    );
    expect((await (await signIn(world, member)).get(home)).text).toContain('First Ltd');
    expect(await auditLog(world, first, ['sign_in'])).toEqual(['signed_in', 'signed_in']);
  });

  test('has a session that ends for one organization after the other', async () => {
    const { member, again } = await twice();
    await givePassword(world, again);
    const visiting = await signIn(world, member);
    await choose(await passwordPath(world.database, member), otherPassword);
    const page = (await visiting.get(home)).text;
    expect([page.includes('First Ltd'), page.includes('Second Ltd')]).toEqual([false, true]);
    await choose(await passwordPath(world.database, again), otherPassword);
    expect((await visiting.get(home)).location).toMatch(/^\/settings\/sign-in\?after=session-ended/);
  });

  test('does not open an organization that the person joined after signing in', async () => {
    const { second, member, again } = await twice();
    const visiting = await signIn(world, member);
    await choose(await passwordPath(world.database, again), password);
    expect((await visiting.get(home)).text).not.toContain(second.organization.name);
    // Nor can it change a password there, although it is the same.
    const change = { current: password, password: otherPassword };
    expect((await visiting.submit('/settings/account/password', change)).location).toMatch(/done=password/);
    expect((await (await signIn(world, member)).get(home)).text).toContain(second.organization.name);
  });

  test('keeps a password that the previous release stored, for the membership of that time only', async () => {
    const { member, again } = await twice();
    await world.database.pool.query(
      `update sign_in.account set "accountId" = "userId"::text, "createdAt" = (select created_at from members where id = $1)
       where "accountId" = $2`,
      [member.id, member.id],
    );
    expect((await (await signIn(world, member)).get(home)).text).not.toContain('Second Ltd');
    await choose(await passwordPath(world.database, again), otherPassword);
    expect((await (await signIn(world, member)).get(home)).text).toContain('First Ltd');
    await choose(await passwordPath(world.database, member), 'a third horse altogether');
    const old = await visit(world.url).post('/settings/sign-in', { email: member.email, password });
    expect(old.status).toBe(422);
  });

  test('stays in one when it is removed from the other', async () => {
    const { second, member, again } = await twice();
    await givePassword(world, again);
    const visiting = await signIn(world, member);
    const admin = await someone(world, second, 'admin');
    const managing = await signIn(world, admin);
    const removal = `/settings/members/${publicId('member', again.id)}/remove`;
    expect((await managing.submit(removal)).status).toBe(303);
    const page = (await visiting.get(home)).text;
    expect(page).toContain('First Ltd');
    expect(page).not.toContain('Second Ltd');
    await signIn(world, member);
  });
});

test('the command line asks for the organization if an address is in two', async () => {
  const { first, second, member, again } = await twice();
  const run = (...words: string[]) =>
    runCommand(['members', ...words, '--json'], { DATABASE_URL: inject('databaseUrl') });
  const slugs = [first, second].map(({ organization }) => organization.slug).toSorted();
  for (const words of [
    ['remove', member.email],
    ['role', member.email, 'admin'],
    ['password', member.email],
  ])
    expect(await run(...words)).toEqual({
      status: 1,
      out: '',
      err: `error: ${member.email} is a member of ${slugs.join(', ')}: choose one with --organization\n`,
    });
  const { out } = await run('role', member.email, 'admin', '--organization', second.organization.slug);
  expect(JSON.parse(out)).toMatchObject({ id: publicId('member', again.id), role: 'admin' });
  const removed = await run('remove', member.email, '--organization', first.organization.slug);
  expect(JSON.parse(removed.out)).toMatchObject({ id: publicId('member', member.id) });
  expect((await run('role', member.email, 'member', '--organization', first.organization.slug)).err).toBe(
    `error: ${member.email} is not a member of ${first.organization.slug}\n`,
  );
  expect((await run('role', member.email, 'member')).status).toBe(0);
});

test('a password must not be based on the name of any organization that it opens', async () => {
  const { member, again } = await twice();
  await world.database.pool.query(`update organizations set name = 'Wolkenstein' where id = $1`, [
    again.organizationId,
  ]);
  const token = await issueLink(world.database.signIns, member, 'reset');
  const guessable = 'Wolkenstein2026';
  const refused = await visit(world.url).post('/settings/password', { token, password: guessable });
  expect([refused.status, refused.text.includes('Do not base the password on')]).toEqual([422, true]);
  await choose(`?token=${token}`, otherPassword);
  const visiting = visit(world.url);
  await visiting.post('/settings/sign-in', { email: member.email, password: otherPassword });
  const fields = { current: otherPassword, password: guessable };
  expect((await visiting.submit('/settings/account/password', fields)).text).toContain('Do not base the password on');
});

test('a new password is in the audit log of every organization that it opens', async () => {
  const { first, second, member, again } = await twice();
  await givePassword(world, again);
  const visiting = await signIn(world, member);
  const fields = { current: password, password: otherPassword };
  expect((await visiting.submit('/settings/account/password', fields)).status).toBe(303);
  for (const tenant of [first, second]) expect(await auditLog(world, tenant)).toContain('password_changed');
});

describe('password links', () => {
  test('issued at once for one member leave only one that works', async () => {
    const { admin } = await world.organization();
    const paths = await Promise.all([1, 2, 3, 4].map(() => passwordPath(world.database, admin)));
    const statuses = await Promise.all(paths.map(async (path) => (await visit(world.url).get(path)).status));
    expect(statuses.toSorted()).toEqual([200, 410, 410, 410]);
  });

  test('used twice at once set the password only once', async () => {
    const { admin } = await world.organization();
    const token = (await passwordPath(world.database, admin)).split('token=')[1] ?? '';
    // Only two: while they wait for each other, their time is limited, and hashing a password takes some of it.
    const typed = [1, 2].map((count) => `horse number ${count} altogether`);
    const { pool } = world.database;
    const holder = await pool.connect();
    await holder.query(`begin; select from sign_in."verification" where value = '${admin.id}' for update`);
    const sent = typed.map((wanted) => visit(world.url).post('/settings/password', { token, password: wanted }));
    // Each request has already found the link valid: one waits for it, and the other for the first.
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query ~ '^(delete|select) from sign_in."(verification|user)" where id'`;
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(typed.length);
    await holder.query('rollback');
    holder.release();
    const replies = await Promise.all(sent);
    const chosen = typed.filter((_, index) => replies[index]?.status === 303);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([303, 410]);
    for (const wanted of typed) {
      const fields = { email: admin.email, password: wanted };
      const { status } = await visit(world.url).post('/settings/sign-in', fields);
      expect([wanted, status]).toEqual([wanted, chosen.includes(wanted) ? 303 : 422]);
    }
  });

  test('from a reset do not replace an invitation, and using either invalidates both', async () => {
    for (const used of ['invitation', 'reset'] as const) {
      const { admin } = await world.organization();
      const links = {
        invitation: await passwordPath(world.database, admin),
        reset: pathOfLink(await issueLink(world.database.signIns, admin, 'reset')),
      };
      const statuses = () =>
        Promise.all(Object.values(links).map(async (path) => (await visit(world.url).get(path)).status));
      expect(await statuses()).toEqual([200, 200]);
      await choose(links[used], password);
      expect([used, await statuses()]).toEqual([used, [410, 410]]);
    }
  });

  test('can be opened at most sixty times from one network', async () => {
    const here = visit(world.url, { 'x-forwarded-for': '198.51.100.201' });
    expect((await here.get('/settings/password?token=x')).status).toBe(410);
    await world.database.pool.query(`update sign_in.attempts set count = $1 where key = 'link 198.51.100.201'`, [
      attemptLimits.link.most,
    ]);
    expect((await here.get('/settings/password?token=x')).status).toBe(429);
  });
});

describe('a network over its guess limit', () => {
  const fill = (address: string) =>
    world.database.pool.query(
      `insert into sign_in.attempts values ('address ${address}', 60, now() + interval '15 minutes'),
         ('slow ${address}', 1, now() + interval '15 minutes')
       on conflict (key) do update set count = excluded.count, ends_at = excluded.ends_at`,
    );

  test('admits a browser that has signed in before, and others after a few seconds', async () => {
    const member = await someone(world, await world.organization());
    const here = { 'x-forwarded-for': '198.51.100.202' };
    const known = visit(world.url, here);
    const enter = (visiting: typeof known) => visiting.post('/settings/sign-in', { email: member.email, password });
    expect((await enter(known)).status).toBe(303);
    await fill('198.51.100.202');
    const stranger = visit(world.url, here);
    const refused = await enter(stranger);
    expect(refused.status).toBe(429);
    expect((await enter(known)).status).toBe(303);
    await world.database.pool.query(`update sign_in.attempts set ends_at = now() where key = 'slow 198.51.100.202'`);
    expect((await enter(stranger)).status).toBe(303);
  });

  test('cannot lock out a browser that has signed in before', async () => {
    const member = await someone(world, await world.organization());
    const [known, guesser] = ['198.51.100.203', '198.51.100.203'].map((address) =>
      visit(world.url, { 'x-forwarded-for': address }),
    );
    const enter = (visiting: typeof known, typed: string) =>
      visiting?.post('/settings/sign-in', { email: member.email, password: typed });
    expect((await enter(known, password))?.status).toBe(303);
    for (let count = 0; count < attemptLimits.account.most; count += 1) await enter(guesser, 'wrong wrong wrong');
    expect((await enter(guesser, password))?.status).toBe(429);
    expect((await enter(known, password))?.status).toBe(303);
  });

  test('gets no way around the limit of an account, and the device cookie counts only for its own address', async () => {
    const [member, other] = [
      await someone(world, await world.organization()),
      await someone(world, await world.organization()),
    ];
    const known = visit(world.url, { 'x-forwarded-for': '198.51.100.204' });
    expect((await known.post('/settings/sign-in', { email: member.email, password })).status).toBe(303);
    await fill('198.51.100.204');
    expect((await known.post('/settings/sign-in', { email: other.email, password })).status).toBe(429);
    const wrong = { email: member.email, password: 'wrong wrong wrong' };
    for (let count = 0; count < attemptLimits.account.most; count += 1)
      expect((await known.post('/settings/sign-in', wrong)).status).toBe(422);
    expect((await known.post('/settings/sign-in', wrong)).status).toBe(429);
    expect((await known.post('/settings/sign-in', { ...wrong, email: unknownEmail() })).status).toBe(429);
  });
});
