/** Tests the check that protects consumers, with changes planted into the real document. */
import { describe, expect, test } from 'vitest';
import { expandedDocument } from '../../contract/openapi/openapi.ts';
import { breaksBetween } from './breaking.ts';

const document = expandedDocument('https://api.example.com');

/** What the check reports about the document after a change. */
function breaksAfter(change: (draft: any) => void): string[] {
  const draft = structuredClone(document);
  change(draft);
  expect(draft).not.toEqual(document);
  return breaksBetween(document, draft);
}

type Changes = Record<string, [change: (draft: any) => void, sentence: string]>;

const operation = (draft: any, method = 'get', path = '/v1/customers') => draft.paths[path][method];
const schema = (draft: any, name: string) => draft.components.schemas[name];
const field = (draft: any, name: string, property: string) => schema(draft, name).properties[property];
const parameter = (draft: any, name: string) => operation(draft).parameters.find((one: any) => one.name === name);

const breaking: Changes = {
  'a path that is gone': [(draft) => delete draft.paths['/v1/me'], '#/paths: the path /v1/me is gone'],
  'an operation that is gone': [
    (draft) => delete draft.paths['/v1/customers/{customerId}'].patch,
    '/v1/customers/{customerId}: the operation patch is gone',
  ],
  'a different name of an operation': [
    (draft) => (operation(draft).operationId = 'findCustomers'),
    'GET /v1/customers: the operationId was "listCustomers" and is "findCustomers"',
  ],
  'a different way to authenticate': [
    (draft) => (draft.security = [{ oauth: [] }]),
    '#: the security was [{"apiKey":[]}] and is [{"oauth":[]}]',
  ],
  'a parameter that is gone': [
    (draft) => operation(draft).parameters.splice(0, 1),
    'GET /v1/customers: the parameter query limit is gone',
  ],
  'a new parameter that is required': [
    (draft) => operation(draft).parameters.push({ name: 'region', in: 'query', required: true, schema: {} }),
    'GET /v1/customers query region: is new and required',
  ],
  'a parameter that has become required': [
    (draft) => (parameter(draft, 'q').required = true),
    'GET /v1/customers query q: is required now',
  ],
  'a narrower bound of a parameter': [
    (draft) => (parameter(draft, 'limit').schema.maximum = 50),
    'GET /v1/customers query limit: maximum was 100 and is 50',
  ],
  'a different default': [
    (draft) => (parameter(draft, 'limit').schema.default = 10),
    'GET /v1/customers query limit: the default was 25 and is 10',
  ],
  'a different serialization of a parameter': [
    (draft) => (parameter(draft, 'metadata').explode = false),
    'GET /v1/customers query metadata: the serialization was ["deepObject",true] and is ["deepObject",false]',
  ],
  'a sort that is gone': [
    (draft) => parameter(draft, 'sort').schema.enum.pop(),
    'GET /v1/customers query sort: the value "-name" is gone',
  ],
  'a field that is no longer accepted': [
    (draft) => delete schema(draft, 'CustomerCreate').properties.notes,
    'POST /v1/customers body: the field notes is gone',
  ],
  'a field that has become required': [
    (draft) => (schema(draft, 'CustomerCreate').required = ['email']),
    'POST /v1/customers body .email: is required now',
  ],
  'a new field that is required': [
    (draft) => {
      schema(draft, 'ItemCreate').properties.weight = { type: 'string' };
      schema(draft, 'ItemCreate').required.push('weight');
    },
    'POST /v1/items body .weight: is required now',
  ],
  'a shorter text': [
    (draft) => (field(draft, 'CustomerUpdate', 'notes').maxLength = 100),
    'PATCH /v1/customers/{customerId} body .notes: maxLength was 5000 and is 100',
  ],
  'a bound where there was none': [
    (draft) => (field(draft, 'CustomerCreate', 'tags').minItems = 1),
    'POST /v1/customers body .tags: minItems was none and is 1',
  ],
  'a pattern where there was none': [
    (draft) => (field(draft, 'CustomerCreate', 'phone').pattern = '^[+]'),
    'POST /v1/customers body .phone: pattern was none and is "^[+]"',
  ],
  'null that is no longer accepted': [
    (draft) => (field(draft, 'CustomerCreate', 'notes').type = 'string'),
    'POST /v1/customers body .notes: no longer accepts null',
  ],
  'a media type that is no longer accepted': [
    (draft) => delete operation(draft, 'patch', '/v1/customers/{customerId}').requestBody.content['application/json'],
    'PATCH /v1/customers/{customerId} body: the media type application/json is gone',
  ],
  'a field of a response that is gone': [
    (draft) => delete schema(draft, 'Customer').properties.email,
    'GET /v1/customers/{customerId} 200: the field email is gone',
  ],
  'a field of a response that can be absent': [
    (draft) => schema(draft, 'Customer').required.splice(0, 1),
    'GET /v1/customers 200 .data[] .id: can now be absent',
  ],
  'a field of a response that can be null': [
    (draft) => (field(draft, 'Customer', 'name').type = ['string', 'null']),
    'GET /v1/customers/{customerId} 200 .name: can now be null',
  ],
  'a different type in a response': [
    (draft) => (field(draft, 'Item', 'unitPrice').type = 'number'),
    'GET /v1/items/{itemId} 200 .unitPrice: can now be number',
  ],
  'a longer text in a response': [
    (draft) => (field(draft, 'Customer', 'name').maxLength = 900),
    'GET /v1/customers/{customerId} 200 .name: maxLength was 200 and is 900',
  ],
  'a value of a response that is gone': [
    (draft) => field(draft, 'Proposal', 'status')['x-extensible-enum'].shift(),
    'GET /v1/proposals/{proposalId} 200 .status: the value "draft" is gone',
  ],
  'an object inside a record that can be something else': [
    (draft) => (field(draft, 'Customer', 'address').anyOf[0] = { type: 'string' }),
    'GET /v1/customers/{customerId} 200 .address: can now be string',
  ],
  'a header that is gone': [
    (draft) => delete operation(draft).responses[200].headers.Link,
    'GET /v1/customers 200: the header Link is gone',
  ],
  'a different status for success': [
    (draft) => (operation(draft).responses[206] = operation(draft).responses[200]),
    'GET /v1/customers: the response 206 is new, and no consumer expects it',
  ],
  'a response that is gone': [
    (draft) => delete operation(draft, 'post').responses[201],
    'POST /v1/customers: the response 201 is gone',
  ],
  'a different name of a record': [
    (draft) => {
      draft.components.schemas.Person = draft.components.schemas.Address;
      delete draft.components.schemas.Address;
      const text = JSON.stringify(draft).replaceAll('schemas/Address"', 'schemas/Person"');
      Object.assign(draft, JSON.parse(text));
    },
    '#/components/schemas: the component Address is gone',
  ],
};

