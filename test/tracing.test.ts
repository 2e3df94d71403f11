/** Traces, as a collector receives them over OTLP/HTTP. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTracing } from '../server/commands/serve/process.ts';
import { readConfig } from '../server/config.ts';
import { statementName } from '../server/database/observe-statements.ts';
import type { Tracing } from '../server/http/tracing.ts';
import { listen } from './ports.ts';
import { useWorld } from './world.ts';

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };
type ExportedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  attributes: Attribute[];
  status?: { code?: number };
};
type Exported = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: ExportedSpan[] }[] }[];
};

const [server, client] = [2, 3];

/** Starts a collector that keeps what it receives. */
async function startCollector() {
  const received: Exported[] = [];
  const paths: string[] = [];
  const collector = createServer((request, response) => {
    paths.push(request.url ?? '');
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      received.push(JSON.parse(text));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  return { url: `http://127.0.0.1:${await listen(collector)}`, received, paths, close: () => collector.close() };
}

const valueOf = ({ attributes }: { attributes: Attribute[] }, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  // In its own database, because the test changes a table.
  const options: { tracing?: Tracing | undefined; ownDatabase: true } = { ownDatabase: true };
  const before = process.env.OTEL_EXPORTER_OTLP_ENDPOINT;

  beforeAll(async () => {
    collector = await startCollector();
    // OpenTelemetry's exporter reads the variable directly.
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    options.tracing = await openTracing(readConfig());
  });
  const world = useWorld(options);
  afterAll(() => {
    if (before === undefined) delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    else process.env.OTEL_EXPORTER_OTLP_ENDPOINT = before;
    collector.close();
  });

  test('have a span per request, within its caller’s trace, and one per statement, without values', async () => {
    const { call } = await world.organization();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const created = await call('POST', '/v1/customers', { name: 'Traced Secretly' }, { traceparent });
    const listed = await call('GET', '/v1/customers', undefined, { traceparent });
    const { pool } = world.database;
    const unsampled = { traceparent: `00-${traceId.replace('4', '5')}-00f067aa0ba902b7-00` };
    expect((await call('GET', '/v1/customers', undefined, unsampled)).status).toBe(200);
    const failing = `begin raise exception using errcode = '53100'; end`;
    await pool.query(`create function broken() returns boolean language plpgsql as $$ ${failing} $$`);
    await pool.query('alter table items add constraint breaks check (broken()) not valid');
    const item = { type: 'service', name: 'Traced', unitPrice: '1' };
    const failed = await call('POST', '/v1/items', item, { traceparent });
    expect([created.status, listed.status, failed.status]).toEqual([201, 200, 503]);
    await options.tracing?.close();

    expect(new Set(collector.paths)).toEqual(new Set(['/v1/traces']));
    const spans = collector.received.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
    expect(spans.filter((span) => span.traceId.startsWith('5bf92f'))).toEqual([]);
    const ours = spans.filter((span) => span.traceId === traceId);
    // Code 2 is an error.
    const failures = ours.filter(({ status }) => status?.code === 2);
    expect(failures.map(({ name, kind }) => [name, kind]).toSorted()).toEqual([
      ['INSERT items', client],
      ['createItem', server],
    ]);
    expect(failures.map((span) => valueOf(span, 'db.response.status_code'))).toContain('53100');
    const requests = ours.filter(({ kind, name }) => kind === server && name !== 'createItem');
    const shown = requests.map((span) => ({
      name: span.name,
      parent: span.parentSpanId,
      status: Number(valueOf(span, 'http.response.status_code')),
      requestId: valueOf(span, 'proposal_api.request_id'),
      statements: ours
        .filter(({ kind, parentSpanId }) => kind === client && parentSpanId === span.spanId)
        .map(({ name }) => name)
        // Keys are re-read on a timer, so their statements may or may not occur.
        .filter((name) => name.endsWith(' customers')),
    }));
    const parent = '00f067aa0ba902b7';
    expect(shown).toEqual([
      {
        name: 'createCustomer',
        parent,
        status: 201,
        requestId: created.headers.get('x-request-id'),
        statements: ['INSERT customers'],
      },
      {
        name: 'listCustomers',
        parent,
        status: 200,
        requestId: listed.headers.get('x-request-id'),
        statements: ['SELECT customers'],
      },
    ]);
    const services = collector.received.flatMap(({ resourceSpans }) => resourceSpans.map(({ resource }) => resource));
    expect(new Set(services.map((service) => valueOf(service, 'service.name')))).toEqual(new Set(['proposal-api']));
    expect(JSON.stringify(collector.received)).not.toMatch(/Traced Secretly|ak_live_/);
  });
});

describe('tracing', () => {
  test.each([
    ['nothing is set', {}],
    ['the exporter is none', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }],
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }],
  ])('is off if %s', async (_, environment) => {
    expect(await openTracing(readConfig(environment))).toBeUndefined();
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_TRACES_SAMPLER: 'parentbased_always_off' }],
  ])('is on with %o', async (environment) => {
    const tracing = await openTracing(readConfig(environment));
    expect(tracing).toBeDefined();
    await tracing?.close();
  });

  test.each([
    [`select 'it''s from nowhere', "a" from "customers" as "t" where "t"."id" = 'x'`, 'SELECT customers'],
    [{ text: 'insert into members (id) values ($1)', values: ['x'] }, 'INSERT members'],
    ['update only "public"."items" set name = $1', 'UPDATE items'],
    ['select extract(epoch from e.at) from access_epoch e', 'SELECT access_epoch'],
    ['begin', 'BEGIN'],
  ])('names a statement by its verb and table: %o', (statement, name) => {
    expect(statementName(statement)).toBe(name);
  });
});
