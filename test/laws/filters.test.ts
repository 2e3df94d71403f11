/** Every filter of the contract matches one record and excludes another; every default is the documented one. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Parameter, Schema } from '../../contract/openapi/document.ts';
import {
  bodyExample,
  bodySchema,
  creates,
  filtersOf,
  getOf,
  listReferredToBy,
  lists,
  nameFieldOf,
  operationAt,
  queryOf,
  recordSchema,
  schemaOf,
} from '../contract.ts';
import type { Promised } from '../contract.ts';
import { createRecord, setColumns, storeReferred } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

type Shown = Record<string, unknown> & { id: string };
const times = [6, 7, 8, 9].map((ms) => `2026-01-02T03:04:05.00${ms}Z`);

/** The field of a record that a filter checks; undefined for `q`, which checks several. */
function fieldOf(list: Promised, { name }: Parameter): string | undefined {
  const fields = Object.keys(recordSchema(list).properties ?? {});
  const time = /^(\w+)(?:Since|Before)$/.exec(name)?.[1];
  // The country is part of the address.
  const found = [name, `${time}At`, `${name}s`, name.replace(/s$/, ''), name.replace('country', 'address')].find(
    (field) => fields.includes(field),
  );
  if (found === undefined && name !== 'q') throw new Error(`No field of ${list.path} belongs to the filter ${name}.`);
  return found;
}

/** The values of a closed set, or the known values of an open one. */
function choicesOf(schema: Schema): readonly unknown[] | undefined {
  const known: unknown = schema['x-extensible-enum'];
  return schema.enum ?? (Array.isArray(known) ? known : undefined);
}

/** A value of the same form with every letter and digit changed, or another one of the schema's set. */
function unlike(value: unknown, schema: Schema): unknown {
  const choices = choicesOf(schema);
  if (choices) return choices.find((choice) => choice !== value);
  if (Array.isArray(value)) return value.map((item) => unlike(item, {}));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key === 'country' ? 'FR' : unlike(inner, {})]),
    );
  return String(value)
    .replaceAll(/[0-8]/g, (digit) => String(Number(digit) + 1))
    .replaceAll(/[a-y]/gi, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1));
}

/** Two records that differ in every field that a filter checks; the one created first was updated last. */
async function twoOf(tenant: Tenant, list: Promised): Promise<[Shown, Shown]> {
  const create = operationAt('POST', list.path);
  const fields = new Set(filtersOf(list).flatMap((filter) => fieldOf(list, filter) ?? []));
  const example = create ? bodyExample(create) : {};
  const accepted = create ? (bodySchema(create).properties ?? {}) : {};
  const other = [nameFieldOf(list), ...fields].filter((field) => field in example);
  const otherBody: Record<string, unknown> = {};
  for (const field of other) {
    const referred = listReferredToBy(example[field]);
    otherBody[field] = referred
      ? await createRecord(tenant, referred.path, 1)
      : unlike(example[field], schemaOf(accepted[field] ?? {}));
  }
  const records: Shown[] = [];
  for (const [index, more] of [{}, otherBody].entries()) {
    const id = await createRecord(tenant, list.path, index, more);
    await setColumns(world, tenant, list.path, id, { createdAt: times[index], updatedAt: times[3 - index] });
    records.push((await tenant.call('GET', getOf(list).path.replace(/:\w+/, id))).body);
  }
  const [first, second] = records;
  if (!first || !second) throw new Error('Two records were expected.');
  // A field with a closed set that a create does not accept: only the organization's application sets it.
  for (const field of fields) {
    const schema = schemaOf(recordSchema(list).properties?.[field] ?? {});
    if (!choicesOf(schema) || first[field] !== second[field]) continue;
    second[field] = unlike(first[field], schema);
    await setColumns(world, tenant, list.path, second.id, { [field]: second[field] });
  }
  return [first, second];
}

/** `name=value` of the filter that matches this record. */
function matching(list: Promised, filter: Parameter, record: Shown): string {
  const field = fieldOf(list, filter);
  const pair = (name: string, value: unknown) => `${name}=${encodeURIComponent(String(value))}`;
  if (field === undefined) return pair(filter.name, record.name ?? record.title);
  const value = record[field];
  if (Array.isArray(value)) return pair(filter.name, value[0]);
  if (typeof value !== 'object' || value === null) return pair(filter.name, value);
  if (filter.name === 'country') return pair(filter.name, Reflect.get(value, 'country'));
  const [entry] = Object.entries(value);
  return pair(`${filter.name}[${entry?.[0]}]`, entry?.[1]);
}

