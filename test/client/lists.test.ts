import { describe, expect, test, vi } from 'vitest';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { all, clientOf, failureOf, named, newClient } from './calling.ts';

const world = useWorld();

describe('lists', () => {
  test('iterates over all records, repeatedly', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b', 'c', 'd', 'e');
    const list = client.customers.list({ limit: 2, sort: '-name', createdSince: new Date(0) });
    for (const _ of [1, 2]) expect((await all(list)).map(({ name }) => name)).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await all(client.proposals.list())).toEqual([]);
  });

  test('fetches pages lazily', async () => {
    const tenant = await world.organization();
    const asked: string[] = [];
    const client = clientOf(world, tenant, { fetch: (url, init) => (asked.push(url), fetch(url, init)) });
    await named(client, 'a', 'b', 'c');
    asked.length = 0;
    const list = client.customers.list({ limit: 1 });
    expect(asked).toEqual([]);
    for await (const _ of list) break;
    expect(asked).toEqual([`${world.url}/v1/customers?limit=1`]);
    // One request, however often the page is awaited.
    expect([await list, (await list.withResponse()).data]).toEqual([await list, await list]);
    expect(asked).toHaveLength(2);
    await all(client.customers.list());
    expect(asked.at(-1)).toBe(`${world.url}/v1/customers?limit=100`);
    await all(client.customers.list({ limit: undefined }));
    expect(asked.at(-1)).toBe(`${world.url}/v1/customers?limit=100`);
  });

  test('iterates over pages, and returns the first one with its response', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b', 'c');
    const list = client.customers.list({ limit: 2, sort: 'name' });
    const pages = await all(list.pages());
    expect(pages.map(({ data }) => data.map(({ name }) => name))).toEqual([['a', 'b'], ['c']]);
    const { data, status, rateLimit } = await list.withResponse();
    expect([data, status, rateLimit?.limit]).toEqual([await list, 200, 100]);
  });

  test('can be used as a promise', async () => {
    const { client } = await newClient(world);
    const ended = vi.fn<() => void>();
    expect(await client.customers.list().catch(String).finally(ended)).toMatchObject({ data: [] });
    // A caller without types.
    const wrong = client.customers.list(JSON.parse('{"limit":0}'));
    expect(await wrong.catch((error: unknown) => error)).toMatchObject({ status: 400 });
    await expect(wrong.finally(ended)).rejects.toMatchObject({ status: 400 });
    expect(ended).toHaveBeenCalledTimes(2);
  });

  test('sends every kind of filter as the server understands it', async () => {
    const { client, tenant } = await newClient(world);
    const email = 'a+b@example.com';
    const made = await client.customers.create({
      email,
      phone: '+49 30 0074321',
      metadata: { 'crm.owner': 'a&b=c +d' },
      tags: ['x,y'],
    });
    await named(client, 'other');
    const filters = [
      { email },
      { phone: '0074321' },
      { metadata: { 'crm.owner': 'a&b=c +d' } },
      { tag: 'x,y' },
      { q: 'A+B' },
    ];
    for (const filter of filters) expect((await client.customers.list(filter)).data).toEqual([made]);
    expect((await client.customers.list({ createdBefore: new Date(made.createdAt) })).data).toEqual([]);
    expect((await client.customers.list({ email: undefined, metadata: {} })).data).toHaveLength(2);

    for (const status of ['draft', 'sent', 'viewed'] as const)
      await proposal(tenant, { customer: made.id, status, sentAt: '2026-01-01T00:00:00.000Z' });
    const found = await client.proposals.list({ status: ['sent', 'viewed'], include: 'lineItems' });
    expect(found.data.map(({ status }) => status)).toEqual(['viewed', 'sent']);
    expect(found.data[0]?.lineItems).toHaveLength(1);
  });
});

describe('sync', () => {
  test('reads everything first, and then what changed', async () => {
    const { client } = await newClient(world);
    const [a, b] = await named(client, 'a', 'b', 'c');
    // What a program reads from a file that has no time yet.
    const first = client.customers.sync({ limit: 1, since: '' });
    expect(first.syncedThrough).toBeNull();
    expect((await all(first)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(first.syncedThrough).toMatch(/^\d{4}-.*Z$/);

    await client.customers.update(a?.id ?? '', { name: 'A' });
    const next = client.customers.sync({ since: first.syncedThrough });
    expect((await all(next)).map(({ name }) => name)).toContain('A');
    expect(String(next.syncedThrough) >= String(first.syncedThrough)).toBe(true);

    await client.customers.update(b?.id ?? '', { name: 'B' });
    expect((await all(next)).map(({ name }) => name)).toContain('B');
  });

  test('does not advance syncedThrough when the loop ends early', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b');
    const since = new Date(0);
    const changes = client.customers.sync({ since });
    for await (const _ of changes) break;
    expect(changes.syncedThrough).toBe(since.toISOString());
  });

  test('continues page by page from a stored checkpoint, wherever it stopped', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b', 'c', 'd', 'e');
    const seen: string[] = [];
    let checkpoint: string | null = null;
    const step = async () => {
      // Each round is a process that dies after storing one page.
      for await (const page of client.customers.sync({ limit: 2, checkpoint }).pages()) {
        seen.push(...page.data.map(({ name }) => name));
        // Some stores trim what they keep.
        checkpoint = page.checkpoint.trim();
        expect(page.erased).toEqual([]);
        return;
      }
    };
    for (let rounds = 0; rounds < 3; rounds += 1) await step();
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(checkpoint).toMatch(/^\d{4}-[^ ]*Z$/);
    await client.customers.create({ name: 'f' });
    // Changes since a transaction that is still open elsewhere in the database are read again.
    for (let rounds = 0; rounds < 4 && !seen.includes('f'); rounds += 1) await step();
    expect(seen.at(-1)).toBe('f');
  });

  test('continues from the checkpoint of a sync that began at a time with spaces in it, and then from its own end', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b');
    let start: { since?: string; checkpoint?: string } = { since: '2020-01-01 00:00:00 UTC' };
    for await (const { checkpoint } of client.customers.sync({ limit: 1, ...start }).pages()) {
      start = { checkpoint };
      break;
    }
    const rest = client.customers.sync({ limit: 1, ...start });
    expect((await all(rest)).map(({ name }) => name)).toEqual(['b']);
    await named(client, 'c');
    expect((await all(rest)).map(({ name }) => name)).toContain('c');
  });

  test('rereads a page that the loop did not store', async () => {
    const { client } = await newClient(world);
    await named(client, 'a');
    const changes = client.customers.sync();
    for await (const _ of changes.pages()) break;
    expect(changes.syncedThrough).toBeNull();
    const pages = await all(changes.pages());
    expect(pages.map(({ data }) => data.length)).toEqual([1]);
    expect(pages[0]?.checkpoint).toBe(changes.syncedThrough);
  });

  test('restarts the interval if the server no longer accepts a stored cursor', async () => {
    const { client } = await newClient(world);
    await named(client, 'a', 'b');
    const pages = await all(client.customers.sync({ limit: 1, checkpoint: ' notacursor' }).pages());
    expect(pages.flatMap(({ data }) => data.map(({ name }) => name))).toEqual(['a', 'b']);
    const other = client.customers.sync({ limit: 1, checkpoint: pages[0]?.checkpoint, status: 'active' }).pages();
    expect((await failureOf(all(other))).code).toBe('cursor_mismatch');
  });
});
