/**
 * Compares every response of every server in a test run with the OpenAPI document: its status, its headers, its media type and
 * its body. It observes from inside the process, so tests and clients need no proxy.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { domainToASCII } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { mapSchema, mapValues } from '../contract/openapi/document.ts';
import type { Document, Operation, Response, Schema } from '../contract/openapi/document.ts';
import { expandedDocument } from '../contract/openapi/openapi.ts';

export type SentAnswer = {
  method: string;
  path: string;
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
};

/** What has differed since the last call; called after every test. */
export const takeBreaks = (): string[] => broken.splice(0);
const broken: string[] = [];

subscribe('http.server.request.start', (message) => {
  // Node documents the message of this channel.
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const { method = '', url = '' } = request;
  const path = url.split('?', 1)[0] ?? '';
  if (!path.startsWith('/v1/')) return;
  const { write, end } = response;
  const parts: Buffer[] = [];
  const note = ([chunk]: unknown[]) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) parts.push(Buffer.from(chunk));
  };
  response.write = function writing(this: ServerResponse, ...given: unknown[]) {
    note(given);
    return Reflect.apply(write, this, given);
  };
  response.end = function ending(this: ServerResponse, ...given: unknown[]) {
    note(given);
    const body = textOf(Buffer.concat(parts), response.getHeader('content-encoding'));
    // Only our application sets a request id there; tests also run third-party servers.
    const isOurs = Reflect.get(Object(Reflect.get(response, 'locals')), 'requestId') !== undefined;
    const { statusCode: status } = response;
    if (isOurs) broken.push(...breaksOf({ method, path, status, headers: response.getHeaders(), body }));
    return Reflect.apply(end, this, given);
  };
});

const decoders = new Map<unknown, (bytes: Buffer) => Buffer>([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
]);
const textOf = (bytes: Buffer, encoding: unknown): string => (decoders.get(encoding)?.(bytes) ?? bytes).toString();

/** One sentence for each difference between a response and the document. */
export function breaksOf(answer: SentAnswer): string[] {
  const { method, path, status } = answer;
  if (method === 'OPTIONS' && status < 400) return [];
  const found = operationAt(method, path);
  const at = `${method} ${path} ${status}`;
  const operation = found?.operation;
  // Outside all operations, a response must still be a problem, as the document's description says.
  if (!operation) return problemBreaks(answer).map((text) => `${at}: ${text}`);
  const response = operation.responses[status];
  if (!response) return [`${at}: the document has no such status of ${operation.operationId}`];
  const pointer = `#/paths/${escaped(found.template)}/${found.method}/responses/${status}`;
  return [...headerBreaks(answer, response), ...contentBreaks(answer, response, pointer)].map(
    (text) => `${at}: ${text}`,
  );
}

let prepared: { document: Document; validator: Ajv2020 } | undefined;

/** Created on the first response, because building it is slow. */
function prepare(): { document: Document; validator: Ajv2020 } {
  if (prepared) return prepared;
  const document = closed(expandedDocument('https://api.example.com'));
  const validator = new Ajv2020({ strict: false, allErrors: true });
  // Consumers must accept other values, but this release sends none.
  validator.addKeyword({ keyword: 'x-extensible-enum', macro: (values: unknown[]) => ({ enum: values }) });
  addFormats.default(validator);
  validator.addFormat('idn-email', (address) => domainToASCII(address.replace(/^[^\s@]+@/, '')).includes('.'));
  validator.addSchema({ ...document, $id: 'openapi' });
  prepared = { document, validator };
  return prepared;
}

/** Consumers accept unknown fields, but the service must not send undocumented ones. */
function closed(document: Document): Document {
  const close = (schema: Schema) =>
    mapSchema(schema, (part) =>
      part.properties && part.additionalProperties === undefined ? { ...part, additionalProperties: false } : part,
    );
  const copy = structuredClone(document);
  copy.components.schemas = mapValues(copy.components.schemas, close);
  for (const methods of Object.values(copy.paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const { content = {} } of Object.values(responses)) {
        for (const media of Object.values(content)) media.schema = close(media.schema);
      }
    }
  }
  return copy;
}

