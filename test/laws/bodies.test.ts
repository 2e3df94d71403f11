/** An operation may take no body and respond with none, whatever its method. */
import { ContractNoBody, initContract } from '@ts-rest/core';
import type { AppRoute } from '@ts-rest/core';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../client/index.ts';
import { ifMatch } from '../../contract/headers.ts';
import { emitOpenApi } from '../../contract/openapi/emit.ts';
import { problems } from '../../contract/responses.ts';
import { operations } from '../../server/api/operations.ts';
import type { AnyReply, Operation } from '../../server/api/operations.ts';
import { parserOf } from '../../server/api/parse.ts';
import { plain } from '../../server/api/reply.ts';
import { takeBreaks } from '../answers.ts';
import { useWorld } from '../world.ts';

const tag = { name: 'Examples', description: 'Examples.' };
const shared = { pathParams: z.object({}), query: z.strictObject({}), summary: 'Example' };
const done = z.object({ done: z.boolean() }).meta({ id: 'Done', description: 'Done.', examples: [{ done: true }] });
const examples = initContract().router(
  {
    remove: {
      ...shared,
      method: 'DELETE',
      path: '/examples/one',
      responses: { 204: ContractNoBody },
      metadata: { operationId: 'deleteExample', tag },
    },
    archive: {
      ...shared,
      method: 'POST',
      path: '/examples/one/archive',
      body: ContractNoBody,
      responses: { 200: done },
      metadata: { operationId: 'archiveExample', tag },
    },
    change: {
      ...shared,
      method: 'PATCH',
      path: '/examples/one',
      headers: ifMatch,
      body: z.strictObject({ done: z.boolean() }),
      responses: { 200: done, ...problems(409, 412) },
      metadata: { operationId: 'updateExample', tag },
    },
  },
  { pathPrefix: '/v1' },
);

const mounted = (route: AppRoute, reply: AnyReply): Operation => ({
  id: String(Object(route.metadata).operationId),
  route,
  parse: parserOf(route),
  handler: async () => reply,
  costOf: () => ({ kind: 'write', isLarge: false }),
});
// Only this file's server has them: the next file of this worker imports the same list.
const all = operations as Operation[];
const known = all.length;
all.push(
  mounted(examples.remove, { status: 204, body: undefined, text: '' }),
  mounted(examples.archive, plain({ done: true })),
);
afterAll(() => void all.splice(known));

const world = useWorld();

test('a DELETE can respond with 204', async () => {
  const tenant = await world.organization();
  const { status, text, headers } = await tenant.call('DELETE', '/v1/examples/one');
  expect([status, text, headers.get('content-type'), headers.get('content-length')]).toEqual([204, '', null, null]);
  expect(headers.get('ratelimit')).not.toBeNull();
  // The document of the service does not have it.
  takeBreaks();
});

test('a POST that takes no body accepts none, or an empty object, and nothing else', async () => {
  const tenant = await world.organization();
  const path = '/v1/examples/one/archive';
  expect((await tenant.call('POST', path)).body).toEqual({ done: true });
  expect((await tenant.call('POST', path, {})).body).toEqual({ done: true });
  const detail = 'This operation takes no body. Send parameters in the query.';
  expect((await tenant.call('POST', path, { name: 'x' })).body).toMatchObject({ status: 400, detail });
  takeBreaks();
});

test('the document describes both', () => {
  const { paths } = emitOpenApi(examples);
  const [remove, archive] = [paths['/v1/examples/one']?.delete, paths['/v1/examples/one/archive']?.post];
  expect([remove?.requestBody, archive?.requestBody]).toEqual([undefined, undefined]);
  expect(remove?.responses[204]).toMatchObject({ description: expect.stringContaining('no body') });
  expect(remove?.responses[204]).not.toHaveProperty('content');
  expect(archive?.responses[200]?.content).toMatchObject({ 'application/json': { example: { done: true } } });
});

test('the document lists the problems of an erased customer only where customers are changed', () => {
  const { responses = {} } = emitOpenApi(examples).paths['/v1/examples/one']?.patch ?? {};
  expect(JSON.stringify(responses[412])).toContain('precondition_failed');
  expect(JSON.stringify(responses)).not.toContain('erased');
});

test('the client returns null for a 204', async () => {
  const fetch = async () => new Response(null, { status: 204 });
  const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'ak_live_1', fetch });
  expect(await client.me.get()).toBeNull();
});
