/** Every operation does what it declares, with its statuses and bounds, and has its own `describe` in test/api. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Schema } from '../../contract/openapi/document.ts';
import {
  bodyExample,
  bodySchema,
  listOf,
  operations,
  responseSchema,
  schemaOf,
  takesBody as hasBody,
} from '../contract.ts';
import type { Promised } from '../contract.ts';
import { createRecord, idParameter, oneOfEach } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Answer, Tenant } from '../world.ts';

// The clock stands still: a key has its 100 requests and no more.
const world = useWorld({ clock: () => 1_000_000 });

test('every operation has its own describe in test/api', () => {
  const folder = new URL('../api/', import.meta.url);
  const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const described = texts.flatMap((text) =>
    [...text.matchAll(/^describe\('([^']+)'/gm)].map(([, title = '']) => title),
  );
  expect(described.toSorted()).toEqual(operations.map(({ title }) => title).toSorted());
});

type Situation = {
  tenant: Tenant;
  operation: Promised;
  /** The path with the id of an existing record. */
  path: string;
  id: string;
  body: Record<string, unknown> | undefined;
};
type Provoked = { applies(operation: Promised): boolean; send(situation: Situation): Promise<Answer> };

const has = (place: string, name: string) => (operation: Promised) =>
  operation.operation.parameters.some((parameter) => parameter.in === place && parameter.name === name);
/** A POST to a list; any other is an action on one record. */
const isCreate = ({ method, path }: Promised) => method === 'POST' && !path.includes(':');
const always = () => true;
const send = ({ tenant, operation, path, body }: Situation, headers?: Record<string, string>) =>
  tenant.call(operation.method, path, body, headers);

/** Status → which operations have it, judging by method, path, parameters and body alone, and how to provoke it. */
const provoked: Record<number, Provoked> = {
  200: {
    applies: (operation) =>
      isCreate(operation) ? has('query', 'onConflict')(operation) : operation.method !== 'DELETE',
    async send({ tenant, operation, path, body }) {
      if (!isCreate(operation)) return tenant.call(operation.method, path, body);
      return tenant.call('POST', `${path}?onConflict=return`, { ...body, externalId: 'external-0' });
    },
  },
  201: { applies: isCreate, send },
  204: { applies: ({ method }) => method === 'DELETE', send },
  304: {
    applies: has('header', 'If-None-Match'),
    send: (situation) => send(situation, { 'if-none-match': '*' }),
  },
  400: { applies: always, send: (situation) => send({ ...situation, path: `${situation.path}?nope=1` }) },
  401: { applies: always, send: (situation) => send(situation, { authorization: '' }) },
  403: {
    applies: always,
    send: async (situation) => send({ ...situation, tenant: await world.organization({ plan: 'free' }) }),
  },
  404: {
    applies: ({ path }) => path.includes(':'),
    send: (situation) => send({ ...situation, path: situation.path.replace(situation.id, 'unknown') }),
  },
  409: {
    applies: (operation) => hasBody(operation) && bodySchema(operation).properties?.externalId !== undefined,
    async send(situation) {
      await createRecord(situation.tenant, listOf(situation.operation)?.path ?? '', 1);
      return send({ ...situation, body: { ...situation.body, externalId: 'external-1' } });
    },
  },
  412: {
    applies: has('header', 'If-Match'),
    send({ body, ...situation }) {
      // A create with onConflict=update changes the record with its externalId.
      const isUpsert = isCreate(situation.operation);
      const query = isUpsert ? '?onConflict=update' : '';
      const sent = { ...body, ...(isUpsert && { externalId: 'external-0' }) };
      return send({ ...situation, path: situation.path + query, body: sent }, { 'if-match': '"other"' });
    },
  },
  413: {
    applies: hasBody,
    send: (situation) => send({ ...situation, body: { ...situation.body, name: 'x'.repeat(300_000) } }),
  },
  415: { applies: hasBody, send: (situation) => send(situation, { 'content-type': 'text/plain' }) },
  422: { applies: hasBody, send: (situation) => send({ ...situation, body: { ...situation.body, nope: 1 } }) },
  429: {
    applies: always,
    async send(situation) {
      const { tenant } = situation;
      await Promise.all(Array.from({ length: 100 }, () => tenant.call('GET', '/v1/me')));
      return send(situation);
    },
  },
};
/** Declared by every operation, because they can occur before it is known; other tests provoke them. */
const beforeTheOperation = [408, 431, 500, 501, 503];

