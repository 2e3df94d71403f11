/** A repeated create creates one record. */
import { describe, expect, test } from 'vitest';
import { IdempotencyKey } from '../../server/entities/idempotency-key.ts';
import { bodyExample, creates, nameFieldOf } from '../contract.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { storeReferred } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
// In its own database, so that no other test's statement is taken for one that waits.
const world = useWorld({ ownDatabase: true, clock: () => (nowMs += 1000) });
const count = async (tenant: Tenant, path: string) => (await tenant.call('GET', `${path}?limit=100`)).body.data.length;

test('every create accepts an Idempotency-Key', () => {
  expect(creates.length).toBeGreaterThanOrEqual(2);
  for (const { operation } of creates)
    expect(operation.parameters.map(({ name }) => name)).toContain('Idempotency-Key');
});

for (const create of creates) {
  const { path } = create;
  const nameField = nameFieldOf(create);
  // Without unique values: each test sends its own.
  const body = {
    ...bodyExample(create),
    externalId: undefined,
    sku: undefined,
    [nameField]: 'Once',
    metadata: { b: '2', a: '1', '10': 'x' },
  };
  describe(`POST ${path} with an Idempotency-Key`, () => {
    async function organization() {
      const tenant = await world.organization();
      await storeReferred(tenant, body);
      return tenant;
    }
    const post = (tenant: Tenant, key: string, sent: unknown = body, query = '') =>
      tenant.call('POST', path + query, sent, { 'idempotency-key': key });

    test('a repeat returns the first response, with fresh rate limit headers and a fresh request id', async () => {
      const tenant = await organization();
      const first = await post(tenant, 'key-1');
      const again = await post(tenant, '"key-1"', Object.fromEntries(Object.entries(body).reverse()));
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.text).toBe(first.text);
      for (const name of ['etag', 'location']) expect(again.headers.get(name)).toBe(first.headers.get(name));
      expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      expect(Number(again.headers.get('x-ratelimit-remaining'))).toBeLessThan(
        Number(first.headers.get('x-ratelimit-remaining')),
      );
      expect(await count(tenant, path)).toBe(1);
      const swapped = await post(tenant.as(await tenant.anotherKey()), 'key-1');
      expect(swapped.text).toBe(first.text);
    });

    test('a different body is 422, and another organization is unaffected', async () => {
      const [tenant, other] = [await organization(), await organization()];
      await post(tenant, 'k');
      expect((await post(tenant, 'k', { ...body, [nameField]: 'Twice' })).body).toMatchObject({
        status: 422,
        code: 'idempotency_key_reused',
      });
      expect((await post(other, 'k')).headers.get('idempotency-replayed')).toBeNull();
      expect([await count(tenant, path), await count(other, path)]).toEqual([1, 1]);
    });

    test('the same key belongs to another request at another path', async () => {
      const tenant = await organization();
      await post(tenant, 'k');
      for (const other of creates.filter((one) => one.path !== path)) {
        const { status, headers } = await tenant.call('POST', other.path, bodyExample(other), {
          'idempotency-key': 'k',
        });
        expect([status, headers.get('idempotency-replayed')]).toEqual([201, null]);
      }
    });

    test('while it is in progress, a repeat is 409, and another organization is unaffected', async () => {
      const [tenant, other] = [await organization(), await organization()];
      const holder = await patientConnection(world.database.pool);
      await holder.query('begin');
      // A new record refers to it.
      await holder.query('select from organizations where id = $1 for update', [tenant.organization.id]);
      const first = post(tenant, 'k');
      await expect.poll(() => waitingStatements(world.database), { interval: 5 }).not.toEqual([]);
      expect((await post(tenant, 'k')).body).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
      expect((await post(other, 'k')).status).toBe(201);
      await holder.query('commit');
      holder.release();
      expect((await first).status).toBe(201);
    });

    test('a failure is not stored', async () => {
      const tenant = await organization();
      expect((await post(tenant, 'k', { ...body, [nameField]: 5 })).status).toBe(422);
      expect((await post(tenant, 'k')).status).toBe(201);
    });

    test('50 concurrent requests create one record; each response is its 201 or a 409', async () => {
      const tenant = await organization();
      const responses = await Promise.all(Array.from({ length: 50 }, () => post(tenant, 'same')));
      const created = responses.filter(({ status }) => status === 201);
      expect(created.length).toBeGreaterThan(0);
      expect(new Set(created.map(({ text }) => text)).size).toBe(1);
      for (const response of responses.filter(({ status }) => status !== 201)) {
        expect(response.body).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
        expect(response.headers.get('retry-after')).toBe('1');
      }
      expect(await count(tenant, path)).toBe(1);
    });

    test('the key expires after 24 hours', async () => {
      const tenant = await organization();
      await post(tenant, 'old');
      const em = tenant.em();
      (await em.findOneOrFail(IdempotencyKey, { key: 'old' })).createdAt = new Date(
        Date.now() - 86_400_000,
      ).toISOString();
      await em.flush();
      const again = await post(tenant, 'old', { ...body, [nameField]: 'Another' });
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
    });

    test('an invalid key is rejected', async () => {
      const tenant = await organization();
      for (const key of ['', '""', 'x'.repeat(256), 'é']) {
        const response = await post(tenant, key);
        expect(response.body).toMatchObject({
          status: 400,
          code: 'invalid_header',
          errors: [{ in: 'header', field: 'idempotency-key', pointer: null }],
        });
      }
    });

    test('20 concurrent creates with the same externalId create one record, and the conflicts name it', async () => {
      const tenant = await organization();
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          tenant.call('POST', path, { ...body, [nameField]: `n${index}`, externalId: 'E' }),
        ),
      );
      const [created, ...others] = responses.filter(({ status }) => status === 201);
      expect(others).toEqual([]);
      for (const { body: rejected } of responses.filter((response) => response !== created)) {
        expect(rejected).toMatchObject({ status: 409, code: 'external_id_taken', existingId: created?.body.id });
      }
      const returned = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          tenant.call('POST', `${path}?onConflict=return`, { ...body, [nameField]: `r${index}`, externalId: 'F' }),
        ),
      );
      expect(returned.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(returned.filter(({ status }) => status === 200)).toHaveLength(19);
      expect(new Set(returned.map(({ text }) => text)).size).toBe(1);
    });

    test('onConflict=return returns the stored record unchanged, even with an Idempotency-Key, and requires an externalId', async () => {
      const tenant = await organization();
      const first = await tenant.call('POST', path, { ...body, externalId: 'E' });
      const second = await post(tenant, 'k', { ...body, [nameField]: 'Other', externalId: 'E' }, '?onConflict=return');
      expect([second.status, second.text, second.headers.get('location')]).toEqual([200, first.text, null]);
      const replayed = await post(
        tenant,
        'k',
        { ...body, [nameField]: 'Other', externalId: 'E' },
        '?onConflict=return',
      );
      expect([replayed.status, replayed.headers.get('idempotency-replayed'), replayed.headers.get('etag')]).toEqual([
        200,
        'true',
        first.headers.get('etag'),
      ]);
      const together = await Promise.all(
        Array.from({ length: 50 }, () => post(tenant, 'same', { ...body, externalId: 'E' }, '?onConflict=return')),
      );
      const fresh = together.filter(({ status, headers }) => status === 200 && !headers.has('idempotency-replayed'));
      expect(fresh).toHaveLength(1);
      // onConflict is part of the request.
      const otherwise = await post(tenant, 'k', { ...body, [nameField]: 'Other', externalId: 'E' });
      expect(otherwise.body).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
      expect((await tenant.call('POST', `${path}?onConflict=return`, body)).body).toMatchObject({
        status: 400,
        code: 'invalid_parameter',
      });
      expect((await tenant.call('POST', `${path}?onConflict=retrun`, body)).body.errors[0].suggestion).toBe('return');
    });
  });
}

