/** How headers and statuses without a body are emitted, whether or not v1 has them in this form. */
import { initContract } from '@ts-rest/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { toOpenApi30 } from '../../contract/openapi/version-30.ts';
import type { Operation } from '../../contract/openapi/document.ts';
import { emitOpenApi } from '../../contract/openapi/emit.ts';
import { problems } from '../../contract/responses.ts';

const key = z
  .string()
  .max(255)
  .optional()
  .meta({ description: 'Makes a repeat safe.', examples: ['order-1'] });
const etag = z
  .string()
  .optional()
  .meta({ description: 'The ETag that is known.', examples: ['"abc"'] });
const thing = z
  .object({ id: z.string().meta({ description: 'Id.', examples: ['t_1'] }) })
  .meta({ id: 'Thing', description: 'A thing.' });
const thingCreate = z
  .strictObject({
    externalId: z
      .string()
      .max(9)
      .meta({ description: 'Yours.', examples: ['x'] }),
  })
  .meta({ id: 'ThingCreate' });
const metadata = { operationId: 'makeThing', tag: { name: 'Items', description: 'Things.' } };
const c = initContract();
const make = { method: 'POST', path: '/things', body: thingCreate, metadata } as const;

function emitted(contract: Parameters<typeof emitOpenApi>[0], path: string, method: string): Operation {
  const operation = emitOpenApi(contract).paths[path]?.[method];
  if (!operation) throw new Error('The operation is not in the document.');
  return operation;
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes a repeat safe.',
  schema: { type: 'string', maxLength: 255 },
  example: 'order-1',
};

test('headers of a contract become header parameters, spelled as in the standards', () => {
  const contract = c.router({
    whole: { ...make, headers: z.object({ 'idempotency-key': key }), responses: { 201: thing, ...problems(409) } },
  });
  expect(emitted(contract, '/things', 'post').parameters).toEqual([idempotencyKey]);
});

test('an Idempotency-Key adds its codes and headers', () => {
  const responses = { 200: thing, 201: thing, ...problems(400, 409, 422) };
  const contract = c.router({ make: { ...make, headers: z.object({ 'idempotency-key': key }), responses } });
  const operation = emitted(contract, '/things', 'post');
  expect(Object.keys(operation.responses)).toEqual(['200', '201', '400', '409', '422']);
  expect(Object.keys(operation.responses[200]?.headers ?? {})).toEqual(
    expect.arrayContaining(['ETag', 'Idempotency-Replayed']),
  );
  expect(Object.keys(operation.responses[201]?.headers ?? {})).toEqual(
    expect.arrayContaining(['ETag', 'Location', 'Idempotency-Replayed']),
  );
  expect(operation.responses[409]?.description).toBe(
    '- `external_id_taken`: External ID already in use.\n- `idempotency_in_progress`: Request in progress.',
  );
  expect(operation.responses[409]?.headers).toHaveProperty('Retry-After');
  expect(operation.responses[422]?.description).toContain('`idempotency_key_reused`');
  expect(operation.responses[400]?.description).toContain('`invalid_header`');
});

test('304 has an ETag and no body, and 412 has the current ETag of the record', () => {
  const headers = z.object({ 'if-none-match': etag });
  const contract = c.router({
    get: {
      method: 'GET',
      path: '/things/:id',
      headers,
      responses: { 200: thing, 304: c.noBody(), ...problems(412) },
      metadata,
    },
  });
  const document = emitOpenApi(contract);
  const answers = document.paths['/things/{id}']?.get?.responses;
  expect(answers?.[304]).toEqual({
    description: expect.stringContaining('If-None-Match'),
    headers: expect.objectContaining({ ETag: expect.anything() }),
  });
  expect(answers?.[412]?.content?.['application/problem+json']?.examples).toEqual({
    precondition_failed: { $ref: '#/components/examples/precondition_failed' },
  });
  expect(document.components.examples.precondition_failed?.value).toMatchObject({
    status: 412,
    currentEtag: expect.any(String),
  });
});

test('two different schemas with the same name are rejected', () => {
  const other = z.object({ name: z.string() }).meta({ id: 'Thing' });
  const contract = c.router({
    one: { ...make, responses: { 201: thing } },
    other: { ...make, path: '/others', responses: { 201: other } },
  });
  expect(() => emitOpenApi(contract)).toThrow('Two different schemas are called Thing.');
});

test('a nullable reference means the same in 3.0 as in 3.1, with the same names', () => {
  const holder = z
    .object({ id: z.string().meta({ description: 'Id.', examples: ['h_1'] }), thing: thing.nullable() })
    .meta({ id: 'Holder', description: 'It may hold a thing.' });
  const contract = c.router({ get: { method: 'GET', path: '/holder', responses: { 200: holder }, metadata } });
  const document = emitOpenApi(contract);
  expect(document.components.schemas.Holder?.properties?.thing).toEqual({
    description: 'A thing.',
    anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }],
  });
  expect(toOpenApi30(document).components.schemas).toEqual({
    Holder: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Id.', example: 'h_1' },
        thing: {
          type: 'object',
          nullable: true,
          allOf: [{ $ref: '#/components/schemas/Thing' }],
          description: 'A thing.',
        },
      },
      required: ['id', 'thing'],
      description: 'It may hold a thing.',
    },
    // `allOf` allows null only if the schema in it does.
    Thing: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Id.', example: 't_1' } },
      required: ['id'],
      description: 'A thing.',
      nullable: true,
    },
  });
});
