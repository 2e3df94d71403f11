/** The n8n package: passes n8n's own linter and type check, and runs in n8n's own runtime against the real service. */
import { execFile } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildN8n } from '../../client/build/integrations.ts';
import { useBrowser } from '../browser/browser.ts';
import { hasChromium } from '../browser/chromium.ts';
import { importInto } from '../import/importing.ts';
import { proposal } from '../records.ts';
import { someone } from '../settings/visiting.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { endpointTo, until, webhookWorld } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { listen } from '../ports.ts';
import { agree } from './consent.ts';
import { startN8n } from './n8n-runtime.ts';
import type { Runtime } from './n8n-runtime.ts';

const require = createRequire(import.meta.url);
// A dependency of n8n's runtime.
const { ClientOAuth2 } = createRequire(require.resolve('n8n-core'))('@n8n/client-oauth2');
const world = useWorld(webhookWorld);
const screen = useBrowser();
let folder: string;
let n8n: Runtime;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-n8n-'));
  await buildN8n(folder, { baseUrl: world.url });
  await symlink(fileURLToPath(new URL('node_modules', import.meta.url)), join(folder, 'node_modules'));
  n8n = await startN8n(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const credentialsOf = ({ key }: Tenant) => ({ proposalApi: { serverUrl: `${world.url}/v1/`, apiKey: key } });
/** Runs one step of a workflow, and returns its items. */
const step = (
  tenant: Tenant,
  resource: string,
  operation: string,
  more: object = {},
  items?: Record<string, unknown>[],
): Promise<any[]> =>
  n8n.execute('proposal', { authentication: 'apiKey', resource, operation, ...more }, credentialsOf(tenant), items);

describe('the package for n8n', () => {
  test('passes the linter for community nodes', async () => {
    await writeFile(join(folder, 'eslint.config.cjs'), lintConfig);
    expect(await lint('package.json', 'contract.ts', 'nodes', 'credentials')).toEqual([]);
    const wrong = "{ displayName: 'customer id', name: 'id', type: 'string', default: '' }";
    await writeFile(join(folder, 'nodes/wrong.ts'), `export const properties: INodeProperties[] = [${wrong}];\n`);
    expect(await lint('nodes/wrong.ts')).toContain('n8n-nodes-base/node-param-display-name-miscased-id');
    await rm(join(folder, 'nodes/wrong.ts'));
  });

  test('compiles with the types of n8n', () => {
    const files = [
      ...require(join(folder, 'package.json')).n8n.nodes,
      ...require(join(folder, 'package.json')).n8n.credentials,
    ];
    const sources = files.map((file: string) => join(folder, file.replace('dist/', '').replace('.js', '.ts')));
    const program = ts.createProgram(sources, {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: ['node'],
      typeRoots: [fileURLToPath(new URL('../../node_modules/@types', import.meta.url))],
    });
    const messages = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    expect(messages).toEqual([]);
  });

  test('is loaded by n8n, and can test its credentials', async () => {
    expect(Object.keys(n8n.nodeTypes)).toEqual(['proposal', 'proposalTrigger', 'proposalWebhookTrigger']);
    for (const name of ['proposalApi', 'proposalOAuth2Api'])
      expect(n8n.credentialTypes[name]?.type.test.request).toMatchObject({ url: '/v1/me' });
  });

  test('creates customers item by item, with nested fields, lists and pairs, and updates them when it runs again', async () => {
    const tenant = await world.organization();
    const fields = {
      name: '={{ $json.name }}',
      email: '',
      addressCity: 'Berlin',
      addressCountry: 'de',
      tags: 'wholesale, net-30',
      metadata: { pair: [{ key: 'segment', value: 'retail' }] },
    };
    const upsert = { externalId: '={{ $json.id }}', additionalFields: fields };
    const people = [
      { id: 'crm-1', name: 'Ann' },
      { id: 'crm-2', name: 'Berta' },
    ];
    const made = await step(tenant, 'customer', 'upsert', upsert, people);
    expect(made).toMatchObject([
      { name: 'Ann', email: null, address: { city: 'Berlin', country: 'DE' }, tags: ['wholesale', 'net-30'] },
      { name: 'Berta', externalId: 'crm-2', metadata: { segment: 'retail' } },
    ]);
    const again = await step(tenant, 'customer', 'upsert', { externalId: 'crm-1', additionalFields: { name: 'Anna' } });
    expect(again).toMatchObject([{ id: made[0].id, name: 'Anna' }]);
    const changes = { notes: 'VIP', tags: '', clear: ['address.city', 'metadata'] };
    const update = { recordId: made[0].id, updateFields: changes };
    expect(await step(tenant, 'customer', 'update', update)).toMatchObject([
      { notes: 'VIP', address: { city: null, country: 'DE' }, metadata: {}, tags: ['wholesale', 'net-30'] },
    ]);
    const year = { recordId: made[0].id, updateFields: { tags: '={{ 2026 }}' } };
    expect(await step(tenant, 'customer', 'update', year)).toMatchObject([{ tags: ['2026'] }]);
    expect(await step(tenant, 'customer', 'get', { recordId: made[1].id })).toEqual([made[1]]);
    await expect(
      step(tenant, 'customer', 'create', { additionalFields: { externalId: 'crm-1', name: 'Ann' } }),
    ).rejects.toThrow('External ID already in use');
  });

  test('lists page by page, filters, searches and sorts', async () => {
    const tenant = await world.organization();
    await createMany(tenant, 105);
    const list = { returnAll: true, q: '', options: { sort: 'name' } };
    const all = await step(tenant, 'customer', 'getAll', list);
    expect(new Set(all.map(({ id }) => id)).size).toBe(105);
    expect(await step(tenant, 'customer', 'getAll', { returnAll: false, limit: 3, q: 'customer' })).toHaveLength(3);
    const metadata = { pair: [{ key: 'half', value: '1' }] };
    const filters = { metadata, ids: `${all[0].id}, ${all[1].id}`, createdSince: '2026-01-01T00:00:00' };
    const found = await step(tenant, 'customer', 'getAll', { ...list, filters });
    expect(found.map(({ name }) => name)).toEqual(['Customer 1']);
    const filtered = { ...list, filters: { updatedBefore: 'soon' } };
    await expect(step(tenant, 'customer', 'getAll', filtered)).rejects.toThrow('Invalid parameter');
    const entries = await n8n.options('proposal', 'recordId', { authentication: 'apiKey' }, credentialsOf(tenant));
    expect(entries).toHaveLength(100);
    expect(entries[0]).toEqual({ name: 'Customer 105', value: expect.stringMatching(/^cus_/) });
  });

  test('creates an item once, and finds it', async () => {
    const tenant = await world.organization();
    const item = {
      type: 'product',
      name: 'Chai',
      unitPrice: '18',
      externalId: 'sku-1',
      additionalFields: { taxable: false },
    };
    const [made] = await step(tenant, 'item', 'getOrCreate', item);
    expect(made).toMatchObject({ name: 'Chai', unitPrice: '18.00', taxable: false });
    expect(await step(tenant, 'item', 'getOrCreate', { ...item, name: 'Tea' })).toEqual([made]);
    expect(await step(tenant, 'item', 'getAll', { q: 'chai' })).toEqual([made]);
    expect(await step(tenant, 'item', 'get', { recordId: made.id })).toEqual([made]);
    expect(await step(tenant, 'item', 'create', { ...item, name: 'Tea' })).toMatchObject([{ name: 'Tea' }]);
  });

  test('reads proposals with their lines, and cannot write them', async () => {
    const tenant = await world.organization();
    await proposal(tenant, { number: 'P-1', status: 'draft' });
    const list = { filters: { status: ['draft', 'sent'] }, options: { include: ['lineItems'] } };
    const [found] = await step(tenant, 'proposal', 'getAll', list);
    expect(found).toMatchObject({ number: 'P-1', lineItems: expect.any(Array) });
    expect(await step(tenant, 'proposal', 'get', { recordId: found.id })).toMatchObject([{ number: 'P-1' }]);
    const { properties } = n8n.typeOf('proposal').description;
    const operations = properties.filter(({ name }: any) => name === 'operation');
    const ofProposals = operations.find(({ displayOptions }: any) => displayOptions.show.resource[0] === 'proposal');
    expect(ofProposals.options.map(({ value }: any) => value)).toEqual(['get', 'getAll']);
  });

  test('reports what the API says about a rejected value, and about a rejected key', async () => {
    const tenant = await world.organization();
    const wrong = step(tenant, 'customer', 'create', { additionalFields: { name: 'Ann', email: 'nobody' } });
    await expect(wrong).rejects.toMatchObject({ description: expect.stringMatching(/email/), httpCode: '422' });
    const stranger = { ...tenant, key: `${tenant.key.slice(0, -4)}0000` };
    const unknown = { description: expect.stringMatching(/key/), httpCode: '401' };
    await expect(step(stranger, 'customer', 'getAll')).rejects.toMatchObject(unknown);
    const parameters = { authentication: 'apiKey', event: 'customer.created' };
    await expect(n8n.poller('proposalTrigger', parameters, credentialsOf(stranger))()).rejects.toMatchObject(unknown);
    // An id cannot lead to another route.
    await expect(step(tenant, 'customer', 'get', { recordId: '../items' })).rejects.toMatchObject({ httpCode: '404' });
  });
});

describe.runIf(hasChromium)('Connect in n8n', () => {
  test('n8n’s own OAuth client gets a key, and the node works with it until it is revoked', async () => {
    const tenant = await world.organization({ name: 'Alfreds Futterkiste' });
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const redirectUri = 'https://n8n.example.com/rest/oauth2-credential/callback';
    const { properties } = n8n.credentialTypes.proposalOAuth2Api?.type ?? {};
    expect(properties[0]).toMatchObject({ name: 'useDynamicClientRegistration', default: true });
    // What n8n does for a credential with dynamic registration: discovery, registration, and PKCE.
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const server = Object(await (await fetch(`${world.url}/.well-known/oauth-authorization-server`)).json());
    const registration = JSON.stringify({ client_name: 'n8n', redirect_uris: [redirectUri] });
    const registered = Object(
      await (await fetch(server.registration_endpoint, { ...post, body: registration })).json(),
    );
    const oauth = new ClientOAuth2({
      clientId: registered.client_id,
      accessTokenUri: server.token_endpoint,
      authorizationUri: server.authorization_endpoint,
      redirectUri,
      scopes: [],
    });
    const verifier = randomBytes(32).toString('base64url');
    const challenge = { code_challenge: hash('sha256', verifier, 'base64url'), code_challenge_method: 'S256' };
    const page = await screen.open();
    const back = await agree(page, admin, oauth.code.getUri({ state: 'n8n', query: challenge }), redirectUri);
    const token = await oauth.code.getToken(back.href, { state: 'n8n', body: { code_verifier: verifier } });

    const credentials = { proposalOAuth2Api: { serverUrl: `${world.url}/`, oauthTokenData: token.data } };
    const create = { authentication: 'oAuth2', resource: 'customer', operation: 'create' };
    const parameters = { ...create, additionalFields: { name: 'Paula' } };
    expect(await n8n.execute('proposal', parameters, credentials)).toMatchObject([{ name: 'Paula' }]);
    const form = new URLSearchParams({ token: token.accessToken, client_id: registered.client_id });
    expect((await fetch(server.revocation_endpoint, { method: 'POST', body: form })).status).toBe(200);
    await expect(n8n.execute('proposal', parameters, credentials)).rejects.toMatchObject({
      description: expect.stringContaining('revoked'),
    });
    expect(screen.complaints).toEqual([]);
  });
});

/** Uses separate keys, because a key is limited to 100 requests a minute. */
async function createMany(tenant: Tenant, count: number): Promise<void> {
  const keys = [await tenant.anotherKey(), await tenant.anotherKey()];
  for (let index = 1; index <= count; index += 1) {
    const body = { name: `Customer ${index}`, metadata: { half: String(index % 2) } };
    await tenant.as(keys[index % 2] ?? '').call('POST', '/v1/customers', body);
  }
}

describe('the polling trigger', () => {
  const waitingFor = (tenant: Tenant, event: string) =>
    n8n.poller('proposalTrigger', { authentication: 'apiKey', event }, credentialsOf(tenant));
  const names = (records: any) => records?.map(({ name, number }: any) => name ?? number) ?? [];

  test('reports each change once, from the moment that it is activated', async () => {
    const tenant = await world.organization();
    const { body: ann } = await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const [updated, created] = [waitingFor(tenant, 'customer.updated'), waitingFor(tenant, 'customer.created')];
    expect([await updated(), await created()]).toEqual([null, null]);
    expect(names(await created('manual'))).toEqual(['Ann']);
    await createMany(tenant, 101);
    await tenant.call('PATCH', `/v1/customers/${ann.id}`, { name: 'Anna' });
    expect(names(await created())).toHaveLength(101);
    const changed = names(await updated());
    expect([changed.length, changed.at(-1)]).toEqual([102, 'Anna']);
    expect([await updated(), await created()]).toEqual([null, null]);
  });

  test('reports nothing of an import that ended before it was activated, whose records share one time', async () => {
    const tenant = await world.organization();
    const rows = ['Ann', 'Berta', 'Cleo'].map((name) => ({ externalId: name, name }));
    await importInto(world, tenant).rows('customers', ...rows);
    const [updated, created] = [waitingFor(tenant, 'customer.updated'), waitingFor(tenant, 'customer.created')];
    expect([await updated(), await created()]).toEqual([null, null]);
    expect([await updated(), await created()]).toEqual([null, null]);
    await importInto(world, tenant).rows('customers', { externalId: 'Dora', name: 'Dora' });
    expect([names(await updated()), names(await created())]).toEqual([['Dora'], ['Dora']]);
  });

  test('reports more changes than it may request in a minute, over several polls', async () => {
    const tenant = await world.organization();
    const credentials = credentialsOf(tenant);
    const created = n8n.poller('proposalTrigger', { authentication: 'apiKey', event: 'customer.created' }, credentials);
    expect(await created()).toBeNull();
    const rows = Array.from({ length: 10_100 }, (_, index) => ({ externalId: `C-${index}`, name: `C-${index}` }));
    await importInto(world, tenant).rows('customers', ...rows);
    const seen = new Set<string>();
    for (let poll = 0; poll < 6; poll += 1) {
      // As in the next minute.
      if (poll === 3) credentials.proposalApi.apiKey = await tenant.anotherKey();
      for (const name of names(await created())) seen.add(name);
    }
    expect(seen.size).toBe(rows.length);
    expect(await created()).toBeNull();
  });

  const backlog = async (tenant: Tenant) => {
    const rows = Array.from({ length: 2_001 }, (_, index) => ({ externalId: `C-${index}`, name: `C-${index}` }));
    await importInto(world, tenant).rows('customers', ...rows);
  };

  test('starts over when its event is changed, even in the middle of a backlog', async () => {
    const tenant = await world.organization();
    const parameters = { authentication: 'apiKey', event: 'customer.created' };
    const poll = n8n.poller('proposalTrigger', parameters, credentialsOf(tenant));
    expect(await poll()).toBeNull();
    await backlog(tenant);
    expect(await poll()).toHaveLength(2_000);
    parameters.event = 'item.created';
    expect(await poll()).toBeNull();
    await tenant.call('POST', '/v1/items', { type: 'product', name: 'Chai', unitPrice: '18.00' });
    expect(names(await poll())).toEqual(['Chai']);
  });

  test('reads a backlog again if the service does not accept its cursor', async () => {
    const [tenant, other] = [await world.organization(), await world.organization()];
    const credentials = credentialsOf(tenant);
    const poll = n8n.poller('proposalTrigger', { authentication: 'apiKey', event: 'customer.updated' }, credentials);
    expect(await poll()).toBeNull();
    await backlog(tenant);
    expect(await poll()).toHaveLength(2_000);
    await other.call('POST', '/v1/customers', { name: 'Ann' });
    credentials.proposalApi.apiKey = other.key;
    expect(names(await poll())).toEqual(['Ann']);
  });

  test('reports an accepted proposal once, even if it is imported later', async () => {
    const tenant = await world.organization();
    const { body: ann } = await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const sent = { customer: ann.id, sentAt: '2026-03-01T10:00:00.000Z', acceptedAt: '2026-03-03T14:05:12.000Z' };
    await proposal(tenant, { number: 'P-1', status: 'accepted', ...sent });
    const accepted = waitingFor(tenant, 'proposal.accepted');
    expect(await accepted()).toBeNull();
    await proposal(tenant, { number: 'P-2', status: 'accepted', ...sent });
    await proposal(tenant, { number: 'P-3', status: 'draft' });
    expect(names(await accepted())).toEqual(['P-2']);
    expect(await accepted()).toBeNull();
  });
});

describe('the webhook trigger', () => {
  test('starts a workflow only for a chosen event that the service signed', async () => {
    const tenant = await world.organization();
    const secrets: string[] = [];
    const results: { type: string; data: any }[] = [];
    const url = await receiving(async (request, response) => {
      // People get this secret when they create the endpoint, and enter it in n8n.
      const credentials = { proposalWebhookApi: { signingSecret: secrets[0] ?? '' } };
      const parameters = { events: ['customer.created'] };
      const data = await n8n.receive('proposalWebhookTrigger', parameters, credentials, request, response);
      results.push({ type: request.body.type, data: data.workflowData });
      if (!data.noWebhookResponse) response.end('ok');
    });
    // The part of a receiver that a new endpoint needs.
    await endpointTo(tenant, { url, secrets } as Receiver);
    const { body: ann } = await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    await until(() => results.length, 1);
    const json = { id: expect.stringMatching(/^evt_/), type: 'customer.created', timestamp: ann.createdAt };
    expect(results[0]?.data).toEqual([[{ json: { ...json, data: ann } }]]);
    await tenant.call('PATCH', `/v1/customers/${ann.id}`, { name: 'Anna' });
    await until(() => results.length, 2);
    expect(results[1]).toEqual({ type: 'customer.updated', data: undefined });
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
    const forged = { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
    const body = JSON.stringify({ type: 'customer.created', data: ann });
    expect((await fetch(url, { method: 'POST', headers: forged, body })).status).toBe(401);
    expect(results[2]?.data).toBeUndefined();
  });
});

/** A server that adds to requests and responses what n8n's own adds. */
async function receiving(receive: (request: any, response: any) => Promise<void>): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const rawBody = Buffer.concat(chunks);
    const status = (code: number) => Object.assign(response, { statusCode: code });
    const json = (body: object) => response.end(JSON.stringify(body));
    const known = Object.assign(request, { rawBody, body: JSON.parse(rawBody.toString()) });
    await receive(known, Object.assign(response, { status, json }));
  };
  const server = createServer((request, response) => void answer(request, response));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}/webhook`;
}

/** The rules that the package breaks. */
async function lint(...files: string[]): Promise<string[]> {
  const command = fileURLToPath(new URL('node_modules/eslint/bin/eslint.js', import.meta.url));
  // With NODE_ENV=test, the linter takes every file for a node in its own tests.
  const options = { cwd: folder, env: { ...process.env, NODE_ENV: '' }, maxBuffer: 2 ** 26 };
  const results = await promisify(execFile)(process.execPath, [command, '--format', 'json', ...files], options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout || error.stderr,
  );
  return JSON.parse(results).flatMap(({ messages }: any) =>
    messages.map(({ ruleId, message }: any) => ruleId ?? message),
  );
}

/** What n8n's own command configures, without its rules about imports and plain JavaScript. */
const lintConfig = `
const parser = require('@typescript-eslint/parser');
const { n8nCommunityNodesPlugin: community } = require('@n8n/eslint-plugin-community-nodes');
const base = require('eslint-plugin-n8n-nodes-base');

const languageOptions = { parser, parserOptions: { extraFileExtensions: ['.json'] } };
const off = (...rules) => Object.fromEntries(rules.map((rule) => ['n8n-nodes-base/' + rule, 'off']));
const ofCredentials = off('cred-class-field-documentation-url-miscased', 'cred-class-field-type-options-password-missing');
const ofNodes = off('node-class-description-inputs-wrong-regular-node', 'node-class-description-outputs-wrong', 'node-param-type-options-max-value-present');

module.exports = [
  { ...community.configs.recommended, files: ['**/*.ts', 'package.json'], languageOptions },
  { plugins: { 'n8n-nodes-base': base } },
  { files: ['package.json'], rules: base.configs.community.rules },
  { files: ['credentials/**/*.ts'], rules: { ...base.configs.credentials.rules, ...ofCredentials } },
  { files: ['nodes/**/*.ts'], rules: { ...base.configs.nodes.rules, ...ofNodes } },
];
`;
