/** A proposal without its lines: merged onto the stored one, and checked against the rules of the record. */
import type { ProposalImport } from './schemas.ts';
import { eventTimes } from '../../contract/proposals.ts';
import type { ProposalStatus } from '../../contract/proposals.ts';
import type { Proposal } from '../entities/proposal.ts';
import type { ProposalTotals } from '../records/money.ts';
import type { Rejection } from './kind.ts';
import { withoutUndefined } from '../records/merge-patch.ts';
import { excessKeys, mergeMetadata } from '../records/metadata.ts';

type EventTime = (typeof eventTimes)[number];
type Status = { status: ProposalStatus } & Partial<Pick<Proposal, EventTime>>;
/** What a row is merged onto: a stored proposal, or the defaults of a new one. */
export type Base = Pick<Proposal, 'number' | 'title' | 'customerId' | 'currency' | 'createdAt' | 'metadata'> &
  Partial<Pick<Proposal, 'statusChangedAt' | keyof ProposalTotals>> &
  Status;
export type Head = ReturnType<typeof mergeHead>;

/** `customerId` is undefined if the row names no customer, and null if it removes the stored one. */
export function mergeHead(row: ProposalImport, customerId: string | null | undefined, base: Base, startedAt: string) {
  const { id: _id, customerExternalId: _name, lineItems: _lines, metadata, ...rest } = row;
  const { subtotal: _subtotal, discountTotal: _discount, taxTotal: _tax, total: _total, ...given } = rest;
  const merged = {
    ...base,
    ...withoutUndefined({ ...given, customerId }),
    metadata: mergeMetadata(base.metadata, metadata),
  };
  return { ...merged, statusChangedAt: given.statusChangedAt ?? whenStatusChanged(merged, base, startedAt) };
}

/**
 * The time of the event that led to the status. If that is unknown: the creation time of a new proposal, the time of the
 * import if it changes the status, so that a poller sees the change, and otherwise the stored value. An event that was
 * stored before the last change led to an earlier one: the proposal has returned to a status.
 */
function whenStatusChanged(merged: Status & { createdAt: string }, base: Base, startedAt: string): string {
  const event = eventTime(merged);
  if (base.statusChangedAt === undefined) return event ?? merged.createdAt;
  if (merged.status !== base.status) {
    if (event === undefined) return startedAt;
    const isStored = event === eventTime({ ...base, status: merged.status });
    return isStored && event <= base.statusChangedAt ? startedAt : event;
  }
  const followsEvent = base.statusChangedAt === eventTime(base);
  return followsEvent && event ? event : base.statusChangedAt;
}

function eventTime(proposal: Status): string | undefined {
  const name = eventTimes.find((time) => time === `${proposal.status}At`);
  return (name && proposal[name]) ?? undefined;
}

/** Rejects missing fields and too much metadata; a customer in `unknown` counts as given. */
export function rejectHead({ status, sentAt, acceptedAt, customerId, metadata }: Head, unknown: readonly Rejection[]) {
  const rejections: Rejection[] = excessKeys(metadata);
  const missing = (field: string) =>
    rejections.push({ field, code: 'required', message: `is required if status is ${status}` });
  const wasSent = status !== 'draft' && status !== 'canceled';
  if (wasSent && !sentAt) missing('sentAt');
  const customerGiven = customerId !== null || unknown.some(({ field }) => /^customer(?:External)?Id$/.test(field));
  if (wasSent && !customerGiven) missing('customerExternalId');
  if (status === 'accepted' && !acceptedAt) missing('acceptedAt');
  return rejections;
}
