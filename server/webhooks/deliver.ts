/** Delivers what is due to one endpoint, in rounds, while this process holds its lease. */
import type pg from 'pg';
import { claimDue, nextDue, recoverDeliveries, releaseWaiting, unclaim, wasTried, writeResults } from './deliveries.ts';
import type { Claimed, Result } from './deliveries.ts';
import { releaseLease, renewLease } from './leases.ts';
import type { Leased, Renewed } from './leases.ts';
import type { Render } from './render.ts';
import { endpointPause, failingDays, pauseAfter, retryDays } from './retry.ts';
import { timeLimit } from '../limits/time-limit.ts';
import { publicId } from '../records/public-id.ts';
import type { Seal } from '../text/seal.ts';
import type { Sender, SendResult } from '../outgoing/send.ts';
import { openSecrets, signaturesOf } from './sign.ts';

export type DeliveryParts = {
  pool: pg.Pool;
  seal: Seal;
  render: Render;
  sender: Sender;
  onAttempt: ((outcome: SendResult, isDelivered: boolean) => void) | undefined;
  switchOff: (endpoint: Leased, reason: string) => Promise<void>;
  isStopping: () => boolean;
  limits: typeof deliveryLimits;
};

export const deliveryLimits = {
  /** Longer than a round with its last request. */
  leaseSeconds: 30,
  /** Concurrent requests to one endpoint. */
  concurrency: 10,
  /** Maximum events per round. The first round has `concurrency` events; each later one, twice as many as the last. */
  round: 100,
  /** After more characters than this, rounds start small again: PostgreSQL could not read 100 long proposals in time. */
  roundLength: 5_000_000,
  /** After a failure: enough to see whether it works again. */
  roundAfterFailure: 5,
  /** No request begins later than this after the lease was renewed: another process may have taken the lease. */
  roundMs: 5_000,
  /** After this, others get their turn. */
  turnMs: 10_000,
};

const dayMs = 86_400_000;

/** The endpoint's health, and the pause that its receiver asked for. */
type Health = { failures: number; failingSince: string | null; retryAfterSeconds: number | null };

export async function deliverTo(parts: DeliveryParts, endpoint: Leased): Promise<void> {
  const { pool, limits, seal } = parts;
  const secrets = openSecrets(seal, endpoint);
  if (secrets.length === 0) {
    return parts.switchOff(
      endpoint,
      'Its secret cannot be decrypted, because AUTH_SECRET has changed. Replace the secret, then switch the endpoint on.',
    );
  }
  await recoverDeliveries(pool, endpoint, limits.leaseSeconds);
  const endsAtMs = performance.now() + limits.turnMs;
  let health: Health = { ...endpoint, retryAfterSeconds: null };
  let most = limits.concurrency;
  for (;;) {
    // Before the lease is renewed, so a process that was frozen, or slept, in the meantime sends nothing.
    const isRoundOver = timeLimit(limits.roundMs);
    const turn = await renewLease(pool, endpoint, limits.leaseSeconds);
    if (!turn) return;
    const limit = health.failures > 0 ? limits.roundAfterFailure : most;
    const claimed = parts.isStopping() ? [] : await claimDue(pool, endpoint, { now: turn.now, limit });
    if (claimed.length === 0) return release(parts, endpoint, { turn, health, idleMs: 1_000 });
    const outcomes = await sendRound(parts, endpoint, { claimed, secrets, turn, isRoundOver });
    const results = outcomes.map((one) => resultOf(one, turn));
    await writeResults(pool, endpoint, results);
    const length = results.reduce((sum, { request }) => sum + (request?.length ?? 0), 0);
    most = length > limits.roundLength ? limits.concurrency : Math.min(2 * most, limits.round);
    if (outcomes.some(({ outcome }) => outcome.status === 410))
      return parts.switchOff(endpoint, 'It responded with 410 Gone.');
    health = await healthAfter(parts, endpoint, { outcomes, before: health, turn });
    if (hasFailedTooLong(health, turn))
      return parts.switchOff(endpoint, `Every attempt has failed for ${failingDays} days.`);
    if (health.failures > 0 || performance.now() > endsAtMs) return release(parts, endpoint, { turn, health });
  }
}

const hasFailedTooLong = ({ failingSince }: Health, { now }: Renewed): boolean =>
  failingSince !== null && Date.parse(now) - Date.parse(failingSince) > failingDays * dayMs;

