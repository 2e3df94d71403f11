/** The Webhooks pages: who may use them, what they show, and what they never show again. */
import { describe, expect, test } from 'vitest';
import { createDestinations } from '../../server/outgoing/addresses.ts';
import { changeEndpoint, createEndpoint, maximumEndpoints } from '../../server/webhooks/endpoints.ts';
import { listEndpoints } from '../../server/webhooks/log.ts';
import { auditLog, formIn, signIn, someone } from '../settings/visiting.ts';
import type { Visit } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { parts, typesOf, until, webhookWorld } from './scene.ts';

const world = useWorld(webhookWorld);
const path = '/settings/webhooks';
const secretForm = /whsec_[A-Za-z0-9+/=]{44}/;

async function scene(): Promise<{ tenant: Tenant; visiting: Visit }> {
  const tenant = await world.organization();
  return { tenant, visiting: await signIn(world, await someone(world, tenant, 'admin')) };
}

const create = async (visiting: Visit, fields: Record<string, string>, csrfToken?: string) =>
  visiting.post(path, { ...fields, csrfToken: csrfToken ?? (await visiting.csrfToken()) });

describe('an admin', () => {
  test('creates an endpoint, sees its secret once, tests it, and sees what was sent', async () => {
    const { tenant, visiting } = await scene();
    const receiver = await useReceiver();
    const token = await visiting.csrfToken();
    const fields = { name: 'Zap', url: receiver.url, 'event customer.created': 'on' };
    const created = await create(visiting, fields, token);
    expect(created.status).toBe(201);
    const [secret = ''] = secretForm.exec(created.text) ?? [];
    receiver.secrets.push(secret);
    expect((await create(visiting, fields, token)).text).toContain('No second one was created.');
    const list = await visiting.get(path);
    expect(list.text).toContain(receiver.url);
    expect(list.text).not.toMatch(secretForm);
    const [, endpoint = ''] = /href="(\/settings\/webhooks\/whe_[0-9a-z]+)"/.exec(list.text) ?? [];
    const sent = await visiting.post(`${endpoint}/test`, { csrfToken: await visiting.csrfToken() });
    expect(sent.location).toBe(`${endpoint}?done=sent`);
    await until(() => typesOf(receiver), ['endpoint.test']);
    await until(async () => /Delivered<\/span>/.test((await visiting.get(endpoint)).text), true);
    const { text } = await visiting.get(endpoint);
    expect(text).toContain('This is a test.');
    // Even if nothing in the list has failed: older deliveries may have.
    expect(text).toContain('Resend everything that failed since 00:00 UTC on');
    const [, event = ''] = /name="event" value="(evt_[0-9a-z]+)"/.exec(text) ?? [];
    await visiting.post(`${endpoint}/resend`, { event, csrfToken: await visiting.csrfToken() });
    await until(() => typesOf(receiver), ['endpoint.test', 'endpoint.test']);
    const csrfToken = await visiting.csrfToken();
    for (const [since, status, location] of [
      ['2026-03-01', 303, `${endpoint}?done=nothing`],
      ['yesterday', 422, null],
      ['2026-02-31', 422, null],
      ['0000-01-01', 422, null],
    ] as const)
      expect(await visiting.post(`${endpoint}/resend-failed`, { since, csrfToken })).toMatchObject({
        status,
        location,
      });
    expect((await visiting.get(`${endpoint}?done=nothing`)).text).toContain(
      'No event has failed since then. Events that are waiting will be sent automatically.',
    );
    const replaced = await visiting.post(`${endpoint}/secret`, {
      overlap: 'now',
      csrfToken: await visiting.csrfToken(),
    });
    expect(secretForm.exec(replaced.text)?.[0]).not.toBe(secret);
    for (const action of ['off', 'on', 'remove'])
      await visiting.post(`${endpoint}/${action}`, { csrfToken: await visiting.csrfToken() });
    expect((await visiting.get(endpoint)).status).toBe(404);
    expect(await auditLog(world, tenant)).toEqual([
      'key_created test',
      'webhook_created Zap',
      'webhook_tested Zap',
      'webhook_resent Zap',
      'webhook_resent Zap',
      'webhook_secret_replaced Zap',
      'webhook_switched_off Zap',
      'webhook_switched_on Zap',
      'webhook_removed Zap',
    ]);
  });

  test('sees the beginning of a long body: those of fifty long proposals would fill the memory', async () => {
    const { tenant, visiting } = await scene();
    const receiver = await useReceiver();
    const created = await create(visiting, { name: 'Zap', url: receiver.url, 'event customer.created': 'on' });
    receiver.secrets.push(secretForm.exec(created.text)?.[0] ?? '');
    const [, endpoint = ''] =
      /href="(\/settings\/webhooks\/whe_[0-9a-z]+)"/.exec((await visiting.get(path)).text) ?? [];
    await visiting.post(`${endpoint}/test`, { csrfToken: await visiting.csrfToken() });
    await until(async () => /Delivered<\/span>/.test((await visiting.get(endpoint)).text), true);
    const shownOf = async (length: number) => {
      const text = `update webhook_deliveries set request = repeat('x', $2) where organization_id = $1`;
      await world.database.pool.query(text, [tenant.organization.id, length]);
      return /<code>(x+[^<]*)<\/code>/.exec((await visiting.get(endpoint)).text)?.[1];
    };
    expect(await shownOf(1_000)).toBe('x'.repeat(1_000));
    expect(await shownOf(50_000)).toBe(`${'x'.repeat(20_000)}…`);
  });

  test('sees which endpoint fails, which needs the Team plan, and that there is no room for another', async () => {
    const { tenant, visiting } = await scene();
    const { pool } = world.database;
    const fields = { url: (await useReceiver()).url, 'event item.created': 'on' };
    for (let index = 0; index < maximumEndpoints; index += 1) {
      expect((await visiting.get(path)).text).toContain('Create an endpoint');
      await create(visiting, { ...fields, name: `Endpoint ${index}` });
    }
    const full = (await visiting.get(path)).text;
    expect(full).not.toContain('Create an endpoint');
    expect(full).toContain('All 10 endpoints are in use. Remove one to create another.');
    expect(full).not.toContain('Failing');
    const failing = `update webhook_endpoints set failing_since = now() where organization_id = $1 and name = 'Endpoint 3'`;
    await pool.query(failing, [tenant.organization.id]);
    expect((await visiting.get(path)).text.match(/Failing<[^>]+> <small>since/g)).toHaveLength(1);
    await pool.query(`update organizations set plan = 'free' where id = $1`, [tenant.organization.id]);
    expect((await visiting.get(path)).text.match(/Needs Team/g)).toHaveLength(maximumEndpoints);
  });

  test('sees that the events of an endpoint that is off are waiting', async () => {
    const { visiting } = await scene();
    const receiver = await useReceiver();
    receiver.respond((response) => void response.writeHead(410).end());
    const created = await create(visiting, { name: 'Zap', url: receiver.url, 'event customer.created': 'on' });
    receiver.secrets.push(secretForm.exec(created.text)?.[0] ?? '');
    const [, endpoint = ''] =
      /href="(\/settings\/webhooks\/whe_[0-9a-z]+)"/.exec((await visiting.get(path)).text) ?? [];
    await visiting.post(`${endpoint}/test`, { csrfToken: await visiting.csrfToken() });
    await until(async () => (await visiting.get(endpoint)).text.includes('It responded with 410 Gone.'), true);
    const { text } = await visiting.get(endpoint);
    expect(text).toContain('Waiting</span>');
    expect(text).not.toContain('Will be sent again');
  });

  test('sees what is wrong with the URL, name or events, and what was typed', async () => {
    const { visiting } = await scene();
    for (const [fields, sentence] of [
      [
        { name: 'E', url: 'https://10.0.0.1/', 'event item.created': 'on' },
        'Webhooks are sent to public addresses only.',
      ],
      [{ name: 'E', url: 'ftp://example.com', 'event item.created': 'on' }, 'Enter a URL that starts with https://.'],
      [{ name: '', url: 'https://10.0.0.1/', 'event item.created': 'on' }, 'Enter a name.'],
      [{ name: 'E', url: 'https://example.com/' }, 'Choose at least one event.'],
      [{ name: 'E', url: 'https://example.com/', 'event customer.deleted': 'on' }, 'There is no event'],
    ] as const) {
      const { status, text } = await create(visiting, fields);
      expect([status, text.includes(sentence)]).toEqual([422, true]);
      // The page focuses the invalid field, which refers to its error message.
      expect(text.match(/<(?:input|select)[^>]* autofocus/g)).toHaveLength(1);
      const [, problem] = /<input[^>]* autofocus aria-describedby="(\S+-problem)/.exec(text) ?? [];
      expect(text).toMatch(new RegExp(`id="${problem}"[^>]*>[^<]*${sentence}`));
      expect(text).toContain(`value="${fields.url}"`);
    }
    expect((await visiting.get(path)).text).toContain('There are no endpoints yet.');
  });
});

