import { describe, expect, test } from 'vitest';
import { addMember, listMembers, removeMember } from '../../server/accounts/members.ts';
import { Member } from '../../server/entities/organization.ts';
import { issueKey } from '../../server/keys/issue.ts';
import { revokeKey } from '../../server/keys/revoke.ts';
import { publicId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import {
  auditLog,
  formIn,
  givePassword,
  password,
  signIn,
  someone,
  unknownEmail,
  visit,
  passwordPath,
} from './visiting.ts';
import type { Visit } from './visiting.ts';

const world = useWorld();
const path = '/settings/members';

async function scene() {
  const tenant = await world.organization();
  const admin = await someone(world, tenant, 'admin', 'Ann Lee');
  // The world's own admin would be a second one.
  await removeMember(tenant.em(), null, tenant.admin);
  const visiting = await signIn(world, admin);
  const post = async (where: string, fields: Record<string, string> = {}, by: Visit = visiting) =>
    by.submit(`${path}${where}`, fields);
  const pathOf = (member: { id: string }) => `/${publicId('member', member.id)}`;
  return { tenant, admin, visiting, post, pathOf };
}

describe('editing the organization', () => {
  test('lets an admin change its name and currency, and the API shows both', async () => {
    const { tenant, visiting, post } = await scene();
    const details = { organizationName: 'Larkmoor & Söhne', currency: 'eur' };
    const { status, location } = await post('/organization', details);
    expect([status, location]).toEqual([303, `${path}?details`]);
    const { text } = await visiting.get(`${path}?details`);
    expect(text).toContain('The organization has been updated.');
    expect(text).toContain('value="Larkmoor &amp; Söhne"');
    const activity = (await visiting.get('/settings/activity')).text;
    expect(activity).toContain('changed the currency from USD to EUR');
    expect(activity).toContain('renamed the organization from');
    const seen = async () => (await tenant.call('GET', '/v1/me')).body.organization;
    await expect.poll(seen).toMatchObject({ name: 'Larkmoor & Söhne', currency: 'EUR' });
    const item = { type: 'product', name: 'Chai', unitPrice: '1' };
    expect((await tenant.call('POST', '/v1/items', item)).body).toMatchObject({ currency: 'EUR', unitPrice: '1.00' });
  });

  test('keeps what another admin has changed since the page was opened', async () => {
    const { tenant, visiting } = await scene();
    const shown = formIn(await visiting.get(path), `${path}/organization`);
    const another = await signIn(world, await someone(world, tenant, 'admin'));
    const theirs = formIn(await another.get(path), `${path}/organization`);
    await another.post(`${path}/organization`, { ...theirs, organizationName: 'Larkmoor Studio' });
    const rejected = await visiting.post(`${path}/organization`, { ...shown, currency: 'EURO' });
    expect(rejected.status).toBe(422);
    const corrected = { ...formIn(rejected, `${path}/organization`), currency: 'EUR' };
    expect((await visiting.post(`${path}/organization`, corrected)).location).toBe(`${path}?details`);
    const { organization } = (await tenant.call('GET', '/v1/me')).body;
    expect(organization).toMatchObject({ name: 'Larkmoor Studio', currency: 'EUR' });
  });

  test('shows errors beside the field, keeps what was typed, and records a member who sends it', async () => {
    const { tenant, post } = await scene();
    for (const [fields, id] of [
      [{ organizationName: ' ', currency: 'EUR' }, 'organizationName'],
      [{ organizationName: 'Larkmoor', currency: 'EURO' }, 'currency'],
    ] as const) {
      const { status, text } = await post('/organization', fields);
      expect(status).toBe(422);
      expect(text).toContain(`id="${id}-problem"`);
      expect(text).toContain(`value="${fields.currency}"`);
    }
    const member = await signIn(world, await someone(world, tenant, 'member'));
    expect((await member.get(path)).text).not.toContain('organizationName');
    await post('/organization', { organizationName: 'Mine', currency: 'EUR' }, member);
    expect(await auditLog(world, tenant)).toContain('organization_renamed Mine rejected: role');
  });
});

describe('inviting a member', () => {
  test('shows once a link with which the member sets a password', async () => {
    const { tenant, visiting, post } = await scene();
    const email = unknownEmail();
    const invited = await post('', { name: 'Jo Kim', email, role: 'member' });
    expect(invited.status).toBe(201);
    const [, link = ''] = />http:\/\/[^/]+(\/settings\/password\?token=[\w-]{32})</.exec(invited.text) ?? [];
    const list = (await visiting.get(path)).text;
    expect(list).toContain('Invited');
    expect(list).not.toContain('token=');
    const jo = visit(world.url);
    expect((await jo.get(link)).text).toContain(email);
    const [, token = ''] = link.split('token=');
    expect((await jo.post('/settings/password', { token, password })).status).toBe(303);
    expect((await jo.get(path)).text).toContain('Only admins of the organization can manage members.');
    const [, row = ''] = /Jo Kim(.+?)<\/tr>/s.exec((await visiting.get(path)).text) ?? [];
    expect(row).toMatch(/data-head="Last sign-in"><time[^>]*>just now</);
    const log = await world.database.pool.query(
      `select detail, member_id is null as by_operator from audit_events where organization_id = $1 and action = 'member_added' order by id`,
      [tenant.organization.id],
    );
    expect(log.rows.at(-1)).toEqual({ detail: 'member', by_operator: false });
    expect(JSON.stringify(world.log)).not.toContain(token);
  });

  test('keeps marks in a name only if they do not set the direction of the text after it', async () => {
    const { tenant, post } = await scene();
    await post('', { name: '\u2068\u202E\u200Fדנה\u200F', email: unknownEmail(), role: 'member' });
    expect((await listMembers(tenant.em())).map(({ name }) => name)).toEqual(['Ann Lee', '\u200Fדנה\u200F']);
  });

  test('shows errors beside the field, and keeps what was typed', async () => {
    const { tenant, admin, post } = await scene();
    for (const [fields, id, sentence] of [
      [{ name: ' ', email: unknownEmail() }, 'name', 'Enter a name.'],
      [{ name: '\u200B\u2060', email: unknownEmail() }, 'name', 'Enter a name.'],
      [{ name: 'x'.repeat(201), email: unknownEmail() }, 'name', 'Use at most 200 characters.'],
      [{ name: 'Jo', email: 'nonsense' }, 'email', 'Enter one email address'],
      [{ name: 'Jo', email: admin.email.toUpperCase() }, 'email', 'already belongs to a member'],
    ] as const) {
      const { status, text } = await post('', { ...fields, role: 'member' });
      expect([409, 422]).toContain(status);
      expect(text).toMatch(new RegExp(`id="${id}-problem" role="alert">[^<]*${sentence}`));
      expect(text).toContain(`value="${fields.email}"`);
    }
    expect(await listMembers(tenant.em())).toHaveLength(1);
  });

  test('adds one member if the same address is invited twice at once', async () => {
    const { tenant, post } = await scene();
    const email = unknownEmail();
    const statuses = await Promise.all(
      [1, 2].map(async () => (await post('', { name: 'Jo', email, role: 'member' })).status),
    );
    expect(statuses.toSorted()).toEqual([201, 409]);
    expect(await listMembers(tenant.em())).toHaveLength(2);
  });
});

test('more than a hundred members are listed in pages, and found by name or address', async () => {
  const { tenant, admin, visiting } = await scene();
  const em = tenant.em();
  // Two of the same name are at the end of the first page.
  const names = Array.from({ length: 120 }, (_, number) => `Member ${Math.max(number, 100)}`);
  // Its id is later than that of the last one on the first page.
  names[110] = 'Aaron';
  const emails = names.map(unknownEmail);
  for (const [number, name] of names.entries())
    em.create(Member, { name, email: emails[number] ?? '', emailKey: emails[number] ?? '', role: 'member' });
  await em.flush();
  const found = (text: string) => text.match(/[\w.-]+@[\w.-]+(?=<\/td>)/g) ?? [];
  const pages: string[][] = [];
  let [next, second] = [path, ''];
  while (next !== '' && pages.length < 3) {
    second = next;
    const { text } = await visiting.get(next);
    expect(text).toContain('Members <span class="count">121</span>');
    pages.push(found(text));
    next = (/href="([^"]+)" rel="next"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
  }
  expect(pages.map(({ length }) => length)).toEqual([100, 21]);
  expect(pages.flat().toSorted()).toEqual([...emails, admin.email].toSorted());
  const search = async (text: string) => found((await visiting.get(`${path}?q=${encodeURIComponent(text)}`)).text);
  expect(await search('member 119')).toEqual([emails[119]]);
  expect(await search(emails[7]?.toUpperCase() ?? '')).toEqual([emails[7]]);
  expect(await search('Member_119')).toEqual([]);
  expect((await visiting.get(`${path}?q=%00&after=mem_nope`)).text).toContain('No member matches this search.');

  // All of those on the second page leave after the first one was shown.
  await em.nativeUpdate(Member, { email: { $in: pages[1] ?? [] } }, { removedAt: new Date().toISOString() });
  const { text } = await visiting.get(second);
  expect(text).toContain('Members <span class="count">100</span>');
  expect(text).toContain('There are no more members.');
  expect(text).toContain('First page');
});

