/**
 * The configuration: for each variable, a value that it rejects and the message; names that are probably mistyped; and what
 * the variables that no other test sets change in the service.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { misspelledVariables } from '../server/commands/misspelled-variables.ts';
import { describedVariables, readConfig, UsageError } from '../server/config.ts';
import { openDatabase } from '../server/database/orm.ts';
import { urlOf } from '../server/http/listen.ts';
import { runCommand } from './command.ts';
import { cleanupsAfterAll, migratedDatabase } from './database.ts';
import { startServing } from './faults/processes.ts';
import { issueKeys } from './faults/service.ts';
import { freePort, listen } from './ports.ts';
import { startOpenIdProvider } from './settings/providers.ts';
import { useReceiver } from './webhooks/receiver.ts';

const samplers =
  'always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio';
const encoding = 'percent-encode its password, such as %23 for #';
const databaseForm = `must start with postgresql:// and name one host; ${encoding}`;

const rejected: [name: string, value: string, sentence: string][] = [
  ['PORT', 'http', 'must be a port number from 0 to 65535'],
  ['PORT', '65536', 'must be a port number from 0 to 65535'],
  ['PORT', '80.5', 'must be a port number from 0 to 65535'],
  ['PORT', '1e3', 'must be a port number from 0 to 65535'],
  ['PORT', '0x50', 'must be a port number from 0 to 65535'],
  ['PORT', '"80"', 'must have no quotes around its value'],
  ['PUBLIC_URL', 'api.example.com', 'must be an http(s) URL'],
  ['PUBLIC_URL', 'ftp://api.example.com', 'must be an http(s) URL'],
  ['PUBLIC_URL', 'https://api.example.com/'.padEnd(1001, 'a'), 'must have at most 1000 characters'],
  [
    'PUBLIC_URL',
    'https://ann:secret@api.example.com',
    'must have no user:password@, because it is shown to every caller',
  ],
  ['PUBLIC_URL', 'https://api.example.com/?a=b', 'must have no ?, # or unescaped %: paths are added to it'],
  ['PUBLIC_URL', 'https://api.example.com/#a', 'must have no ?, # or unescaped %: paths are added to it'],
  ['PUBLIC_URL', 'https://api.example.com/100%', 'must have no ?, # or unescaped %: paths are added to it'],
  ['DATABASE_URL', 'mysql://db', databaseForm],
  ['DATABASE_URL', 'postgresql://me:p@a:5432,b:5432/db', databaseForm],
  ['DATABASE_URL', 'postgresql://me:p/w@a:5432/db', databaseForm],
  ['DATABASE_URL', 'postgresql://me:p#w@a/db', databaseForm],
  ['DATABASE_POOLER_URL', 'pooler', databaseForm],
  ['DATABASE_POOLER_PREPARES', 'perhaps', 'must be true or false'],
  ['DATABASE_CONNECTIONS', '15', 'must be a whole number from 16 to 46'],
  ['DATABASE_CONNECTIONS', '47', 'must be a whole number from 16 to 46'],
  ['DATA_DIR', '~/data', 'must not begin with ~: write the whole path'],
  ['REDIS_URL', 'http://redis', `must be a URL that starts with redis:// or rediss://; ${encoding}`],
  ['REDIS_URL', 'redis://[', `must be a URL that starts with redis:// or rediss://; ${encoding}`],
  ['METRICS_PORT', '-1', 'must be a port number from 0 to 65535'],
  ['AUTH_SECRET', 'a'.repeat(31), 'must have at least 32 characters'],
  ['SMTP_URL', 'mail.example.com', `must be a URL that starts with smtp:// or smtps:// and a host; ${encoding}`],
  ['SMTP_URL', 'smtp://', `must be a URL that starts with smtp:// or smtps:// and a host; ${encoding}`],
  ['SMTP_URL', 'smtp://me:p#w@mail:587', `must be a URL that starts with smtp:// or smtps:// and a host; ${encoding}`],
  ['MAIL_FROM', 'me', 'must contain an email address'],
  ['MAIL_FROM', 'Acme <Acme Support>', 'must contain an email address'],
  ['OIDC_ISSUER', 'login.example.com', 'must be an http(s) URL'],
  ['OIDC_ISSUER', 'https://ann:secret@login.example.com', 'must have no user:password@'],
  ['OIDC_CLIENT_ID', "'acme'", 'must have no quotes around its value'],
  ['TRUSTED_PROXIES', '11', 'must be a whole number from 0 to 10'],
  ['TRUSTED_PROXIES', '0.5', 'must be a whole number from 0 to 10'],
  ['SECURITY_CONTACT', 'http://example.com/security', 'must be a URL that starts with https:// or mailto:'],
  ['SECURITY_CONTACT', 'security@example.com', 'must be a URL that starts with https:// or mailto:'],
  ['PLAN_CONTACT', 'xy', 'must have at least 3 characters'],
  ['PLAN_CONTACT', 'x'.repeat(201), 'must have at most 200 characters'],
  ['CONNECTIONS_PER_NETWORK', '0', 'must be a whole number from 1 to 1000000'],
  ['CONNECTIONS_PER_NETWORK', '1000001', 'must be a whole number from 1 to 1000000'],
  ['WEBHOOK_ALLOW', '10.1.0.0/16,10.2.0.0/33', 'must be networks such as 10.1.0.0/16, separated by commas'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be an http(s) URL'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector', 'must be an http(s) URL'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be otlp or none'],
  ['OTEL_TRACES_SAMPLER', 'sometimes', `must be one of ${samplers}`],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be a number from 0 to 1'],
  ['OTEL_SDK_DISABLED', 'maybe', 'must be true or false'],
];

/** The least and the most that is accepted, and every form. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  PORT: ['0', '65535'],
  PUBLIC_URL: ['http://x', 'https://api.example.com/'.padEnd(1000, 'a')],
  DATABASE_URL: [
    'postgres://me:p%40@db',
    'postgresql:///name?host=/run',
    'postgresql://me@/name',
    'postgresql://me:p%23@%2Frun/name',
    'postgresql://me:p@[::1]:5432/name',
  ],
  DATABASE_POOLER_PREPARES: ['true', 'false'],
  DATABASE_CONNECTIONS: ['16', '46'],
  REDIS_URL: ['redis://redis', 'rediss://redis:6380'],
  METRICS_PORT: ['0', '65535'],
  AUTH_SECRET: ['a'.repeat(32)],
  SMTP_URL: ['smtp://mail', 'smtps://me:p@mail:465'],
  MAIL_FROM: ['a@b', 'Acme <api@acme.example>'],
  TRUSTED_PROXIES: ['0', '10'],
  SECURITY_CONTACT: ['https://acme.example/security', 'mailto:security@acme.example'],
  PLAN_CONTACT: ['Ann', 'x'.repeat(200)],
  CONNECTIONS_PER_NETWORK: ['1', '1000000'],
  WEBHOOK_ALLOW: ['10.1.0.0/16, fd00::/8', '127.0.0.1,::1'],
  OTEL_TRACES_SAMPLER_ARG: ['0', '1e-3', '.5', '1'],
};

/** Variables that accept any text. */
const accepting = ['HOST', 'NODE_ENV', 'OIDC_CLIENT_SECRET'];

