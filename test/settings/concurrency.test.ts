/** Concurrent changes: none waits for a connection that another holds, or takes locks in a different order. */
import { expect, test } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { publicId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import { signIn, someone, unknownEmail } from './visiting.ts';

const world = useWorld();

test('fourteen members can be added at once, more than there are connections', async () => {
  const { organization, admin } = await world.organization();
  const add = () =>
    addMember(world.database, organization, { email: unknownEmail(), name: 'Jo', role: 'member' }, admin);
  const added = await Promise.all(Array.from({ length: 14 }, add));
  expect(new Set(added.map(({ id }) => id)).size).toBe(14);
});

test('of organizations that get the same slug at once, all but one are rejected in words', async () => {
  const fields = { name: 'Acme', slug: `t-${uuidv7().slice(-30)}`, plan: 'free', currency: 'EUR' } as const;
  const create = () =>
    createOrganization(world.database, fields).then(
      ({ slug }) => slug,
      ({ message }: Error) => message,
    );
  const outcomes = await Promise.all(Array.from({ length: 9 }, create));
  const rejected = `The slug ${fields.slug} is already taken. Choose another.`;
  expect(outcomes.toSorted()).toEqual([...Array.from({ length: 8 }, () => rejected), fields.slug]);
});

test('members who are removed while they export get either outcome, but never a deadlock', async () => {
  const tenant = await world.organization();
  const admin = await signIn(world, await someone(world, tenant, 'admin'));
  const csrfToken = await admin.csrfToken();
  const leavers = await Promise.all([1, 2, 3, 4].map(() => someone(world, tenant, 'admin')));
  const outcomes = await Promise.all(
    leavers.map(async (leaver) => {
      const leaving = await signIn(world, leaver);
      const own = await leaving.csrfToken();
      return Promise.all([
        leaving.post('/settings/exports', { csrfToken: own, kind: 'customers', format: 'csv' }),
        admin.post(`/settings/members/${publicId('member', leaver.id)}/remove`, { csrfToken }),
      ]);
    }),
  );
  for (const [exported, removed] of outcomes) {
    expect([200, 303, 403, 429]).toContain(exported.status);
    expect(removed.status).toBe(303);
  }
});