test('a form keeps what another admin has changed since it was opened', async () => {
  const { tenant, visiting } = await scene();
  const another = await signIn(world, await someone(world, tenant, 'admin'));
  const fields = {
    name: 'Zap',
    url: 'https://93.184.216.34/old',
    'event item.created': 'on',
    'event item.updated': 'on',
  };
  await create(visiting, fields);
  const [, endpoint = ''] = /href="(\/settings\/webhooks\/whe_[0-9a-z]+)"/.exec((await visiting.get(path)).text) ?? [];
  const change = `${endpoint}/change`;
  const [shown, theirs] = [formIn(await visiting.get(endpoint), change), formIn(await another.get(endpoint), change)];
  const { 'event item.updated': _, ...fewer } = theirs;
  await another.post(change, { ...fewer, url: 'https://93.184.216.34/new' });
  const changed = await visiting.post(change, { ...shown, name: 'Zapier', 'event customer.created': 'on' });
  expect(changed.location).toBe(`${endpoint}?done=changed`);
  expect(formIn(await visiting.get(endpoint), change)).toMatchObject({
    name: 'Zapier',
    url: 'https://93.184.216.34/new',
  });
  const [stored] = await listEndpoints(tenant.em());
  expect(stored?.events.toSorted()).toEqual(['customer.created', 'item.created']);
});