for (const operation of operations) {
  describe(`the statuses of ${operation.title}`, () => {
    const statuses = Object.keys(provoked).map(Number);
    const expected = statuses.filter((status) => provoked[status]?.applies(operation));

    test('are those possible with its method, path, parameters and body', () => {
      const declared = Object.keys(operation.operation.responses).map(Number);
      expect(declared).toEqual([...expected, ...beforeTheOperation].toSorted((left, right) => left - right));
    });

    for (const status of expected) {
      test(`include ${status}`, async () => {
        const tenant = await world.organization();
        const id = (await oneOfEach(tenant))[idParameter(operation)] ?? '';
        const path = operation.path.replace(/:\w+/, id);
        const example = hasBody(operation) ? bodyExample(operation) : undefined;
        const body = example && { ...example, externalId: 'external-new', sku: undefined };
        const situation = { tenant, operation, path, id, body };
        const response = await provoked[status]?.send(situation);
        expect(response?.status, response?.text).toBe(status);
      });
    }
  });
}

/** A value of exactly this many characters, in the format of the field. */
function ofLength(length: number, schema: Schema): string {
  if (schema.format === 'idn-email') {
    const domain = `${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`;
    return `${'a'.repeat(length - domain.length - 1)}@${domain}`;
  }
  const start = schema.format === 'uri' ? 'https://example.com/' : '123';
  return start + '7'.repeat(Math.max(0, length - start.length));
}

type Bounded = { at: string[]; schema: Schema; max: number };

/** Every text of a body with a maximum length, except codes, whose length is fixed. */
function boundedIn(schema: Schema, at: string[] = []): Bounded[] {
  const { properties = {}, anyOf = [], maxLength, minLength, readOnly, pattern } = schemaOf(schema);
  if (readOnly) return [];
  const fields = Object.entries(properties).flatMap(([name, field]) => boundedIn(field, [...at, name]));
  const inner = [...fields, ...anyOf.flatMap((part) => boundedIn(part, at))];
  const isText = maxLength !== undefined && maxLength !== minLength && pattern === undefined;
  return isText ? [{ at, schema, max: Number(maxLength) }, ...inner] : inner;
}

const nested = ([first = '', ...rest]: string[], value: unknown): Record<string, unknown> => ({
  [first]: rest.length > 0 ? nested(rest, value) : value,
});
const valueAt = (record: unknown, at: string[]): unknown =>
  at.reduce<unknown>((found, name) => Reflect.get(Object(found), name), record);

for (const operation of operations.filter(hasBody)) {
  describe(`the bounds of ${operation.title}`, () => {
    let tenant: Tenant;
    let path: string;
    beforeAll(async () => {
      tenant = await world.organization();
      const id = (await oneOfEach(tenant))[idParameter(operation)] ?? '';
      path = operation.path.replace(/:\w+/, id);
    });
    const minimal =
      operation.method === 'POST' ? { ...bodyExample(operation), externalId: undefined, sku: undefined } : {};
    const bounds = boundedIn(bodySchema(operation));

    test('are declared', () => expect(bounds.length).toBeGreaterThan(5));

    for (const { at, schema, max } of bounds) {
      test(`${at.join('.')} accepts ${max} characters, returns them all, and rejects more`, async () => {
        const longest = ofLength(max, schema);
        const { status, body, text } = await tenant.call(operation.method, path, {
          ...minimal,
          ...nested(at, longest),
        });
        expect(status, text).toBeLessThan(300);
        expect(valueAt(body, at)).toBe(longest);
        const tooLong = { ...minimal, ...nested(at, ofLength(max + 1, schema)) };
        const rejected = await tenant.call(operation.method, path, tooLong);
        expect(rejected.body).toMatchObject({
          status: 422,
          errors: [{ pointer: `/${at.join('/')}`, code: 'too_long' }],
        });
      });
    }

    test('are the same in the response', () => {
      const record = responseSchema(operation, 200) ?? {};
      const shown = new Map(boundedIn(record).map(({ at, max }) => [at.join('.'), max]));
      for (const { at, max } of bounds) expect([at.join('.'), shown.get(at.join('.'))]).toEqual([at.join('.'), max]);
    });
  });
}
