/** What happened to the demo's proposals, and when: as many of each status as a year and a half brings. */
import type { eventTimes, ProposalStatus } from '../../contract/proposals.ts';
import type { Proposal } from '../entities/proposal.ts';
import type { Dice } from './dice.ts';
import { dayMs, later, timestamp } from './past.ts';

/** Ages leave room for everything that happens after the creation: see the days below. */
export const plan = [
  { status: 'draft', count: 14, youngestDays: 1, oldestDays: 30 },
  { status: 'sent', count: 16, youngestDays: 2, oldestDays: 20 },
  { status: 'viewed', count: 13, youngestDays: 5, oldestDays: 22 },
  { status: 'accepted', count: 42, youngestDays: 14, oldestDays: 545 },
  { status: 'declined', count: 15, youngestDays: 14, oldestDays: 530 },
  { status: 'expired', count: 13, youngestDays: 49, oldestDays: 520 },
  { status: 'canceled', count: 7, youngestDays: 14, oldestDays: 500 },
] as const satisfies { status: ProposalStatus; count: number; youngestDays: number; oldestDays: number }[];

/** Until it is sent, until it is viewed, until it is decided, at the most. */
const days = { sent: 1, viewed: 2, decided: 9 };

type Times = Pick<Proposal, (typeof eventTimes)[number] | 'expiresAt'>;
const nothing: Times = {
  sentAt: null,
  viewedAt: null,
  acceptedAt: null,
  declinedAt: null,
  expiredAt: null,
  canceledAt: null,
  expiresAt: null,
};

/** How many percent of them were looked at before they came to this end. */
const viewedBefore: Readonly<Record<ProposalStatus, number>> = {
  draft: 0,
  sent: 0,
  viewed: 100,
  accepted: 92,
  declined: 85,
  expired: 55,
  canceled: 50,
};

/** The times of its events, with the last one of them as the time of its status and of its last change. */
export function historyOf(
  status: ProposalStatus,
  createdMs: number,
  dice: Dice,
): Times & Pick<Proposal, 'statusChangedAt' | 'updatedAt'> {
  if (status === 'draft') {
    return {
      ...nothing,
      statusChangedAt: timestamp(createdMs),
      updatedAt: timestamp(dice.chance(40) ? createdMs : later(createdMs, 0, dice)),
    };
  }
  if (status === 'canceled' && dice.chance(45)) {
    const canceledAt = timestamp(later(createdMs, days.decided, dice));
    return { ...nothing, canceledAt, statusChangedAt: canceledAt, updatedAt: canceledAt };
  }
  const sentMs = later(createdMs, days.sent, dice);
  const viewedMs = dice.chance(viewedBefore[status]) ? later(sentMs, days.viewed, dice) : null;
  const open = status === 'sent' || status === 'viewed';
  const expiresMs = sentMs + dice.pick(open ? [30, 45] : [14, 21, 30]) * dayMs;
  const endedMs = status === 'expired' ? expiresMs : later(viewedMs ?? sentMs, days.decided, dice);
  const statusChangedAt = timestamp(open ? (viewedMs ?? sentMs) : endedMs);
  return {
    ...nothing,
    sentAt: timestamp(sentMs),
    viewedAt: viewedMs === null ? null : timestamp(viewedMs),
    ...(!open && { [`${status}At`]: statusChangedAt }),
    expiresAt: timestamp(expiresMs),
    statusChangedAt,
    updatedAt: statusChangedAt,
  };
}
