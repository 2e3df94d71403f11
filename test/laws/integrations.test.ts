/** The packages for no-code tools offer exactly what the contract has: nothing is missing, and nothing is made up. */
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { contractText, propertiesText } from '../../client/build/n8n.ts';
import { resourcesOf } from '../../client/build/resources.ts';
import type { Resource } from '../../client/build/resources.ts';
import { createApp } from '../../client/zapier/app.ts';
import { recordEventTypes } from '../../contract/events.ts';
import type { Document, Schema } from '../../contract/openapi/document.ts';
import { expandedDocument } from '../../contract/openapi/openapi.ts';

const baseUrl = 'https://api.example.com';
const document = expandedDocument(baseUrl);
const resources = resourcesOf(document);
const zapierOf = (from: Resource[]): any =>
  createApp({ baseUrl, clientId: undefined, version: '1.0.0', platformVersion: '19.1.0', resources: from });

/** The fields that people can fill in with each tool, by operation. */
const tools: Record<string, (from: Resource[]) => Record<string, string[]>> = {
  Zapier(from) {
    const { searches, creates } = zapierOf(from);
    const actions: [string, any][] = Object.entries({ ...searches, ...creates });
    return Object.fromEntries(
      actions.map(([key, { operation }]) => [
        key.replace(/^find_(.*)$/, 'list_$1s'),
        operation.inputFields.map((field: { key: string }) => field.key.replaceAll('__', '.')),
      ]),
    );
  },
  n8n(from) {
    const shown = parsedProperties(from);
    const operations = shown.filter(({ name }) => name === 'operation');
    return Object.fromEntries(
      operations.flatMap(({ displayOptions, options }) =>
        options.map(({ value }: any) => {
          const resource = displayOptions.show.resource[0];
          const isOne = (field: any) =>
            field.displayOptions?.show.resource[0] === resource && field.displayOptions.show.operation?.[0] === value;
          const fields = shown
            .filter(isOne)
            .flatMap((field) => (field.type === 'collection' ? field.options : [field]));
          return [n8nKeys[value]?.(resource), fields.map(({ name, routing }: any) => routing?.send.property ?? name)];
        }),
      ),
    );
  },
};

/** n8n's name of an operation → the contract's. */
const n8nKeys: Record<string, (resource: string) => string> = {
  getAll: (resource) => `list_${resource}s`,
  get: (resource) => `get_${resource}`,
  create: (resource) => `create_${resource}`,
  update: (resource) => `update_${resource}`,
  upsert: (resource) => `create_or_update_${resource}`,
  getOrCreate: (resource) => `get_or_create_${resource}`,
};

/** What the generated source exports; the functions that it names do not matter here. */
function parsedProperties(from: Resource[]): any[] {
  const [, literal = ''] = /INodeProperties\[\] = (\[[^]*\]);/.exec(propertiesText(from)) ?? [];
  return runInNewContext(literal, { clearFields: '', explain: '', nextPage: '' });
}

/** `createOrUpdate` is a separate operation in the tools, but the same one here. */
const snake = (operationId: string) => operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  path === '/v1/me' ? [] : Object.values(methods),
);

/** The field names in the schema, as dotted paths; fields of records in lists are not form fields. */
function namesIn(schema: Schema, around = ''): string[] {
  const { $ref, anyOf, properties } = schema;
  const whole = $ref === undefined ? (anyOf?.[0] ?? schema) : document.components.schemas[$ref.split('/').at(-1) ?? ''];
  if (whole !== schema && whole) return namesIn(whole, around);
  if (!properties) return [around.slice(0, -1)];
  return Object.entries(properties).flatMap(([name, inner]) => namesIn(inner, `${around}${name}.`));
}

function withField(name: string, field: Schema): Document {
  const { components } = document;
  const schemas = { ...components.schemas };
  for (const schema of ['CustomerCreate', 'CustomerUpdate', 'Customer'])
    schemas[schema] = { ...schemas[schema], properties: { ...schemas[schema]?.properties, [name]: field } };
  return { ...document, components: { ...components, schemas } };
}

describe.each(Object.entries(tools))('%s', (_, offered) => {
  test('has exactly the operations of the contract', () => {
    const found = Object.keys(offered(resources)).filter((key) => !key.includes('_or_'));
    expect(found.toSorted()).toEqual(operations.map(({ operationId }) => snake(operationId)).toSorted());
  });

  test('has every field of every body, and every filter of every list', () => {
    const found = offered(resources);
    for (const { operationId, requestBody, parameters } of operations) {
      const [body] = Object.values(requestBody?.content ?? {});
      const filters = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
      const expected = body ? namesIn(body.schema) : filters.filter((name) => !/^(?:limit|cursor|sort)$/.test(name));
      expect(found[snake(operationId)], operationId).toEqual(expect.arrayContaining(expected));
    }
  });

  test('gets a new field without a code change', () => {
    const field = { type: 'string', description: 'Points of the loyalty program.', maxLength: 20 };
    const found = offered(resourcesOf(withField('loyaltyNumber', field)));
    for (const key of ['create_customer', 'create_or_update_customer', 'update_customer'])
      expect(found[key]).toContain('loyaltyNumber');
    expect(found.create_item).not.toContain('loyaltyNumber');
  });
});

