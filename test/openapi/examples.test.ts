/** The examples as sent by a tool that fills in every one: together they select the records that they create. */
import { describe, expect, test } from 'vitest';
import { bodyExample, lists, operationAt, publishedExample, queryOf } from '../contract.ts';
import { storeReferred } from '../records.ts';
import { useWorld } from '../world.ts';

const world = useWorld();

describe.each(lists.filter(({ path }) => operationAt('POST', path)))('$title', (list) => {
  test('finds the example record with every example at once', async () => {
    const tenant = await world.organization();
    const create = operationAt('POST', list.path);
    if (!create) throw new Error(`${list.path} has no POST.`);
    const createPath = `${list.path}?${queryText(create).toString()}`;
    await storeReferred(tenant, bodyExample(create));
    const made = await tenant.call('POST', createPath, bodyExample(create));
    expect(made.status).toBe(201);
    const { status, body } = await tenant.call('GET', `${list.path}?${queryText(list).toString()}`);
    expect([status, body.data]).toEqual([200, [made.body]]);
    // Sent unchanged, and sent again, as people do.
    for (const _ of [1, 2]) expect((await tenant.call('POST', createPath, publishedExample(create))).status).toBe(201);
  });
});

function queryText(operation: (typeof lists)[number]): URLSearchParams {
  const query = new URLSearchParams();
  for (const { name, schema, example } of queryOf(operation)) {
    const text = String(example);
    if (example === undefined) continue;
    // Only metadata has an object as its example.
    if (schema.type !== 'object') query.append(name, text);
    else for (const [key, value] of Object.entries(Object(example))) query.append(`${name}[${key}]`, String(value));
  }
  return query;
}