describe('a member', () => {
  test('can be made an admin and a member again, effective from the next request', async () => {
    const { tenant, visiting, post, pathOf } = await scene();
    const member = await someone(world, tenant, 'member', 'Jo Kim');
    const jo = await signIn(world, member);
    const create = async () => (await jo.submit('/settings/api-keys', { name: 'Jo' })).status;
    expect(await create()).toBe(403);
    for (const [role, said, created] of [
      ['admin', 'an admin', 201],
      ['member', 'a member', 403],
    ] as const) {
      const { location } = await post(`${pathOf(member)}/role`, { role });
      expect((await visiting.get(location ?? '')).text).toContain(`Jo Kim is now ${said}.`);
      expect(await create()).toBe(created);
    }
    expect((await auditLog(world, tenant)).filter((line) => line.startsWith('role_changed'))).toEqual([
      'role_changed admin',
      'role_changed member',
    ]);
  });

  test('who is removed is signed out immediately; their keys stay, but their password and links are deleted', async () => {
    const { tenant, visiting, post, pathOf } = await scene();
    const leaver = await someone(world, tenant, 'admin', 'Lee Vance');
    const lee = await signIn(world, leaver);
    const created = await lee.submit('/settings/api-keys', { name: 'Left' });
    const [raw = ''] = /ak_live_[0-9a-f]{64}/.exec(created.text) ?? [];
    const link = await passwordPath(world.database, leaver);
    const { key } = await issueKey(tenant.em(), leaver, { name: 'Revoked' });
    await revokeKey(tenant.em(), leaver, key.id);
    // Only one of the live keys was created by this member.
    expect((await visiting.get(`${path}${pathOf(leaver)}/remove`)).text).toContain(
      'The API key that Lee Vance created',
    );
    const changed = await post(`${pathOf(leaver)}/role`, { role: 'admin' });
    const { location } = await post(`${pathOf(leaver)}/remove`);
    expect((await visiting.get(location ?? '')).text).toContain('Lee Vance is no longer a member, and has lost access');
    expect((await visiting.get(changed.location ?? '')).text).not.toContain('Lee Vance');

    expect((await lee.get('/settings/api-keys')).location).toBe(
      '/settings/sign-in?after=session-ended&next=%2Fsettings%2Fapi-keys',
    );
    expect((await visit(world.url).post('/settings/sign-in', { email: leaver.email, password })).status).toBe(422);
    expect((await visit(world.url).get(link)).status).toBe(410);
    const kept = await world.database.pool.query(`select 1 from sign_in."user" where email = $1`, [leaver.emailKey]);
    expect(kept.rowCount).toBe(0);
    expect((await tenant.as(raw).call('GET', '/v1/me')).status).toBe(200);
    expect((await visiting.get('/settings/api-keys')).text).toContain('Lee Vance<small>no longer a member</small>');
    expect((await visiting.get(path)).text).not.toContain(leaver.email);
    for (const form of ['remove', 'role', 'two-factor', 'link'])
      expect([form, (await post(`${pathOf(leaver)}/${form}`, { role: 'admin' })).status]).toEqual([form, 404]);
    expect((await visiting.get(`${path}${pathOf(leaver)}/role`)).status).toBe(404);
  });

  test('who leaves is told so, not that nothing was changed', async () => {
    const { tenant, post, pathOf } = await scene();
    const leaver = await someone(world, tenant, 'admin');
    const visiting = await signIn(world, leaver);
    const { location } = await post(`${pathOf(leaver)}/remove`, {}, visiting);
    const { text } = await visiting.get(location ?? '');
    expect(text).toContain('You are no longer a member of the organization, and are signed out.');
  });

  test('who leaves one of two organizations is told so in the other', async () => {
    const { tenant, post, pathOf } = await scene();
    const leaver = await someone(world, tenant, 'admin');
    const other = await world.organization({ name: 'Second Ltd' });
    await givePassword(world, await addMember(world.database, other.organization, { ...leaver, role: 'member' }));
    const visiting = await signIn(world, leaver);
    const { location } = await post(`${pathOf(leaver)}/remove`, {}, visiting);
    const { text } = await visiting.get(location ?? '');
    expect(text).toContain('You have left the other organization. This is Second Ltd.');
  });

  test('who was removed can join another organization, but needs a new password', async () => {
    const { tenant } = await scene();
    const leaver = await someone(world, tenant);
    await removeMember(tenant.em(), null, leaver);
    const other = await world.organization();
    const back = await addMember(world.database, other.organization, { ...leaver, role: 'member' });
    const attempt = async () =>
      (await visit(world.url).post('/settings/sign-in', { email: leaver.email, password })).status;
    expect(await attempt()).toBe(422);
    await givePassword(world, back);
    expect(await attempt()).toBe(303);
  });

  test('gets a new password link, which invalidates the older one', async () => {
    const { tenant, post, pathOf } = await scene();
    const member = await someone(world, tenant);
    const linkIn = (text: string) => /\/settings\/password\?token=[\w-]{32}/.exec(text)?.[0] ?? '';
    const first = linkIn((await post(`${pathOf(member)}/link`)).text);
    expect((await visit(world.url).get(first)).status).toBe(200);
    const second = linkIn((await post(`${pathOf(member)}/link`)).text);
    expect((await visit(world.url).get(first)).status).toBe(410);
    expect((await visit(world.url).get(second)).status).toBe(200);
    expect((await auditLog(world, tenant)).filter((line) => line.startsWith('password_link_issued'))).toHaveLength(2);
  });
});

describe('the last admin', () => {
  test('can be neither removed nor demoted', async () => {
    const { tenant, admin, post, pathOf } = await scene();
    await someone(world, tenant);
    // Neither a member nor a former admin can manage members.
    await removeMember(tenant.em(), null, await someone(world, tenant, 'admin'));
    for (const [verb, fields] of [
      ['remove', {}],
      ['role', { role: 'member' }],
    ] as const) {
      const { status, text } = await post(`${pathOf(admin)}/${verb}`, fields);
      expect([status, text.includes('Ann Lee is the only admin.')]).toEqual([422, true]);
    }
    expect((await listMembers(tenant.em())).filter(({ role }) => role === 'admin')).toHaveLength(1);
  });

  test('remains when two admins remove each other at once', async () => {
    const { tenant, admin, post, pathOf } = await scene();
    const second = await someone(world, tenant, 'admin', 'Bea');
    const bea = await signIn(world, second);
    const removals = await Promise.all([post(`${pathOf(second)}/remove`), post(`${pathOf(admin)}/remove`, {}, bea)]);
    expect(removals.filter(({ status, location }) => status === 303 && location?.includes('removed='))).toHaveLength(1);
    expect(await listMembers(tenant.em())).toHaveLength(1);
  });
});