describe('Zapier', () => {
  const app = zapierOf(resources);

  test('sends the key to the API only, and an id only as an id', async () => {
    const [authorize] = app.beforeRequest;
    const keySent = (url: string) => authorize({ url }, {}, { authData: { apiKey: 'secret' } }).headers?.Authorization;
    expect(keySent(`${baseUrl}/v1/me`)).toBe('Bearer secret');
    for (const other of ['.example/v1/me', '@other.example/v1/me', '/docs'])
      expect(keySent(baseUrl + other)).toBe(undefined);
    const urls: string[] = [];
    const request = async ({ url }: { url: string }) => ({ status: urls.push(url) && 404 });
    const { perform } = app.searches.get_customer.operation;
    expect(await perform({ request }, { inputData: { id: '../me' } })).toEqual([]);
    expect(urls).toEqual([`${baseUrl}/v1/customers/..%2Fme`]);
  });

  test('takes no failure for a record, even in a step that expects a 404', () => {
    const [explain] = app.afterResponse;
    const z = { errors: { Error, ExpiredAuthError: Error, ThrottledError: Error } };
    const responseOf = (status: number) => ({
      status,
      content: '',
      skipThrowForStatus: true,
      getHeader: () => undefined,
    });
    const missing = responseOf(404);
    expect(explain(missing, z)).toBe(missing);
    for (const status of [400, 401, 429, 503]) expect(() => explain(responseOf(status), z)).toThrow(`status ${status}`);
  });
});

test('n8n offers to clear what an update may set to null, and nothing else', () => {
  const { options } = parsedProperties(resources).find(({ name }) => name === 'updateFields');
  const offered = options.find(({ name }: any) => name === 'clear').options.map(({ value }: any) => value);
  expect(offered).toEqual(expect.arrayContaining(['email', 'address.city', 'externalId', 'metadata']));
  expect(offered.filter((name: string) => /^(?:name|type|status)$/.test(name))).toEqual([]);
});

test('no tool offers to delete, or to write read-only fields', () => {
  expect(resources.flatMap(({ steps }) => Object.values(steps).map(({ method }) => method))).not.toContain('DELETE');
  expect(Object.keys(resources.find(({ name }) => name === 'proposals')?.steps ?? {})).toEqual(['list', 'get']);
  const entered = resources.flatMap(({ steps }) => [...(steps.create?.fields ?? []), ...(steps.update?.fields ?? [])]);
  expect(
    entered.map(({ name }) => name).filter((name) => /^(?:id|etag|createdAt|updatedAt|erasedAt)$/.test(name)),
  ).toEqual([]);
});

test('an operation that no tool supports is an error, not left out', () => {
  const { paths } = document;
  const path = '/v1/items/{itemId}';
  for (const [place, method] of [
    [path, 'delete'],
    [`${path}/archive`, 'post'],
  ] as const) {
    const further = { ...paths[path]?.get, operationId: `${method}Item` };
    const extended = { ...document, paths: { ...paths, [place]: { ...paths[place], [method]: further } } };
    // The rest of the operation is copied from another one.
    const error = `No-code tools have no step for ${method}Item.`;
    expect(() => resourcesOf(extended as Document)).toThrow(error);
  }
});

test('the webhook trigger of n8n offers every event that an endpoint can receive', () => {
  const [, literal = ''] =
    /\bevents: INodePropertyOptions\[\] = (\[[^]*?\]);/.exec(contractText(resources, baseUrl)) ?? [];
  const offered: any[] = runInNewContext(literal);
  expect(offered.map(({ value }) => value).toSorted()).toEqual(recordEventTypes.toSorted());
  const imports = offered.find(({ value }) => value === 'import.completed');
  expect(imports).toEqual({ name: 'Import Completed', value: 'import.completed', description: 'An import ended' });
});

test('every event of a record is a trigger, with a sample from the contract', () => {
  const subscribed = Object.keys(document.webhooks ?? {}).filter((type) => !/^(?:import|endpoint)\./.test(type));
  expect(resources.flatMap(({ triggers }) => triggers.map(({ type }) => type)).toSorted()).toEqual(
    subscribed.toSorted(),
  );
  for (const { sample, record } of resources)
    for (const { name } of record) expect(sample, name).toHaveProperty(name.split('.')[0] ?? '');
});
