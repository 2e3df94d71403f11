/** A process whose clock is wrong: everything still expires by the database's clock. */
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Upload } from '../../server/entities/upload.ts';
import { Uploads } from '../../server/uploads/uploads.ts';
import { ownUploadFolder } from '../upload-folder.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { codeAt, passwordPath, signIn, someone, turnOnTwoFactor, visit } from './visiting.ts';

const world = useWorld();
const hourMs = 3_600_000;
const wrongByHours = [-26, 26];
const sql = (text: string, values: unknown[]) => world.database.pool.query(text, values);

/** Affects only the dates of this process, and none of its timers. */
const setClock = (hours: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * hourMs });
afterEach(() => void vi.useRealTimers());

describe.each(wrongByHours)('%i hours off the database’s clock', (hours) => {
  test('a session works until it expires', async () => {
    const member = await someone(world, await world.organization());
    const visiting = await signIn(world, member);
    setClock(hours);
    expect((await visiting.get('/settings/overview')).status).toBe(200);
    const ending = `update sign_in."session" set "expiresAt" = now() where "userId" = (select id from sign_in."user" where email = $1)`;
    await sql(ending, [member.emailKey]);
    expect((await visiting.get('/settings/overview')).status).toBe(303);
    expect((await (await signIn(world, member)).get('/settings/overview')).status).toBe(200);
  });

  test('a password link works until it expires', async () => {
    const member = await someone(world, await world.organization());
    const path = await passwordPath(world.database, member);
    const choose = async () => (await visit(world.url).get(path)).text.includes('name="password"');
    setClock(hours);
    expect(await choose()).toBe(true);
    await sql(`update sign_in."verification" set "expiresAt" = now() where value = $1`, [member.id]);
    expect(await choose()).toBe(false);
  });

  test('a sign-in that waits for a code accepts the current one', async () => {
    const member = await someone(world, await world.organization());
    const { secret } = await turnOnTwoFactor(await signIn(world, member), Date.now());
    await sql(
      'update sign_in.two_factor set last_step = 0 where user_id = (select id from sign_in."user" where email = $1)',
      [member.emailKey],
    );
    const visiting = await signIn(world, member);
    const code = codeAt(secret, Date.now());
    setClock(hours);
    expect((await visiting.post('/settings/sign-in/code', { code })).location).toBe('/settings/overview');
  });

  test('an uploaded file is kept for a day', async () => {
    const tenant = await world.organization();
    const [em, { id: memberId }] = [tenant.em(), await someone(world, tenant, 'admin')];
    const stored = [1, 2].map(() =>
      em.create(Upload, { memberId, kind: 'items', fileName: 'a.csv', mapping: {}, state: 'checked', bytesTotal: 1 }),
    );
    await em.flush();
    const [recent, old] = stored.map(({ id }) => id);
    await sql(`update uploads set created_at = now() - interval '25 hours' where id = $1`, [old]);
    const { path, remove } = await ownUploadFolder();
    for (const id of [recent, old]) {
      await writeFile(join(path, `${id}.csv`), 'x');
      // Another machine has written it, whose clock is right, or at least as wrong as this one's in the other direction.
      const writtenAt = new Date(Date.now() - 25 * hourMs);
      if (id === old || hours < 0) await utimes(join(path, `${id}.csv`), writtenAt, writtenAt);
    }
    setClock(Math.max(hours, 0));
    const uploads = new Uploads({ database: world.database, folder: path, report: () => () => undefined });
    await uploads.removeOld();
    expect(await readdir(path)).toEqual([`${recent}.csv`]);
    await uploads.close();
    await remove();
  });

  test('a key with an expiry is created, counted, shown, replaced and rejected by the database’s clock', async () => {
    const tenant = await world.organization();
    const visiting = await signIn(world, await someone(world, tenant, 'admin'));
    setClock(hours * 30);
    const { text } = await visiting.submit(keysPath, { name: 'Short', expires: '30' });
    expect(await lifetimes(tenant)).toEqual([{ hours: 30 * 24 }]);
    const short = tenant.as(/ak_live_[0-9a-f]{64}/.exec(text)?.[0] ?? '');
    expect((await short.call('GET', '/v1/me')).status).toBe(200);
    const page = (await visiting.get(keysPath)).text;
    const replace = /href="([^"]+\/replace)">Replace<span class="unseen"> Short/.exec(page)?.[1] ?? '';
    await visiting.submit(replace, { period: 'day' });
    expect(await lifetimes(tenant)).toEqual([{ hours: 24 }, { hours: 30 * 24 }]);
    await sql(`update api_keys set ends_at = now() where organization_id = $1 and name = 'Short'`, [
      tenant.organization.id,
    ]);
    world.serving.keys.forget();
    expect((await short.call('GET', '/v1/me')).status).toBe(401);
    expect((await visiting.get(keysPath)).text).toContain('>Expired<');
  });
});

const keysPath = '/settings/api-keys';

const lifetimes = async ({ organization }: Tenant) =>
  (
    await sql(
      `select round(extract(epoch from ends_at - created_at) / 3600)::int as hours from api_keys
       where organization_id = $1 and name = 'Short' order by ends_at`,
      [organization.id],
    )
  ).rows;