describe('without permission', () => {
  test('a member can neither see nor change endpoints, and the attempt is in the audit log', async () => {
    const { tenant } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    const refused = await visiting.get(path);
    expect(refused.status).toBe(403);
    expect(refused.text).toMatch(
      /aria-current="page"\s*>Webhooks[\s\S]*Only admins of the organization can manage webhooks/,
    );
    const answer = await create(visiting, { name: 'Mine', url: 'https://example.com/', 'event item.created': 'on' });
    expect(answer.status).toBe(403);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'webhook_created Mine rejected: role']);
  });
});

describe('while the host of an endpoint is looked up', () => {
  const fields = { name: 'Slow', url: 'https://receiver.example/', events: ['item.created'] };

  function slowLookup() {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const destinations = createDestinations([], async () => {
      begun.resolve();
      await ended.promise;
      return [{ address: '93.184.216.34', family: 4 }];
    });
    return { begun: begun.promise, end: ended.resolve, parts: { ...parts, destinations } };
  }

  test('the API of its organization keeps working', async () => {
    const { em, admin, client } = await world.organization();
    let id = '';
    for (const save of [createEndpoint, changeEndpoint]) {
      const lookup = slowLookup();
      const saving = save(em(), admin, { ...fields, id }, lookup.parts);
      await lookup.begun;
      expect(await client.customers.create({ name: 'Ana' })).toMatchObject({ name: 'Ana' });
      lookup.end();
      const saved = await saving;
      ({ id } = 'endpoint' in saved ? saved.endpoint : saved);
    }
  });

  test('a change by someone else is kept', async () => {
    const { em, admin } = await world.organization();
    const url = 'https://93.184.216.34/';
    const { id } = (await createEndpoint(em(), admin, { ...fields, url }, parts)).endpoint;
    const lookup = slowLookup();
    const changing = changeEndpoint(em(), admin, { id, url: fields.url }, lookup.parts);
    await lookup.begun;
    await changeEndpoint(em(), admin, { id, name: 'Renamed', events: ['item.updated'] }, parts);
    lookup.end();
    expect(await changing).toMatchObject({ name: 'Renamed', url: fields.url, events: ['item.updated'] });
  });
});