describe('POST /v1/customers?onConflict=update', () => {
  const upsert = (tenant: Tenant, body: object, headers?: Record<string, string>) =>
    tenant.call('POST', '/v1/customers?onConflict=update', { externalId: 'E', ...body }, headers);

  test('merges the body into the existing record and keeps unmapped fields', async () => {
    const tenant = await world.organization();
    const first = await upsert(tenant, {
      name: 'A',
      phone: '12345',
      address: { city: 'X', country: 'DE' },
      metadata: { a: '1' },
      tags: ['t'],
    });
    expect(first.status).toBe(201);
    const second = await upsert(tenant, {
      phone: '',
      email: 'a@b.example',
      address: { line1: 'L', city: '' },
      metadata: { b: '2' },
    });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      id: first.body.id,
      name: 'A',
      phone: '12345',
      email: 'a@b.example',
      metadata: { a: '1', b: '2' },
      tags: ['t'],
    });
    expect(second.body.address).toMatchObject({ line1: 'L', city: 'X', country: 'DE' });
    const third = await upsert(tenant, { phone: null, name: 'A' });
    expect(third.body.phone).toBeNull();
    expect((await upsert(tenant, { metadata: { a: null, c: 3, y: null } })).body.metadata).toEqual({ b: '2', c: '3' });
    expect((await upsert(tenant, { metadata: null, tags: null })).body).toMatchObject({ metadata: {}, tags: [] });
    await upsert(tenant, { metadata: { b: '2' }, tags: ['t', 'u'] });
    const tags = { add: ['New', 'T'], remove: ['U', 'absent'] };
    expect((await upsert(tenant, { metadata: '', tags })).body).toMatchObject({
      metadata: { b: '2' },
      tags: ['t', 'New'],
    });
    expect((await upsert(tenant, { tags: { remove: ['NEW'] } })).body.tags).toEqual(['t']);
    // Together with the stored one, first twenty tags, then one too many.
    const more = Array.from({ length: 20 }, (_, index) => `n${index}`);
    expect((await upsert(tenant, { tags: { add: more.slice(1) } })).body.tags).toHaveLength(20);
    const tooMany = await upsert(tenant, { tags: { add: more } });
    expect(tooMany.body).toMatchObject({ status: 422, errors: [{ pointer: '/tags', code: 'too_many_items' }] });
    const nothing = await upsert(tenant, { name: 'A' });
    const stored = await tenant.call('GET', `/v1/customers/${first.body.id}`);
    expect([nothing.text, nothing.body.phone]).toEqual([stored.text, null]);
  });

  test('creates a record without the metadata keys and tags to be removed', async () => {
    const tenant = await world.organization();
    const sent = { name: 'A', metadata: { x: '1', y: null }, tags: { add: ['a'], remove: ['b'] } };
    expect((await upsert(tenant, sent)).body).toMatchObject({ metadata: { x: '1' }, tags: ['a'] });
    const empty = await tenant.call('POST', '/v1/customers', { name: 'B', metadata: null, tags: null });
    expect(empty.body).toMatchObject({ metadata: {}, tags: [] });
  });

  test('20 concurrent upserts with different fields create one record with all of them', async () => {
    const tenant = await world.organization();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => upsert(tenant, { name: 'A', metadata: { [`k${index}`]: 'v' } })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(19);
    const { body } = await tenant.call('GET', '/v1/customers?externalId=E');
    expect(Object.keys(body.data[0].metadata)).toHaveLength(20);
  });
});

test('a taken sku is 409 for every onConflict', async () => {
  const tenant = await world.organization();
  const item = { type: 'service', name: 'x', unitPrice: '1', sku: 'S' };
  await tenant.call('POST', '/v1/items', item);
  expect((await tenant.call('POST', '/v1/items?onConflict=return', { ...item, externalId: 'E' })).body).toMatchObject({
    status: 409,
    code: 'sku_taken',
  });
});
