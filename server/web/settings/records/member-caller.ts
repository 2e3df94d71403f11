/** Performs the API's operations for a member, who has an allowance and a share of the database as a key has. */
import type { AuthenticatedKey } from '../../../keys/key-row.ts';
import { operationOf } from '../../../operations/operations.ts';
import { admit, perform } from '../../../operations/perform.ts';
import { Problem } from '../../../problems/problem.ts';
import { pageNotFound } from '../page.ts';
import type { Visit } from '../visit.ts';
import type { RecordKind } from './record-kinds.ts';
import type { OneRecord } from './record-page.ts';
import type { Listed } from './records-page.ts';

const asKey = ({ member, organization }: Visit): AuthenticatedKey => ({
  id: member.id,
  name: member.name,
  prefix: '',
  lastFour: '',
  createdAt: member.createdAt,
  lastUsedAt: null,
  revokedAt: null,
  endsAt: null,
  replacedBy: null,
  endsAtMs: Number.POSITIVE_INFINITY,
  organization,
});

/** Problems: those of the operation, such as invalid_parameter and plan_required. */
export async function readList(visit: Visit, { kind, query }: { kind: RecordKind; query: object }): Promise<Listed> {
  const caller = await admit(asKey(visit), visit.context);
  const { body } = await perform(operationOf(kind.list), { query }, caller);
  // The operation's response is a page of records with ids.
  return body as Listed;
}

/** The record that the path names. Problem: unknown, also for a record of another organization. */
export async function readRecord(visit: Visit, kind: RecordKind): Promise<OneRecord> {
  const caller = await admit(asKey(visit), visit.context);
  const params = { [kind.parameter]: visit.request.params.id ?? '' };
  try {
    const { body } = await perform(operationOf(kind.get), { params }, caller);
    // The operation's response is a record with an id.
    return body as OneRecord;
  } catch (error) {
    throw error instanceof Problem && error.code === 'not_found' ? pageNotFound() : error;
  }
}
