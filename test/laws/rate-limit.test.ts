import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';

describe('the rate limit', () => {
  let nowMs = 5_000_000;
  const world = useWorld({ clock: () => nowMs });

  test('of 300 concurrent requests with one key, 100 succeed and 200 get 429; another key is unaffected', async () => {
    const tenant = await world.organization();
    const other = tenant.as(await tenant.anotherKey());
    const responses = await Promise.all(Array.from({ length: 300 }, () => tenant.call('GET', '/v1/customers')));
    const rejected = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(rejected).toHaveLength(200);
    for (const { headers, body } of rejected) {
      expect(headers.get('retry-after')).toBe('60');
      expect(body).toMatchObject({ code: 'rate_limited', status: 429 });
      expect(headers.get('ratelimit')).toBe('"default";r=0;t=60');
    }
    expect((await other.call('GET', '/v1/me')).headers.get('x-ratelimit-remaining')).toBe('99');
    nowMs += 59_999;
    expect((await tenant.call('GET', '/v1/me')).status).toBe(429);
    nowMs += 1;
    expect((await tenant.call('GET', '/v1/me')).headers.get('ratelimit')).toBe('"default";r=99;t=60');
  });

  test('delays each response by a second for a key that continues after a thousand rejections, over HTTP and to agents', async () => {
    const tenant = await world.organization();
    const me = () => tenant.call('GET', '/v1/me');
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who_am_i', arguments: {} } };
    const headers = {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const tool = async () => {
      const response = await fetch(`${world.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
      expect(await response.text()).toContain('rate_limited');
    };
    const took = async (send: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await send();
      return performance.now() - startedAt;
    };
    for (let hundreds = 0; hundreds < 11; hundreds += 1) await Promise.all(Array.from({ length: 100 }, me));
    for (const send of [me, tool]) expect(await took(send)).toBeGreaterThan(990);
  });

  test('counts everything with a valid key, but not 401 and OPTIONS', async () => {
    const tenant = await world.organization();
    await tenant.call('OPTIONS', '/v1/customers');
    await tenant.call('GET', '/v1/nope');
    await tenant.call('POST', '/v1/customers', {});
    await tenant.call('GET', '/v1/customers/cus_x');
    const { headers } = await tenant.call('GET', '/v1/customers?x=1');
    expect(headers.get('ratelimit-policy')).toBe('"default";q=100;w=60');
    expect(headers.get('x-ratelimit-limit')).toBe('100');
    expect(headers.get('x-ratelimit-remaining')).toBe('96');
    nowMs += 10_500;
    expect((await tenant.call('GET', '/v1/me')).headers.get('x-ratelimit-reset')).toBe('50');
  });
});
