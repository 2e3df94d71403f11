/** What JavaScript callers can pass, and the compiler would reject: the client names what is wrong, and sends nothing. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/index.ts';
import { answer, apiKey, caught, fine, scene } from './scripted.ts';

describe('invalid arguments', () => {
  test('throw a TypeError, and nothing is sent', async () => {
    const { client, seen } = await scene([fine]);
    const never = new Date(Number.NaN);
    const message = 'A time must be a valid Date or a string, not Invalid Date';
    expect(await caught(client.customers.list({ createdSince: never }))).toEqual(new TypeError(message));
    expect(() => client.customers.sync({ since: never })).toThrow(new TypeError(message));
    const item = { type: 'service', name: 'Wall', unitPrice: '1', taxRate: Number('7 %') } as const;
    const notNumber = new TypeError('taxRate must be a finite number, not NaN');
    expect(await caught(client.items.create(item))).toEqual(notNumber);
    for (const query of [new URLSearchParams('q=ann'), new Map([['q', 'ann']]), 'q=ann', ['ann']]) {
      // @ts-expect-error JavaScript callers can pass it
      expect(() => client.customers.list(query)).toThrow('Pass the query as an object');
      // @ts-expect-error JavaScript callers can pass it
      expect(() => client.customers.sync(query)).toThrow('Pass the query as an object');
    }
    // @ts-expect-error JavaScript callers can pass it
    expect(await caught(client.customers.get('cus_1', 5))).toEqual(
      new TypeError('Pass the options as an object, such as { timeoutMs: 5000 }'),
    );
    // @ts-expect-error JavaScript callers can pass it
    expect(await caught(client.customers.get('cus_1', { signal: new AbortController() }))).toEqual(
      new TypeError('signal must be an AbortSignal'),
    );
    for (const name of ['sort', 'updatedSince', 'cursor'])
      expect(() => client.customers.sync({ [name]: 'name' })).toThrow(
        new TypeError(`A sync sets ${name} itself: pass since or checkpoint`),
      );
    const misspelled = { baseUrl: 'https://api.example.com', apiKey, timeoutMS: 3 };
    expect(() => createClient(misspelled)).toThrow(new TypeError('createClient has no option timeoutMS'));
    expect(seen).toEqual([]);
  });

  const lost: [name: string, value: unknown, fault: string][] = [
    ['a Map', new Map([['a', 'b']]), 'JSON data, not [object Map]'],
    ['a Set', new Set(['a']), 'JSON data, not [object Set]'],
    ['a BigInt', 5n, 'JSON data, not [object BigInt]'],
    ['a function', () => 1, 'JSON data, not [object Function]'],
    ['a function with a property', Object.assign(() => 1, { a: 'b' }), 'JSON data, not [object Function]'],
    ['a promise', Promise.resolve('a'), 'JSON data, not [object Promise]'],
    ['an invalid Date', new Date(Number.NaN), 'a valid Date, or a string'],
  ];
  test.each(lost)('%s, which JSON would lose or turn into null, is not sent', async (_, value, fault) => {
    const { client, seen } = await scene([fine]);
    // @ts-expect-error JavaScript callers can pass it
    expect(await caught(client.customers.create({ metadata: value }))).toEqual(
      new TypeError(`metadata must be ${fault}`),
    );
    expect(seen).toEqual([]);
  });

  test('a body that is not an object with fields is not sent', async () => {
    const { client, seen } = await scene([fine]);
    const form = new URLSearchParams({ name: 'Ann' });
    // @ts-expect-error JavaScript callers can pass it
    expect(await caught(client.customers.create(form))).toEqual(
      new TypeError('The body must be JSON data, not [object URLSearchParams]'),
    );
    expect(seen).toEqual([]);
  });

  test('a Date, an instance of a class and null are sent as JSON has them', async () => {
    const { client, seen } = await scene([fine]);
    class Named {
      name = 'Ann';
    }
    await client.customers.create(Object.assign(new Named(), { notes: null, tags: [], metadata: {} }));
    // @ts-expect-error JavaScript callers can pass it
    await client.customers.create({ notes: new Date(0) });
    expect(seen.map(({ body }) => body)).toEqual([
      '{"name":"Ann","notes":null,"tags":[],"metadata":{}}',
      '{"notes":"1970-01-01T00:00:00.000Z"}',
    ]);
  });

  test('values that are not plain objects are sent as text, never dropped', async () => {
    const { client, seen } = await scene([answer(200, { data: [], pagination: {} })]);
    // @ts-expect-error JavaScript callers can pass it
    await client.customers.list({ metadata: new Map([['a', 'b']]), createdSince: new URLSearchParams('x=1') });
    expect(seen[0]?.url).toBe('/v1/customers?metadata=%5Bobject+Map%5D&createdSince=x%3D1');
  });
});