describe('the configuration', () => {
  test.each(rejected)('rejects %s=%s in one sentence that names it', (name, value, sentence) => {
    expect(() => readConfig({ [name]: value })).toThrow(new UsageError(`${name} ${sentence}`));
  });

  test.each(Object.entries(accepted))('accepts %s from the least to the most', (name, values) => {
    for (const value of values) expect(readConfig({ [name]: value })).toHaveProperty(name);
  });

  test('is tested with a rejected value for every variable that restricts its value', () => {
    const names = [...new Set(rejected.map(([name]) => name)), ...accepting];
    expect(names.toSorted()).toEqual(describedVariables.map(({ name }) => name).toSorted());
  });

  test('names every invalid variable, and those that must be set together', () => {
    expect(() => readConfig({ PORT: 'x', METRICS_PORT: 'y' })).toThrow(/^PORT must .*; METRICS_PORT must .*$/);
    for (const more of [{}, { OIDC_ISSUER: 'https://login.example' }, { OIDC_CLIENT_SECRET: 'y' }])
      expect(() => readConfig({ OIDC_CLIENT_ID: 'x', ...more })).toThrow(
        'Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together, or none of them',
      );
    expect(() => readConfig({ DATABASE_POOLER_URL: 'postgresql://pooler/x' })).toThrow(
      'DATABASE_POOLER_URL requires DATABASE_URL, which must point directly at the same database.',
    );
  });

  test('treats an empty variable as unset', () => {
    expect(readConfig({ PORT: '', REDIS_URL: '', METRICS_PORT: ' ', AUTH_SECRET: ' '.repeat(32) })).toEqual(
      readConfig({}),
    );
  });

  test('ignores spaces and line breaks around a value, as in a file from Windows or a mounted secret', () => {
    const given = { PORT: ' 80\r\n', OTEL_SDK_DISABLED: 'true\n', NODE_ENV: 'production\r' };
    expect(readConfig(given)).toEqual(readConfig({ PORT: '80', OTEL_SDK_DISABLED: 'true', NODE_ENV: 'production' }));
  });

  test.each([`${'a'.repeat(32)}\n`, `"${'a'.repeat(32)}"`])(
    'keeps AUTH_SECRET as it is, since any other text is another secret',
    (secret) => {
      expect(readConfig({ AUTH_SECRET: secret }).AUTH_SECRET).toBe(secret);
    },
  );

  test.each([
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://example.com/api//', 'https://example.com/api'],
    ['HTTPS://API.Example.com:443', 'https://api.example.com'],
    ['https://例え.example/ä', 'https://xn--r8jz45g.example/%C3%A4'],
  ])('shows the public URL %s as %s', (PUBLIC_URL, shown) => {
    expect(readConfig({ PUBLIC_URL })).toMatchObject({ PUBLIC_URL: shown });
  });

  test.each([
    ['127.0.0.1', 'localhost'],
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost'],
    ['::1', '[::1]'],
    ['10.1.2.3', '10.1.2.3'],
  ])('without a public URL, shows HOST=%s as %s', (HOST, name) => {
    expect(urlOf(HOST, 3000)).toBe(`http://${name}:3000`);
  });

  test.each([
    ['?sslmode=require', '?sslmode=verify-full'],
    ['?a=b&sslmode=verify-ca&c=d', '?a=b&sslmode=verify-full&c=d'],
    ['?sslmode=no-verify', '?sslmode=no-verify'],
    ['?uselibpqcompat=true&sslmode=require', '?uselibpqcompat=true&sslmode=require'],
  ])('treats %s as %s, so pg does not warn', (given, meant) => {
    const { DATABASE_URL } = readConfig({ DATABASE_URL: `postgresql://db/name${given}` });
    expect(DATABASE_URL).toBe(`postgresql://db/name${meant}`);
    const warn = vi.spyOn(process, 'emitWarning');
    expect(new pg.Client({ connectionString: DATABASE_URL }).ssl).not.toBe(false);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('warns about a name that is probably mistyped, and no other', () => {
    const warningOf = (name: string) => misspelledVariables([name, 'PORT']);
    const meant = {
      REDIS_ULR: 'REDIS_URL',
      DATABASE_URI: 'DATABASE_URL',
      PUBLIC_ULR: 'PUBLIC_URL',
      METRIC_PORT: 'METRICS_PORT',
      AUTH_SECRETS: 'AUTH_SECRET',
    };
    for (const [name, known] of Object.entries(meant))
      expect(warningOf(name)).toEqual([`Warning: ${name} is not a variable of this service; did you mean ${known}?`]);
    const others =
      'HOME PATH PORTAL HOSTNAME PGPORT PGHOST REDIS_PORT MAIL SSH_AUTH_SOCK OTEL_EXPORTER_OTLP_HEADERS npm_config_port';
    for (const name of others.split(' ')) expect(warningOf(name)).toEqual([]);
  });
});

describe('serve', () => {
  const cleanups = cleanupsAfterAll();

  /** Its own database, with a key of an organization that is now on the Free plan. */
  async function start(variables: NodeJS.ProcessEnv) {
    const { url: DATABASE_URL, drop } = await migratedDatabase();
    cleanups.push(drop);
    const database = await openDatabase({ url: DATABASE_URL });
    const { organization, admin, keys } = await issueKeys(database, 1);
    await database.orm.close();
    const run = async (...words: string[]) => (await runCommand(words, { DATABASE_URL, ...variables })).out.trim();
    await run('organizations', 'set-plan', organization.slug, 'free');
    const running = await startServing([], { DATABASE_URL, ...variables });
    cleanups.push(() => running.child.kill('SIGKILL'));
    return { ...running, key: keys[0], slug: organization.slug, by: ['--by', admin.email], run };
  }

  test('uses the contacts, servers, networks, ports and folders that it is given', async () => {
    const PORT = String(await freePort());
    // Without it, URLs start with http://localhost.
    const PUBLIC_URL = `http://127.0.0.1:${PORT}`;
    const { issuer, client, close } = await startOpenIdProvider(`${PUBLIC_URL}/settings/oidc/callback`);
    cleanups.push(close);
    const traced: (string | undefined)[] = [];
    const collector = createServer((request, response) => {
      traced.push(request.url);
      response.end('{}');
    });
    cleanups.push(() => collector.close());
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'proposal-api-test-'));
    cleanups.push(() => rm(DATA_DIR, { recursive: true }));
    const { key, output, end, slug, by, run } = await start({
      PORT,
      PUBLIC_URL,
      SECURITY_CONTACT: 'mailto:security@acme.example',
      PLAN_CONTACT: 'Ann in Accounts',
      SMTP_URL: 'smtp://127.0.0.1:1',
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
      TRUSTED_PROXIES: '1',
      WEBHOOK_ALLOW: '127.0.0.0/8',
      DATA_DIR,
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector)}`,
    });
    const read = async (path: string) => (await fetch(new URL(path, PUBLIC_URL))).text();
    await expect.poll(() => readdir(DATA_DIR)).toEqual(['uploads']);
    expect(await read(/Metrics: (\S+)/.exec(output.text)?.[1] ?? '')).toContain('http_requests_total');
    expect(await read('/.well-known/security.txt')).toContain('Contact: mailto:security@acme.example');
    expect(await read('/settings/forgot-password')).toContain('email you a link');
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.1' };
    const response = await fetch(`${PUBLIC_URL}/v1/me`, { headers });
    expect(await response.json()).toMatchObject({
      code: 'plan_required',
      detail: expect.stringContaining('Ann in Accounts'),
    });
    let target = new URL(PUBLIC_URL);
    const toProvider = async () => {
      const { headers: sent } = await fetch(`${PUBLIC_URL}/settings/oidc`, { redirect: 'manual' });
      target = new URL(sent.get('location') ?? '', PUBLIC_URL);
      return target.origin;
    };
    // On a busy machine, the provider may respond too late.
    await expect.poll(toProvider).toBe(issuer);
    expect(target.searchParams.get('client_id')).toBe(client.id);
    expect(target.searchParams.get('redirect_uri')).toBe(`${PUBLIC_URL}/settings/oidc/callback`);
    await run('organizations', 'set-plan', slug, 'team');
    const receiver = await useReceiver();
    const webhooks = (command: string, ...words: string[]) =>
      run('webhooks', command, '--organization', slug, ...words);
    const endpoint = ['--name', 'Local', '--url', receiver.url, '--events', 'item.created'];
    receiver.secrets.push(await webhooks('create', ...endpoint, ...by));
    await webhooks('test', JSON.parse(await webhooks('list', '--json'))[0].id, ...by);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await end('SIGTERM')).toBe(0);
    expect(output.text).not.toContain('TRUSTED_PROXIES');
    expect(traced).toContain('/v1/traces');
  });

  test('listens on HOST, closes connections beyond CONNECTIONS_PER_NETWORK, and warns of a provider that does not respond', async () => {
    const provider = { OIDC_ISSUER: 'http://127.0.0.1:1/of/acme/', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' };
    // Linux has many addresses of this kind, and connects to each of them from the first one.
    const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
    const { url, output } = await start({ HOST, CONNECTIONS_PER_NETWORK: '1', ...provider });
    const document = 'http://127.0.0.1:1/of/acme/.well-known/openid-configuration';
    await expect.poll(() => output.text).toContain(`the provider at OIDC_ISSUER does not respond at ${document}`);
    const open = () => connect(Number(new URL(url).port), HOST).on('error', () => undefined);
    const sockets = [open(), open(), open()];
    await expect.poll(() => output.text).toContain('127.0.0.1 has 1 connections');
    for (const socket of sockets) socket.destroy();
  });
});