for (const list of lists) {
  describe(`the filters of ${list.title}`, () => {
    let tenant: Tenant;
    let first: Shown;
    let second: Shown;
    beforeAll(async () => {
      tenant = await world.organization();
      [first, second] = await twoOf(tenant, list);
    });
    /** The ids of all records, page by page, because a cursor carries the filter. */
    async function found(query: string): Promise<string[]> {
      const ids: string[] = [];
      let url = `${list.path}?limit=1&sort=createdAt&${query}`;
      for (;;) {
        const { status, body, text } = await tenant.call('GET', url);
        expect(status, text).toBe(200);
        ids.push(...body.data.map(({ id }: Shown) => id));
        if (!body.pagination.hasMore) return ids;
        url = body.pagination.nextUrl.slice(world.url.length);
      }
    }

    test('are not empty', () => expect(filtersOf(list).length).toBeGreaterThan(7));

    for (const filter of filtersOf(list)) {
      test(`${filter.name} excludes what it does not match`, async () => {
        const [one, other] = [matching(list, filter, first), matching(list, filter, second)];
        expect(one).not.toBe(other);
        const both = [first, second];
        const value = (record: Shown) => String(record[fieldOf(list, filter) ?? 'id']);
        for (const [query, { id }] of [[one, first] as const, [other, second] as const]) {
          const at = value(id === first.id ? first : second);
          const expected = both.filter((record) => {
            if (filter.name.endsWith('Since')) return value(record) >= at;
            return filter.name.endsWith('Before') ? value(record) < at : record.id === id;
          });
          expect(await found(query), query).toEqual(expected.map((record) => record.id));
        }
      });
    }

    for (const { name } of filtersOf(list).filter(({ schema }) => schema.enum?.includes('all'))) {
      test(`${name}=all matches everything`, async () => {
        expect(await found(`${name}=all`)).toEqual([first.id, second.id]);
      });
    }
  });

  describe(`the defaults of ${list.title}`, () => {
    const withDefault = queryOf(list).filter(({ schema }) => schema.default !== undefined);
    const closed = Object.fromEntries(
      withDefault
        .filter(({ schema }) => schema.default === 'all')
        .map(({ name }) => [name, choicesOf(schemaOf(recordSchema(list).properties?.[name] ?? {}))?.at(-1)]),
    );
    let tenant: Tenant;
    beforeAll(async () => {
      tenant = await world.organization();
      for (let index = 0; index < 27; index += 1) {
        const id = await createRecord(tenant, list.path, index);
        // Four orders, no two of which are the same or the reverse of each other.
        const [at, later] = [(index * 5) % 27, 27 + ((index * 7) % 27)].map((minute) =>
          new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
        );
        // Half of the records have a different value in every field whose filter has the default `all`.
        const columns = index % 2 === 0 ? closed : {};
        await setColumns(world, tenant, list.path, id, {
          createdAt: at,
          updatedAt: later,
          ...columns,
        });
      }
    });

    test('are documented for limit and sort at least', () => {
      expect(withDefault.map(({ name }) => name)).toEqual(expect.arrayContaining(['limit', 'sort']));
    });

    for (const { name, schema } of withDefault) {
      test(`${name} is ${JSON.stringify(schema.default)} by default`, async () => {
        const shown = async (query: string) => {
          const { data, pagination } = (await tenant.call('GET', `${list.path}?${query}`)).body;
          return { ids: data.map(({ id }: Shown) => id), limit: pagination.limit };
        };
        const implicit = await shown('');
        expect(implicit).toEqual(await shown(`${name}=${String(schema.default)}`));
        // Empty means nothing: there is no other value to compare with.
        if (schema.default === '') return;
        const others = schema.enum ?? [Number(schema.default) - 1, Number(schema.default) + 1];
        for (const other of others.filter((value) => value !== schema.default)) {
          expect(await shown(`${name}=${String(other)}`), String(other)).not.toEqual(implicit);
        }
      });
    }
  });
}

for (const create of creates) {
  describe(`the defaults of ${create.title}`, () => {
    for (const { name, schema } of queryOf(create).filter(({ schema: given }) => given.default !== undefined)) {
      test(`${name} is ${JSON.stringify(schema.default)} by default`, async () => {
        const tenant = await world.organization();
        await createRecord(tenant, create.path, 1);
        const body = { ...bodyExample(create), externalId: 'external-1', sku: undefined };
        const status = async (query: string) => (await tenant.call('POST', `${create.path}?${query}`, body)).status;
        const implicit = await status('');
        expect(implicit).toBe(await status(`${name}=${String(schema.default)}`));
        for (const other of (schema.enum ?? []).filter((value) => value !== schema.default)) {
          expect(await status(`${name}=${String(other)}`)).not.toBe(implicit);
        }
      });
    }

    for (const [name, schema] of Object.entries(bodySchema(create).properties ?? {})) {
      if (schema.default === undefined) continue;
      test(`${name} is ${JSON.stringify(schema.default)} by default`, async () => {
        const tenant = await world.organization();
        const { [name]: _, ...body } = bodyExample(create);
        await storeReferred(tenant, body);
        expect((await tenant.call('POST', create.path, body)).body[name]).toBe(schema.default);
      });
    }
  });
}
