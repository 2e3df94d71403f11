/** Keys that expire, and guessable passwords. */
import { describe, expect, inject, test } from 'vitest';
import { passwordProblem } from '../../server/accounts/passwords.ts';
import { runCommand } from '../command.ts';
import { useWorld } from '../world.ts';
import { keyNames, passwordPath, signIn, someone, visit } from './visiting.ts';

const world = useWorld();
const path = '/settings/api-keys';

async function scene() {
  const tenant = await world.organization();
  const visiting = await signIn(world, await someone(world, tenant, 'admin'));
  const create = (fields: Record<string, string>) => visiting.submit(path, fields);
  return { tenant, visiting, create };
}

describe('a key with an expiry', () => {
  test('can also be created by a command', async () => {
    const { tenant } = await scene();
    const options = `--organization ${tenant.organization.slug} --by ${tenant.admin.email} --name n`;
    const create = (more: string) =>
      runCommand(`keys create ${options}${more}`.split(' '), { DATABASE_URL: inject('databaseUrl') });
    const { out } = await create(' --expires 90');
    const { key } = (await tenant.as(out.trim()).call('GET', '/v1/me')).body;
    expect(Math.round((Date.parse(key.expiresAt) - Date.parse(key.createdAt)) / 86_400_000)).toBe(90);
    const wrong = await create(' --expires 91');
    expect([wrong.status, wrong.err]).toEqual([1, expect.stringContaining('30, 90, 365')]);
  });

  test('works until then, and is rejected as expired afterward', async () => {
    const { tenant, visiting, create } = await scene();
    const options = (await visiting.get(path)).text.split('id="expires"')[1]?.match(/<option [^<]*/g);
    expect(options?.slice(0, 4)).toEqual([
      '<option value="">Never',
      ...[30, 90, 365].map((days) => expect.stringMatching(`^<option value="${days}"\\s*>After ${days} days$`)),
    ]);
    const { text } = await create({ name: 'Short', expires: '30' });
    const raw = /ak_live_[0-9a-f]{64}/.exec(text)?.[0] ?? '';
    const short = tenant.as(raw);
    const { expiresAt, createdAt } = (await short.call('GET', '/v1/me')).body.key;
    expect(Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000)).toBe(30);
    const { text: list } = await visiting.get(path);
    const [page = ''] = /\/settings\/api-keys\/key_\w+(?=">Short)/.exec(list) ?? [];
    expect((await visiting.get(page)).text).toContain('works until <time');
    // A key may work for a year: without the year, its last day looks like today.
    expect(list).toMatch(
      new RegExp(String.raw`Expires</span\s*>\s*<small>works until <time[^>]*>\d+ \w+ ${expiresAt.slice(0, 4)}, `),
    );
    const ending = `update api_keys set ends_at = now() - interval '1 minute' where organization_id = $1 and name = 'Short'`;
    await world.database.pool.query(ending, [tenant.organization.id]);
    world.serving.keys.forget();
    expect((await short.call('GET', '/v1/me')).body).toMatchObject({ status: 401, code: 'api_key_expired' });
    expect((await visiting.get(path)).text).toContain('Expired');
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
  });

  test('keeps the chosen expiry in a rejected form, and reports an unknown one', async () => {
    const { create } = await scene();
    expect((await create({ name: '', expires: '90' })).text).toMatch(/<option value="90"\s+selected/);
    const unknown = await create({ name: 'Short', expires: '91' });
    expect(unknown.status).toBe(422);
    expect(unknown.text).toMatch(
      /id="expires-problem" role="alert">Choose when the key expires: never, or after 30, 90 or 365 days/,
    );
  });

  test('is replaced by one with the same lifetime, and its own is not extended', async () => {
    const { tenant, visiting, create } = await scene();
    await create({ name: 'Short', expires: '30' });
    const near = `update api_keys set ends_at = now() + interval '10 minutes', created_at = now() - interval '1 day'
      where organization_id = $1 and name = 'Short' returning id`;
    await world.database.pool.query(near, [tenant.organization.id]);
    const page = (await visiting.get(path)).text;
    const replace = /href="([^"]+\/replace)">Replace<span class="unseen"> Short/.exec(page)?.[1] ?? '';
    expect((await visiting.submit(replace, { period: 'week' })).status).toBe(201);
    const { rows } = await world.database.pool.query<{ minutes: number }>(
      `select round(extract(epoch from ends_at - now()) / 60)::int as minutes from api_keys
       where organization_id = $1 and name = 'Short' order by ends_at`,
      [tenant.organization.id],
    );
    expect(rows).toEqual([{ minutes: 10 }, { minutes: 1450 }]);
  });

  test('accepts only the lifetimes that the form offers', async () => {
    const { tenant, create } = await scene();
    for (const expires of ['1', '-30', '30 days', '1e9']) {
      expect((await create({ name: 'Odd', expires })).status).toBe(422);
    }
    expect(await keyNames(world, tenant)).toEqual(['test']);
  });
});

describe('a password', () => {
  test('is rejected if it is based on the email, name or organization', async () => {
    const known = ['maria.anders@futterkiste.example', 'Maria Anders', 'Alfreds Futterkiste GmbH'];
    for (const typed of [
      'maria.anders@futterkiste.example',
      'MariaAnders2026!',
      'Alfreds-Futterkiste',
      'anders maria 12',
    ])
      expect([typed, await passwordProblem(typed, known)]).toEqual([typed, expect.stringContaining('your name')]);
    for (const typed of ['correct horse battery', 'maria likes purple hens', '!!!!????----ab1'])
      expect([typed, await passwordProblem(typed, known)]).toEqual([typed, undefined]);
  });

  test('is rejected with the same message when it is set with a link', async () => {
    const { admin } = await world.organization();
    const visiting = visit(world.url);
    const token = (await passwordPath(world.database, admin)).split('token=')[1] ?? '';
    const { status, text } = await visiting.post('/settings/password', { token, password: admin.email });
    expect([status, text.includes('Do not base the password on')]).toEqual([422, true]);
  });
});
