import { expect, test } from 'vitest';
import { revokeKey } from '../../server/keys/revoke.ts';
import { listKeys } from '../../server/keys/list.ts';
import { useWorld } from '../world.ts';
import { signIn, someone } from './visiting.ts';

const world = useWorld();

/** Label → number. */
const figuresIn = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<dt><a href="[^"]+">([^<]+)<\/a><\/dt>\s*<dd>([^<]+)<\/dd>/g)].map(([, label, value]) => [
      label,
      value,
    ]),
  );
const failuresIn = (page: string): string[] =>
  [...page.matchAll(/href="\/docs\/errors#(\w+)">\1<\/a>(?: <small>(\d+) times<\/small>)?/g)].map(
    ([, code, times = '1']) => `${code} ${times}`,
  );

test.each([
  ['admin', true],
  ['member', false],
] as const)('the overview of an empty organization offers an import: %s, %s', async (role, isOffered) => {
  const visiting = await signIn(world, await someone(world, await world.organization(), role));
  const { text } = await visiting.get('/settings/overview');
  expect(text).toContain('There are none yet.');
  expect(text.includes('Import a file')).toBe(isOffered);
});

test('the overview counts live keys, requests and failures, and lists the latest failures', async () => {
  const tenant = await world.organization();
  await tenant.anotherKey('Ended');
  const ended = (await listKeys(tenant.em())).find(({ name }) => name === 'Ended');
  await revokeKey(tenant.em(), tenant.admin, ended?.id ?? '');
  await tenant.call('POST', '/v1/customers', { name: 'Ana <Trujillo>' });
  const failing: [method: string, path: string, body?: unknown][] = [
    ['GET', '/v1/nowhere'],
    ['DELETE', '/v1/customers'],
    ['POST', '/v1/customers', {}],
    ['GET', '/v1/items?limit=x'],
    ['GET', '/v1/items?nope=1'],
    ['GET', '/v1/items/itm_1'],
    ['GET', '/v1/items/itm_1'],
  ];
  for (const [method, path, body] of failing) await tenant.call(method, path, body);
  const visiting = await signIn(world, await someone(world, tenant));
  const { text } = await visiting.get('/settings/overview');
  expect(figuresIn(text)).toEqual({ 'API key': '1', 'requests in 30 days': '8', failed: '7' });
  expect(failuresIn(text)).toEqual([
    'not_found 2',
    'unknown_parameter 1',
    'invalid_parameter 1',
    'validation_failed 1',
    'method_not_allowed 1',
  ]);
  expect(text).toMatch(/id="new-customers"[^]*?<li><a href="\/settings\/customers\/cus_\w+">Ana &lt;Trujillo&gt;<\/a>/);

  const stranger = await signIn(world, await someone(world, await world.organization()));
  const other = (await stranger.get('/settings/overview')).text;
  expect(figuresIn(other)).toEqual({ 'API key': '1', 'requests in 30 days': '0', failed: '0' });
  expect(other).toContain('There have been no requests yet.');
  expect(other).not.toContain('Trujillo');
});
