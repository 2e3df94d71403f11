/** What a proposal says apart from its lines: merged onto what is stored, and held to the rules of the record. */
import type { ProposalImport } from './schemas.ts';
import type { ProposalStatus } from '../../contract/proposals.ts';
import type { Proposal, StoredPerson } from '../entities/proposal.ts';
import type { Refusal } from './kind.ts';
import { given, mergeMetadata, refuseMetadata } from './merge.ts';

const eventOf = {
  draft: undefined,
  sent: 'sentAt',
  viewed: 'viewedAt',
  accepted: 'acceptedAt',
  declined: 'declinedAt',
  expired: 'expiredAt',
  canceled: 'canceledAt',
} as const satisfies Record<ProposalStatus, keyof Proposal | undefined>;

type EventTime = NonNullable<(typeof eventOf)[ProposalStatus]>;
type Status = { status: ProposalStatus } & Partial<Pick<Proposal, EventTime>>;
/** What is merged onto: a stored proposal, or the defaults of a new one. */
export type Base = Pick<Proposal, 'number' | 'title' | 'currency' | 'createdAt' | 'metadata'> &
  Partial<Pick<Proposal, 'customerId' | 'statusChangedAt' | 'transactionStart'>> &
  Status;
export type Head = ReturnType<typeof mergeHead>;

/** `customerId` is undefined where the row names no customer, null where it removes the one that is stored. */
export function mergeHead(row: ProposalImport, customerId: string | null | undefined, base: Base) {
  const { customerExternalId: _resolved, lineItems: _lines, metadata, acceptedBy, owner, ...plain } = row;
  const merged = {
    ...startFrom(base),
    ...given({ ...plain, customerId, acceptedBy: wholePerson(acceptedBy), owner: wholePerson(owner) }),
    metadata: mergeMetadata(base.metadata, metadata),
  };
  return { ...merged, statusChangedAt: row.statusChangedAt ?? whenStatusChanged(merged, base) };
}

function startFrom({ number, title, status, currency, createdAt, customerId = null, ...base }: Base) {
  const {
    sentAt = null,
    viewedAt = null,
    acceptedAt = null,
    declinedAt = null,
    expiredAt = null,
    canceledAt = null,
  } = base;
  const events = { sentAt, viewedAt, acceptedAt, declinedAt, expiredAt, canceledAt };
  return { number, title, status, currency, createdAt, customerId, ...events };
}

type PersonInput = { name: string; email?: string | null | undefined } | null | undefined;

function wholePerson(person: PersonInput): StoredPerson | null | undefined {
  return person ? { name: person.name, email: person.email ?? null } : person;
}

/**
 * The time of the status' own event. Where that is not known: of a new proposal its creation, of a stored one what it
 * says already, or, where this import changes the status, the time of the import, so that a poller sees the change.
 */
function whenStatusChanged(merged: Status & { createdAt: string }, base: Base): string {
  const event = eventTime(merged);
  if (base.statusChangedAt === undefined) return event ?? merged.createdAt;
  if (merged.status !== base.status) return event ?? base.transactionStart ?? base.statusChangedAt;
  const followsEvent = base.statusChangedAt === eventTime(base);
  return followsEvent && event ? event : base.statusChangedAt;
}

function eventTime(proposal: Status): string | undefined {
  const name = eventOf[proposal.status];
  return (name && proposal[name]) ?? undefined;
}

/** What is missing or too much; a customer that is among the `unknown` was at least given. */
export function refuseHead(
  { status, sentAt, acceptedAt, customerId, metadata }: Head,
  unknown: readonly Refusal[],
): Refusal[] {
  const refusals = refuseMetadata(metadata);
  const missing = (field: string) =>
    refusals.push({ field, code: 'required', message: `is required where status is ${status}` });
  const wasSent = status !== 'draft' && status !== 'canceled';
  if (wasSent && !sentAt) missing('sentAt');
  const customerGiven = customerId !== null || unknown.some(({ field }) => field === 'customerExternalId');
  if (wasSent && !customerGiven) missing('customerExternalId');
  if (status === 'accepted' && !acceptedAt) missing('acceptedAt');
  return refusals;
}
