/** No organization sees, infers or changes anything of another. */
import { describe, expect, test } from 'vitest';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ScopedEntityManager } from '../../server/database/tenant.ts';
import { AuditEvent } from '../../server/entities/audit-event.ts';
import { ApiKey } from '../../server/entities/organization.ts';
import { bodyExample, getOf, listOf, lists, operations, takesBody } from '../contract.ts';
import { createRecord, idParameter, oneOfEach, rejection } from '../records.ts';
import { useWorld } from '../world.ts';

const world = useWorld();

const withoutRequestId = (text: string) => text.replaceAll(/req_[0-9a-z]+/g, 'req');
const onOneRecord = operations.filter(({ path }) => path.includes(':'));

describe('tenancy', () => {
  test('holds for operations of every kind', () => {
    const methods = onOneRecord.map(({ method }) => method);
    expect(methods).toEqual(expect.arrayContaining(['GET', 'PATCH']));
    expect(onOneRecord.length).toBeGreaterThanOrEqual(lists.length);
    expect(lists.length).toBeGreaterThanOrEqual(3);
  });

  for (const operation of onOneRecord) {
    const { method, path, title } = operation;
    test(`${title} treats another organization’s id like an unknown one`, async () => {
      const [ours, theirs] = [await world.organization(), await world.organization()];
      const ids = await oneOfEach(theirs);
      const name = idParameter(operation);
      const foreign = ids[name] ?? '';
      const unknown = `${foreign.slice(0, -4)}0000`;
      const body = takesBody(operation) ? bodyExample(operation) : undefined;
      const record = getOf(listOf(operation) ?? operation).path.replace(`:${name}`, foreign);
      const before = await theirs.call('GET', record);
      expect(before.status).toBe(200);
      const responses = await Promise.all(
        [foreign, unknown, 'nonsense', `${foreign.slice(0, 3)}_`].map((id) =>
          ours.call(method, path.replace(`:${name}`, id), body),
        ),
      );
      const [first, ...others] = responses.map(({ text }) => withoutRequestId(text));
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      for (const other of others) expect(other).toBe(first);
      expect((await theirs.call('GET', record)).text).toBe(before.text);
      const asAnother = foreign.replace(/^.../, foreign.startsWith('cus') ? 'itm' : 'cus');
      expect((await theirs.call(method, path.replace(`:${name}`, asAnother), body)).status).toBe(404);
      // The number that it stands for has more than 128 bits, of which the last 128 are those of the record.
      const beyond = foreign.replace(/(?<=_)0/, '8');
      expect(beyond).not.toBe(foreign);
      expect((await theirs.call(method, path.replace(`:${name}`, beyond), body)).status).toBe(404);
      // The same request is accepted from the organization that owns the record.
      expect((await theirs.call(method, path.replace(`:${name}`, foreign), body)).status).toBeLessThan(300);
    });
  }

  for (const list of lists) {
    test(`${list.title} lists the calling organization's records, and no others`, async () => {
      const [ours, theirs] = [await world.organization(), await world.organization()];
      await oneOfEach(theirs);
      expect((await ours.call('GET', list.path)).body.data).toEqual([]);
      const own = await createRecord(ours, list.path, 0);
      for (const query of ['', '?externalId=external-0', '?q=record', '?sort=updatedAt', '?createdSince=2020-01-01']) {
        const { body } = await ours.call('GET', list.path + query);
        expect(body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
      }
    });

    test(`${list.title} rejects a cursor of another organization`, async () => {
      const [ours, theirs] = [await world.organization(), await world.organization()];
      for (const index of [0, 1]) await createRecord(theirs, list.path, index);
      const { body } = await theirs.call('GET', `${list.path}?limit=1`);
      expect(body.pagination.hasMore).toBe(true);
      const rejected = await ours.call('GET', `${list.path}?cursor=${body.pagination.nextCursor}`);
      expect(rejected.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
    });
  }

  test('two organizations can use the same externalId and sku', async () => {
    const [ours, theirs] = [await world.organization(), await world.organization()];
    const item = { type: 'service', name: 'Same', unitPrice: '1', sku: 'S', externalId: 'E' } as const;
    const created = await ours.client.items.create(item);
    await theirs.client.items.create(item);
    expect((await ours.client.items.list({ sku: 's' })).data).toEqual([created]);
    const taken = await rejection(ours.client.items.create(item));
    expect(taken.problem).toMatchObject({ code: 'external_id_taken', existingId: created.id });
  });

  test('an entity manager of one organization adds nothing to another, gives it nothing, and takes nothing from it', async () => {
    const [ours, theirs] = [await world.organization(), await world.organization()];
    const [own, foreign] = [ours.organization.id, theirs.organization.id];
    const stored = await theirs.em().findOneOrFail(ApiKey, { name: 'test' });
    const mistakes: ((em: ScopedEntityManager) => unknown)[] = [
      (em) => em.create(AuditEvent, { organizationId: foreign, kind: 'change', action: 'key_created' }),
      async (em) => ((await em.findOneOrFail(ApiKey, { name: 'test' })).organizationId = foreign),
      // No method of its type does this.
      (em) => Object.assign((em as unknown as EntityManager).merge(ApiKey, { ...stored }), { organizationId: own }),
    ];
    for (const mistake of mistakes) {
      const em = ours.em();
      await mistake(em);
      await expect(em.flush()).rejects.toThrow('of another organization was blocked');
    }
  });
});