type Found = { operation: Operation; template: string; method: string };

function operationAt(method: string, path: string): Found | undefined {
  // HEAD is GET without the body.
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  for (const [template, methods] of Object.entries(prepare().document.paths)) {
    const form = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`);
    const operation = methods[name];
    if (operation && form.test(path)) return { operation, template, method: name };
  }
  return undefined;
}

const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');

export const rateHeaders = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];
/** Failures that can occur before the caller is known, and then have no rate-limit headers. */
const anonymous = new Set([400, 500, 503]);
/** Absent where the document says so, such as on the last page. */
const occasional = new Set(['Accept', 'Accept-Patch', 'Accept-Encoding', 'Link', 'Idempotency-Replayed']);

/** Headers of HTTP itself, which a document of operations does not list. */
const transport =
  /^(?:cache-control|connection|content-(?:encoding|length|type)|date|keep-alive|strict-transport-security|transfer-encoding|vary|x-content-type-options)$/;

function headerBreaks({ status, headers, body }: SentAnswer, response: Response): string[] {
  const { document } = prepare();
  const declared = new Set(Object.keys(response.headers).map((name) => name.toLowerCase()));
  const undeclared = Object.keys(headers).filter((name) => !declared.has(name) && !transport.test(name));
  const wrong = Object.keys(response.headers).flatMap((name) => {
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      const isExcused =
        occasional.has(name) ||
        (name === 'ETag' && status === 412 && !body.includes('currentEtag')) ||
        (anonymous.has(status) && rateHeaders.includes(name)) ||
        (name === 'Retry-After' && status === 409 && !body.includes('idempotency_in_progress'));
      return isExcused ? [] : [`the header ${name} is missing`];
    }
    const schema = document.components.headers[name]?.schema ?? {};
    const read = schema.type === 'integer' ? Number(value) : value;
    return complaints(`openapi#/components/headers/${name}/schema`, read).map((text) => `the header ${name} ${text}`);
  });
  return [...undeclared.map((name) => `the header ${name} is not in the document`), ...wrong];
}

function contentBreaks(answer: SentAnswer, response: Response, pointer: string): string[] {
  const { method, headers, body } = answer;
  const type = headers['content-type']?.split(';', 1)[0] ?? 'none';
  if (!response.content) return body === '' ? [] : ['there is a body'];
  const media = response.content[type];
  if (!media) return [`the media type is ${type}, not ${Object.keys(response.content).join(' or ')}`];
  if (method === 'HEAD') return [];
  const value: unknown = JSON.parse(body);
  const code: unknown = Reflect.get(Object(value), 'code');
  const codes = Object.keys(media.examples ?? {});
  return [
    ...complaints(`openapi${pointer}/content/${escaped(type)}/schema`, value),
    ...(codes.length > 0 && !codes.includes(String(code)) ? [`the document has no code ${String(code)} there`] : []),
  ];
}

function problemBreaks({ method, status, headers, body }: SentAnswer): string[] {
  const type = headers['content-type']?.split(';', 1)[0] ?? 'none';
  return [
    ...(headers['x-request-id'] === undefined ? ['the header X-Request-Id is missing'] : []),
    ...(type === 'application/problem+json' ? [] : [`the media type is ${type}`]),
    ...(method === 'HEAD' || status === 204 ? [] : complaints('openapi#/components/schemas/Problem', JSON.parse(body))),
  ];
}

/** The errors of a value against the schema at an address in the document. */
function complaints(address: string, value: unknown): string[] {
  const { validator } = prepare();
  // Ajv finds a pointer with braces only in its escaped form.
  const validate: ValidateFunction = validator.getSchema(address) ?? validator.compile({ $ref: encodeURI(address) });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
}
