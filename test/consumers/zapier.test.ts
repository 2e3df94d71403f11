/** The package for Zapier, on Zapier's own platform core, run by its app tester against the real service. */
import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import zapier from 'zapier-platform-core';
import { buildZapier } from '../../client/build/integrations.ts';
import { useBrowser } from '../browser/browser.ts';
import { hasChromium } from '../browser/chromium.ts';
import { proposal } from '../records.ts';
import { someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { agree } from './consent.ts';

// It comes without types.
const require = createRequire(import.meta.url);
const schema = require('zapier-platform-schema');

const world = useWorld();
const screen = useBrowser();
const redirectUri = 'https://zapier.com/dashboard/auth/oauth/return/App1234CLIAPI/';
let folder: string;
/** The package as pushed: one for keys that people paste, one for Connect. */
let app: any;
let connecting: any;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-zapier-'));
  const registered = await fetch(`${world.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Zapier', redirect_uris: [redirectUri] }),
  });
  const { client_id: clientId } = Object(await registered.json());
  await buildZapier(join(folder, 'key'), { baseUrl: world.url });
  await buildZapier(join(folder, 'oauth'), { baseUrl: world.url, clientId });
  app = require(join(folder, 'key/index.js'));
  connecting = require(join(folder, 'oauth/index.js'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a step of a Zap with what a person entered. */
async function step(kind: 'triggers' | 'searches' | 'creates', key: string, { key: apiKey }: Tenant, inputData = {}) {
  return run(app[kind][key].operation.perform, { authData: { apiKey }, inputData });
}
const run = (perform: any, bundle: any, from = app): Promise<any> => zapier.createAppTester(from)(perform, bundle);

describe('the package for Zapier', () => {
  test('is accepted by Zapier, with either way to connect', () => {
    // As uploaded: a function becomes a placeholder with the number of its parameters.
    const uploaded = (from: object) =>
      JSON.stringify(from, (_, value) => (typeof value === 'function' ? `$func$${value.length}$f$` : value));
    for (const from of [app, connecting])
      expect(schema.validateAppDefinition(JSON.parse(uploaded(from))).errors).toEqual([]);
    const broken = uploaded(app).replace('"noun":"Customer"', '"noun":7');
    expect(schema.validateAppDefinition(JSON.parse(broken)).errors).not.toEqual([]);
  });

  test('connects with a key, and names the connection', async () => {
    const tenant = await world.organization({ name: 'Northwind' });
    const me = await run(app.authentication.test, { authData: { apiKey: tenant.key } });
    expect(me).toMatchObject({ label: expect.stringContaining('Northwind'), organization: { name: 'Northwind' } });
    const wrong = `${tenant.key.slice(0, -4)}0000`;
    await expect(run(app.authentication.test, { authData: { apiKey: wrong } })).rejects.toThrow(/key/);
  });

  test('triggers on new records, newest first, and on each change', async () => {
    const tenant = await world.organization();
    for (const name of ['Ann', 'Berta']) await tenant.call('POST', '/v1/customers', { name });
    const found = await step('triggers', 'customer_created', tenant);
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['Berta', 'Ann']);
    await tenant.call('PATCH', `/v1/customers/${found[1].id}`, { phone: '030-0076545' });
    const changed = await step('triggers', 'customer_updated', tenant);
    expect(changed.map(({ name }: { name: string }) => name)).toEqual(['Ann', 'Berta']);
    // The fields by which Zapier tells that it has not seen this version.
    const { outputFields } = app.triggers.customer_updated.operation;
    const primary = outputFields.filter((field: any) => field.primary).map((field: any) => field.key);
    expect(primary).toEqual(['id', 'updatedAt']);
  });

  test('triggers on an accepted proposal, with its lines if asked, and on a new item', async () => {
    const tenant = await world.organization();
    const times = { sentAt: '2026-03-01T10:00:00.000Z', acceptedAt: '2026-03-03T14:05:12.000Z' };
    const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    await proposal(tenant, { customer: customer.id, status: 'accepted', number: 'P-1', ...times });
    await proposal(tenant, { number: 'P-2', status: 'draft' });
    const found = await step('triggers', 'proposal_accepted', tenant, { include: ['lineItems'] });
    expect(found).toMatchObject([{ number: 'P-1', lineItems: expect.any(Array), customer: { name: 'Ann' } }]);
    await tenant.call('POST', '/v1/items', { type: 'product', name: 'Chai', unitPrice: '18' });
    expect(await step('triggers', 'item_created', tenant)).toMatchObject([{ name: 'Chai' }]);
    expect(await step('searches', 'get_proposal', tenant, { id: found[0].id })).toMatchObject([{ number: 'P-1' }]);
    expect(await step('searches', 'find_proposal', tenant, { status: ['draft', 'sent'] })).toMatchObject([
      { number: 'P-2' },
    ]);
  });

  test('creates a customer with nested fields, lists and pairs, and updates it when the step runs twice', async () => {
    const tenant = await world.organization();
    const input = { externalId: 'crm-7', name: 'Ann', email: 'ann@example.com', phone: '', tags: ['a', 'b'] };
    const more = { address__city: 'Berlin', address__country: 'de', metadata: { segment: 'retail' } };
    const made = await step('creates', 'create_or_update_customer', tenant, { ...input, ...more });
    const address = { city: 'Berlin', country: 'DE', line1: null };
    expect(made).toMatchObject({ ...input, phone: null, address, metadata: { segment: 'retail' } });
    const again = await step('creates', 'create_or_update_customer', tenant, { ...input, name: 'Anna' });
    expect(again).toMatchObject({ id: made.id, name: 'Anna', address });
    expect(await step('searches', 'find_customer', tenant, { email: 'ANN@example.com' })).toEqual([again]);
    expect(await step('searches', 'find_customer', tenant, { metadata: { segment: 'retail' } })).toEqual([again]);
    expect(await step('searches', 'find_customer', tenant, { email: 'nobody@example.com' })).toEqual([]);
    for (const id of ['cus_00000000000000000000000000', 'nobody', `${made.id},${made.id}`])
      expect(await step('searches', 'get_customer', tenant, { id })).toEqual([]);
    const update = { id: made.id, notes: 'VIP', email: '', clear: ['address.city', 'metadata'] };
    expect(await step('creates', 'update_customer', tenant, update)).toMatchObject({
      email: 'ann@example.com',
      notes: 'VIP',
      address: { city: null, country: 'DE' },
      metadata: {},
    });
    await expect(step('creates', 'create_customer', tenant, input)).rejects.toThrow(/external_id_taken/);
  });

  test.each([[[]], [['']], [['', null]]])('treats the list %j as not mapped', async (empty) => {
    const tenant = await world.organization();
    const made = await step('creates', 'create_customer', tenant, { name: 'Ann', tags: ['a', ...empty] });
    expect(made).toMatchObject({ tags: ['a'] });
    expect(await step('creates', 'update_customer', tenant, { id: made.id, tags: empty })).toEqual(made);
    expect(await step('searches', 'find_customer', tenant, { ids: empty, q: 'ann' })).toEqual([made]);
  });

  test('finds nothing if every filter is empty, rather than any record', async () => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    await proposal(tenant, { number: 'P-1', status: 'draft' });
    expect(await step('searches', 'find_customer', tenant, { email: '', metadata: {} })).toEqual([]);
    expect(await step('searches', 'find_proposal', tenant, { include: ['lineItems'] })).toEqual([]);
  });

  test('creates an item once, and finds it', async () => {
    const tenant = await world.organization();
    const input = { externalId: 'sku-1', type: 'product', name: 'Chai', unitPrice: '18', taxable: false };
    const made = await step('creates', 'create_item', tenant, input);
    expect(made).toMatchObject({ name: 'Chai', unitPrice: '18.00', taxable: false });
    expect(await step('creates', 'get_or_create_item', tenant, { ...input, name: 'Tea' })).toEqual(made);
    expect(await step('searches', 'find_item', tenant, { q: 'chai' })).toEqual([made]);
    expect(await step('searches', 'get_item', tenant, { id: made.id })).toEqual([made]);
  });

  test('reports what the API says about a rejected value', async () => {
    const tenant = await world.organization();
    const input = { externalId: 'crm-7', name: 'Ann', email: 'nobody' };
    await expect(step('creates', 'create_customer', tenant, input)).rejects.toThrow(/e-?mail/);
  });
});

describe.runIf(hasChromium)('Connect in Zapier', () => {
  test('gives Zapier a key that the person never sees, and that works until it is revoked', async () => {
    const tenant = await world.organization({ name: 'Alfreds Futterkiste' });
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const { authorizeUrl, getAccessToken } = connecting.authentication.oauth2Config;
    // What Zapier does for an app with enablePkce.
    const verifier = randomBytes(32).toString('base64url');
    const inputData = { redirect_uri: redirectUri, state: 'zap', code_verifier: verifier };
    const consent = new URL(await run(authorizeUrl, { inputData }, connecting));
    consent.searchParams.set('code_challenge', hash('sha256', verifier, 'base64url'));
    consent.searchParams.set('code_challenge_method', 'S256');

    const page = await screen.open();
    const back = await agree(page, admin, consent.href, redirectUri);
    expect(back.searchParams.get('state')).toBe('zap');
    const code = back.searchParams.get('code');
    const token = await run(getAccessToken, { inputData: { ...inputData, code } }, connecting);
    expect(token.access_token).toMatch(/^ak_live_[0-9a-f]{64}$/);

    const bundle = { authData: token, inputData: { name: 'Paula' } };
    expect(await run(connecting.authentication.test, bundle, connecting)).toMatchObject({
      label: expect.stringContaining('Zapier'),
    });
    const { perform } = connecting.creates.create_customer.operation;
    expect(await run(perform, bundle, connecting)).toMatchObject({ name: 'Paula' });
    await expect(run(getAccessToken, { inputData: { ...inputData, code } }, connecting)).rejects.toThrow(/used before/);
    // A code that is used twice revokes its key.
    await expect(run(perform, bundle, connecting)).rejects.toThrow(/revoked/);
    expect(screen.complaints).toEqual([]);
  });
});