const additions: Record<string, (draft: any) => void> = {
  'a new path': (draft) => (draft.paths['/v1/invoices'] = draft.paths['/v1/items']),
  'a new operation': (draft) => (draft.paths['/v1/items'].delete = draft.paths['/v1/items'].get),
  'a new optional parameter': (draft) => operation(draft).parameters.push({ name: 'region', in: 'query', schema: {} }),
  'a parameter that has become optional': (draft) =>
    (operation(draft, 'get', '/v1/customers/{customerId}').parameters[0].required = false),
  'a new field of a response': (draft) => (schema(draft, 'Customer').properties.score = { type: 'integer' }),
  'a new required field of a response': (draft) => {
    schema(draft, 'Customer').properties.score = { type: 'integer' };
    schema(draft, 'Customer').required.push('score');
  },
  'a new field that may be sent': (draft) => (schema(draft, 'CustomerCreate').properties.score = { type: 'integer' }),
  'a new value in a response': (draft) => field(draft, 'Proposal', 'status')['x-extensible-enum'].push('paused'),
  'a new value that may be sent': (draft) => parameter(draft, 'sort').schema.enum.push('email'),
  'a wider bound of what is sent': (draft) => (field(draft, 'CustomerCreate', 'notes').maxLength = 9000),
  'a narrower bound of what is read': (draft) => (field(draft, 'Customer', 'notes').maxLength = 100),
  'null that is accepted': (draft) => (field(draft, 'CustomerCreate', 'name').type = ['string', 'null']),
  'null that is no longer sent': (draft) => (field(draft, 'Customer', 'notes').type = 'string'),
  'a new header': (draft) => (operation(draft).responses[200].headers['X-New'] = { $ref: '#/components/headers/ETag' }),
  'a new failure': (draft) => (operation(draft).responses[410] = operation(draft).responses[400]),
  'different words and examples': (draft) => {
    draft.info.description = 'Another.';
    operation(draft).summary = 'Another.';
    field(draft, 'Customer', 'name').examples = ['Another'];
  },
  'a different server URL': (draft) => (draft.servers = [{ url: 'https://elsewhere.example.com' }]),
};

describe('a change that breaks consumers is detected', () => {
  test.each(Object.entries(breaking))('%s', (_, [change, sentence]) => {
    expect(breaksAfter(change)).toContain(sentence);
  });
});

describe('a change that the versioning promise allows is accepted', () => {
  test.each(Object.entries(additions))('%s', (_, change) => {
    expect(breaksAfter(change)).toEqual([]);
  });
});

test('the same document breaks nothing', () => {
  expect(breaksBetween(document, structuredClone(document))).toEqual([]);
});