async function release(
  { pool, limits }: DeliveryParts,
  endpoint: Leased,
  { turn, health, idleMs }: { turn: Renewed; health: Health; idleMs?: number },
): Promise<void> {
  const { at: due, now } = await nextDue(pool, endpoint, limits.leaseSeconds);
  const { failures, failingSince, retryAfterSeconds } = health;
  const waitMs = failures > 0 ? endpointPause(failures, retryAfterSeconds) * 1000 : (idleMs ?? 0);
  // From the end of the round: a receiver that responds slowly gets its whole pause.
  const earliest = new Date(Date.parse(now) + waitMs).toISOString();
  // New events do not wake an endpoint that pauses: it is tried again after its pause, even if failed events wait longer.
  const dueAt = due !== null && (failures > 0 || due < earliest) ? earliest : due;
  // Without an attempt, no pause begins: an event that an admin resent in the meantime is due immediately.
  const pauses = failures > 0 && due !== null && idleMs === undefined;
  await releaseLease(pool, endpoint, { dueAt, wakes: pauses ? null : turn.wakes, failures, failingSince });
}

type Signing = { secrets: string[]; turn: Renewed };
type Sent = { delivery: Claimed; body: string | null; outcome: SendResult };

/** Begins no request once the round is over: what is left is due again. */
async function sendRound(
  parts: DeliveryParts,
  endpoint: Leased,
  { claimed, isRoundOver, ...signing }: Signing & { claimed: Claimed[]; isRoundOver: () => boolean },
): Promise<Sent[]> {
  const bodies = await parts.render(endpoint, claimed);
  const waiting = claimed.values();
  const sent: Sent[] = [];
  const work = async () => {
    while (!isRoundOver() && !parts.isStopping()) {
      const { value: delivery } = waiting.next();
      if (!delivery) return;
      const body = bodies.get(delivery.id) ?? null;
      const outcome = body === null ? gone : await sendOne(parts, endpoint, { delivery, body, ...signing });
      sent.push({ delivery, body, outcome });
    }
  };
  await Promise.all(Array.from({ length: parts.limits.concurrency }, work));
  const left = [...waiting].map(({ id }) => id);
  if (left.length > 0) await unclaim(parts.pool, endpoint, left);
  return sent;
}

const gone: SendResult = {
  status: null,
  error: 'The record no longer exists.',
  durationMs: 0,
  response: null,
  retryAfterSeconds: null,
};

async function sendOne(
  { sender, onAttempt }: DeliveryParts,
  endpoint: Leased,
  { delivery, body, secrets, turn }: Signing & { delivery: Claimed; body: string },
): Promise<SendResult> {
  const id = publicId('event', delivery.id);
  // The time of the round, which takes only seconds: receivers reject timestamps that are minutes off.
  const timestamp = Math.floor(Date.parse(turn.now) / 1000);
  const outcome = await sender.send({
    url: endpoint.url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Proposal-API-Webhooks/1.0',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signaturesOf(secrets, { id, timestamp, body }),
    },
  });
  onAttempt?.(outcome, isSuccess(outcome));
  return outcome;
}

const isSuccess = ({ status }: SendResult): boolean => status !== null && status >= 200 && status < 300;

function resultOf({ delivery, body, outcome }: Sent, { now }: Renewed): Result {
  const { id, recordId, attempts, foundAt } = delivery;
  const { status, durationMs, error, response, retryAfterSeconds } = outcome;
  const result = { id, recordId, attempts, status, durationMs, error, response, request: body };
  if (isSuccess(outcome)) return { ...result, state: 'delivered', dueAt: null };
  const isLate = Date.parse(now) - Date.parse(foundAt) > retryDays * dayMs;
  if (isLate || outcome === gone) return { ...result, state: 'failed', dueAt: null };
  const dueAtMs = Date.parse(now) + durationMs + pauseAfter(attempts, retryAfterSeconds) * 1000;
  return { ...result, state: 'pending', dueAt: new Date(dueAtMs).toISOString() };
}

type Round = { outcomes: Sent[]; before: Health; turn: Renewed };

/** One success is enough: any failure then concerns only its own event. */
async function healthAfter(
  { pool, isStopping }: DeliveryParts,
  endpoint: Leased,
  { outcomes, before, turn }: Round,
): Promise<Health> {
  const tried = outcomes.map(({ outcome }) => outcome).filter((outcome) => outcome !== gone);
  if (tried.length === 0) return before;
  const retryAfterSeconds = Math.max(...tried.map((outcome) => outcome.retryAfterSeconds ?? 0));
  if (tried.some(isSuccess)) {
    if (before.failures > 0) await releaseWaiting(pool, endpoint, turn.now, isStopping);
    // If this process stops before everything is due, the next one goes on after its first success.
    const isUnfinished = before.failures > 0 && isStopping();
    // A receiver that cannot keep up asks for a pause: it works, but gets fewer requests at a time.
    return { failures: isUnfinished || retryAfterSeconds > 0 ? 1 : 0, failingSince: null, retryAfterSeconds };
  }
  // An endpoint that had nothing to receive for days starts over.
  const isStillFailing =
    before.failingSince !== null &&
    (outcomes.some(({ delivery }) => delivery.attempts > 1) || (await wasTried(pool, endpoint, turn.now)));
  const failingSince = isStillFailing ? before.failingSince : turn.now;
  return { failures: before.failures + 1, failingSince, retryAfterSeconds };
}
