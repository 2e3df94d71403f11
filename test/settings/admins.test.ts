/** The functions themselves reject everyone but an admin of the organization, no matter how a request gets that far. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addMember, changeRole, removeMember, resetTwoFactor } from '../../server/accounts/members.ts';
import { changeOrganization, requireTwoFactor } from '../../server/accounts/organizations.ts';
import type { ScopedEntityManager } from '../../server/database/tenant.ts';
import { Member } from '../../server/entities/organization.ts';
import { issueKey, replaceKey, requireRoomForKey } from '../../server/keys/issue.ts';
import { renameKey, revokeKey } from '../../server/keys/revoke.ts';
import { storedId } from '../../server/records/public-id.ts';
import type { Actor } from '../../server/records/require-admin.ts';
import * as endpoints from '../../server/webhooks/endpoints.ts';
import { resend, resendFailed, sendTest } from '../../server/webhooks/log.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { parts } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import { scene, stateOf } from './every-route.ts';
import type { Scene } from './every-route.ts';
import { someone, unknownEmail } from './visiting.ts';

const world = useWorld();
let ours: Scene;
beforeAll(async () => {
  ours = await scene(world);
});

const keyId = () => storedId('key', ours.fill('/api-keys/:id/revoke').split('/')[3] ?? '') ?? '';
const endpointId = () => storedId('endpoint', ours.fill('/webhooks/:id/off').split('/')[3] ?? '') ?? '';
const fields = { name: 'Evil', url: 'https://127.0.0.1/evil', events: ['item.created'] };

const deeds: Record<string, (em: ScopedEntityManager, actor: Actor) => Promise<unknown>> = {
  issueKey: (em, actor) => issueKey(em, actor, { name: 'Evil' }),
  requireRoomForKey: (em, actor) => requireRoomForKey(em, actor),
  replaceKey: (em, actor) => replaceKey(em, actor, { id: keyId(), period: 'hour' }),
  renameKey: (em, actor) => renameKey(em, actor, keyId(), 'Evil'),
  revokeKey: (em, actor) => revokeKey(em, actor, keyId()),
  addMember: (_, actor) =>
    addMember(world.database, ours.tenant.organization, { email: unknownEmail(), name: 'Evil', role: 'admin' }, actor),
  changeRole: (em, actor) => changeRole(em, actor, ours.member, 'admin'),
  removeMember: (em, actor) => removeMember(em, actor, ours.member),
  resetTwoFactor: (em, actor) => resetTwoFactor(em, actor, ours.member),
  changeOrganization: (em, actor) => changeOrganization(em, actor, { name: 'Evil', currency: 'EUR' }),
  requireTwoFactor: (em, actor) => requireTwoFactor(em, actor, { isRequired: true, isReady: true }),
  createEndpoint: (em, actor) => endpoints.createEndpoint(em, actor, fields, parts),
  changeEndpoint: (em, actor) => endpoints.changeEndpoint(em, actor, { id: endpointId(), ...fields }, parts),
  switchEndpoint: (em, actor) => endpoints.switchEndpoint(em, actor, { id: endpointId(), on: false }),
  replaceSecret: (em, actor) => endpoints.replaceSecret(em, actor, { id: endpointId(), overlap: 'now' }, parts),
  removeEndpoint: (em, actor) => endpoints.removeEndpoint(em, actor, endpointId()),
  sendTest: (em, actor) => sendTest(em, actor, endpointId()),
  resend: (em, actor) => resend(em, actor, { id: endpointId(), deliveryId: endpointId() }),
  resendFailed: (em, actor) => resendFailed(em, actor, { id: endpointId(), since: '2000-01-01T00:00:00.000Z' }),
};

const ownPeople: Record<string, () => Promise<Actor>> = {
  'a member': () => someone(world, ours.tenant, 'member'),
  'an admin who was removed': async () => {
    const leaver = await someone(world, ours.tenant, 'admin');
    await removeMember(ours.tenant.em(), null, leaver);
    return leaver;
  },
  'an admin who was demoted': async () => {
    const demoted = await someone(world, ours.tenant, 'admin');
    await changeRole(ours.tenant.em(), null, demoted, 'member');
    return demoted;
  },
};

async function rejections(): Promise<number> {
  const text = `select count(*)::int as count from audit_events where organization_id = $1 and kind = 'rejection'`;
  const { rows } = await world.database.pool.query<{ count: number }>(text, [ours.tenant.organization.id]);
  return rows[0]?.count ?? 0;
}

describe.each(Object.entries(ownPeople))('%s', (_, person) => {
  let actor: Actor;
  beforeAll(async () => {
    actor = await person();
  });

  test.each(Object.entries(deeds))(
    'cannot %s; nothing changes, and the attempt is in the audit log',
    async (_name, deed) => {
      const { organization, em } = ours.tenant;
      const [before, logged] = [await stateOf(world, organization.id), await rejections()];
      await expect(deed(em(), actor)).rejects.toMatchObject({ code: 'role' });
      expect(await stateOf(world, organization.id)).toBe(before);
      expect(await rejections()).toBe(logged + 1);
    },
  );
});

test('an admin who is demoted while a request waits for it is rejected', async () => {
  const { organization } = ours.tenant;
  const actor = await someone(world, ours.tenant, 'admin');
  // As commands do, which find the member by email first.
  const em = ours.tenant.em();
  await em.findOneOrFail(Member, { id: actor.id });
  const demotion = await patientConnection(world.database.pool);
  onTestFinished(() => demotion.release());
  await demotion.query('begin');
  await demotion.query('select from organizations where id = $1 for update', [organization.id]);
  const creating = Promise.allSettled([issueKey(em, actor, { name: 'Late' })]);
  await expect.poll(async () => (await waitingStatements(world.database)).join()).toContain('"organizations"');
  await demotion.query(`update members set role = 'member' where id = $1`, [actor.id]);
  await demotion.query('commit');
  expect(await creating).toMatchObject([{ status: 'rejected', reason: { code: 'role' } }]);
});

const strangers: Record<string, () => Promise<Actor>> = {
  'an admin of another organization': async () => (await world.organization()).admin,
  'an admin of another organization who claims to be of this one': async () => {
    const { id } = (await world.organization()).admin;
    return { id, organizationId: ours.tenant.organization.id };
  },
};

describe.each(Object.entries(strangers))('%s', (_, stranger) => {
  let actor: Actor;
  beforeAll(async () => {
    actor = await stranger();
  });

  test.each(Object.entries(deeds))('changes nothing with %s', async (_name, deed) => {
    const { organization, em } = ours.tenant;
    const before = await stateOf(world, organization.id);
    // Rejected by the role check, or by the foreign key of the row to be written.
    await expect(deed(em(), actor)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:role|23503)$/) });
    expect(await stateOf(world, organization.id)).toBe(before);
  });
});
