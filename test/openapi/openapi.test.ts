/** What the published document says about every operation: its parameters, responses and their examples. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Document, MediaType, Operation } from '../../contract/openapi/document.ts';
import { openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import { problem } from '../../contract/problem.ts';
import { problemCatalog } from '../../contract/problems/catalog.ts';
import type { ProblemCode } from '../../contract/problems/catalog.ts';
import { v1 } from '../../contract/v1.ts';
import { bodyOf, operationsOf } from '../../contract/operations.ts';
import { rateHeaders } from '../answers.ts';
import { expand } from './expand.ts';

const baseUrl = 'https://api.northwind.example';
const routes = operationsOf(v1).map((route) => ({
  route,
  place: `${route.method} ${route.path}`,
  path: route.path.replaceAll(/:(\w+)/g, '{$1}'),
  method: route.method.toLowerCase(),
}));

function operationAt(document: Document, { path, method, place }: (typeof routes)[number]): Operation {
  const operation = document.paths[path]?.[method];
  if (!operation) throw new Error(`${place} is not in the document.`);
  return operation;
}

describe.each([
  ['3.1', expand(openApiDocument(baseUrl))],
  ['3.0', expand(openApi30Document(baseUrl))],
])('OpenAPI %s', (version, document) => {
  test('states its version and the URL of the service', () => {
    expect(document.openapi.startsWith(version)).toBe(true);
    expect(document.servers).toEqual([{ url: baseUrl, description: expect.any(String), 'x-internal': false }]);
    expect(document.info).toMatchObject({ contact: expect.anything(), license: { name: 'MIT' } });
    expect(JSON.stringify(document)).not.toContain('api.example.com');
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  test('has every operation of the contract, under its own operationId, and no other', () => {
    const ids = routes.map((one) => operationAt(document, one).operationId);
    expect(ids).toEqual(routes.map(({ route }) => Reflect.get(Object(route.metadata), 'operationId')));
    expect(new Set(ids).size).toBe(ids.length);
    expect(Object.values(document.paths).flatMap((methods) => Object.keys(methods))).toHaveLength(ids.length);
  });

  test('has a summary, description and documented tag for each operation', () => {
    const explained = new Set(document.tags.filter(({ description }) => description).map(({ name }) => name));
    for (const one of routes) {
      const { summary, description, tags } = operationAt(document, one);
      expect(summary && description, one.place).toBeTruthy();
      // The maximum that the actions of a custom GPT accept.
      expect(description?.length, one.place).toBeLessThanOrEqual(300);
      expect(
        tags.filter((tag) => explained.has(tag)),
        one.place,
      ).toHaveLength(1);
    }
  });

  test('describes each parameter, with an example and its serialization style', () => {
    for (const one of routes) {
      for (const parameter of operationAt(document, one).parameters) {
        const at = `${one.place} ${parameter.name}`;
        expect(parameter.description, at).toBeTruthy();
        expect(parameter.description?.length, at).toBeLessThanOrEqual(700);
        // A tool that fills in every example must still get a page: these make sense in one request only.
        const single = ['Idempotency-Key', 'If-None-Match', 'cursor', 'ids'].includes(parameter.name);
        expect(parameter.example !== undefined, at).toBe(!single);
        expect(parameter.required ?? false, at).toBe(parameter.in === 'path');
        if (parameter.schema.type === 'object')
          expect(parameter, at).toMatchObject({ style: 'deepObject', explode: true });
        if (parameter.schema.type === 'array') expect(parameter, at).toMatchObject({ style: 'form', explode: false });
      }
    }
  });

  test('describes every header, with an example', () => {
    for (const [name, header] of Object.entries(document.components.headers)) {
      expect(header.description, name).toBeTruthy();
      expect(header.example, name).toBeDefined();
    }
  });

  test('has examples of requests that the contract accepts', () => {
    for (const one of routes) {
      const { required, content = {} } = operationAt(document, one).requestBody ?? {};
      const patch = one.method === 'patch' ? ['application/merge-patch+json'] : [];
      const expected = bodyOf(one.route) ? [true, 'application/json', ...patch] : [undefined];
      expect([required, ...Object.keys(content)], one.place).toEqual(expected);
      for (const { example } of Object.values(content)) {
        const { error } = z.instanceof(z.ZodType).parse(Reflect.get(one.route, 'body')).safeParse(example);
        expect(error, one.place).toBeUndefined();
        expect(Object.keys(Object(example)).length, one.place).toBeGreaterThan(0);
      }
    }
  });

  test('has examples of parameters that the contract accepts', () => {
    for (const one of routes) {
      const { parameters } = operationAt(document, one);
      for (const [kind, schema] of Object.entries({
        query: one.route.query,
        path: one.route.pathParams,
        header: one.route.headers,
      })) {
        const asked = parameters.filter((found) => found.in === kind && found.example !== undefined);
        if (kind === 'header' && asked.length === 0) continue;
        const given = Object.fromEntries(
          asked.map(({ name, example }) => [kind === 'header' ? name.toLowerCase() : name, String(example)]),
        );
        // Only metadata is an object, which the server's query parser builds from `metadata[key]`.
        if (given.metadata)
          Object.assign(given, { metadata: parameters.find(({ name }) => name === 'metadata')?.example });
        const { error } = z.instanceof(z.ZodType).parse(schema).safeParse(given);
        expect(error, `${one.place} ${kind}`).toBeUndefined();
      }
    }
  });

  test('has complete example responses that match the contract', () => {
    for (const one of routes) {
      for (const [status, response] of Object.entries(operationAt(document, one).responses)) {
        if (Number(status) >= 400 || ['204', '304'].includes(status)) continue;
        const example = response.content?.['application/json']?.example;
        const schema = z.instanceof(z.ZodType).parse(Reflect.get(one.route.responses, status));
        expect(schema.parse(example), `${one.place} ${status}`).toEqual(example);
      }
    }
  });

  test('lists every status of the contract for each operation, with its headers', () => {
    for (const one of routes) {
      const { responses, requestBody } = operationAt(document, one);
      expect(Object.keys(responses).toSorted(), one.place).toEqual(Object.keys(one.route.responses).toSorted());
      const always = [
        '400',
        '401',
        '403',
        '408',
        '429',
        '431',
        '500',
        '501',
        '503',
        ...(requestBody ? ['413', '415', '422'] : []),
      ];
      expect(Object.keys(responses), one.place).toEqual(
        expect.arrayContaining([...always, ...(one.path.includes('{') ? ['404'] : [])]),
      );
      for (const [status, { description, headers }] of Object.entries(responses)) {
        const expected = ['X-Request-Id', ...(/^(401|408|431|501)$/.test(status) ? [] : rateHeaders)];
        if (/^(429|503)$/.test(status)) expected.push('Retry-After');
        if (status === '401') expected.push('WWW-Authenticate');
        if (status === '201') expected.push('Location');
        if (/^20[01]$/.test(status) && one.path.endsWith('}')) expected.push('ETag');
        if (status.startsWith('2') && 'cursor' in Object(Reflect.get(Object(one.route.query), 'shape')))
          expected.push('Link');
        expect(description, `${one.place} ${status}`).toBeTruthy();
        expect(Object.keys(headers), `${one.place} ${status}`).toEqual(expect.arrayContaining(expected));
      }
    }
  });

  test('describes every failure as a problem, and shows each code as it is sent', () => {
    for (const one of routes) {
      for (const [status, { content, description }] of Object.entries(operationAt(document, one).responses)) {
        if (Number(status) < 400) continue;
        const [[type, media] = ['', { schema: {} } as MediaType]] = Object.entries(content ?? {});
        const at = `${one.place} ${status}`;
        expect(type, at).toBe('application/problem+json');
        expect(Object.keys(media.examples ?? {}).length, at).toBeGreaterThan(0);
        for (const code of Object.keys(media.examples ?? {})) {
          const value = problem.strict().parse(document.components.examples[code]?.value);
          expect(value, at).toMatchObject({
            code,
            title: problemCatalog[code as ProblemCode].title,
            status: Number(status),
          });
          expect(description, at).toContain(`\`${code}\``);
        }
      }
    }
  });
});
