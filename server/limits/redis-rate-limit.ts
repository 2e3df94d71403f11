/** The sliding window shared by all processes: one atomic script in Redis 7 or Valkey, on that server's clock. */
import { hash, randomUUID } from 'node:crypto';
import { rateLimit } from '../../contract/limits.ts';
import type { Allowance } from './rate-limit.ts';

const windowMs = rateLimit.windowSeconds * 1000;

// Identifies the contents of the store: a store that comes back empty has no epoch, or a different one.
const epochKey = 'proposal-api:epoch';

// A list of the accepted requests' times in microseconds, oldest first. ARGV: the limit, the window in microseconds, the
// time, which is empty outside of tests, and the epoch that KEYS[2] should have. If the server's clock was set back, the
// last time in the list counts as now; if it was set back by more than a window, the list starts over.
const script = `
if redis.call('GET', KEYS[2]) ~= ARGV[4] then return {-1, 0, 0} end
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local last = tonumber(redis.call('LINDEX', KEYS[1], -1))
if last and last - now >= window then redis.call('DEL', KEYS[1]) elseif last and last > now then now = last end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and now - oldest >= window do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
local count = redis.call('LLEN', KEYS[1])
local accepted = count < limit
if accepted then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
  count = count + 1
  oldest = oldest or now
end
return {accepted and 1 or 0, math.max(0, limit - count), window - (now - oldest)}`;
const digest = hash('sha1', script, 'hex');

// Adds requests that were accepted elsewhere, by their age in microseconds.
const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local times = redis.call('LRANGE', KEYS[1], 0, -1)
for index = 2, #ARGV do times[#times + 1] = string.format('%.0f', now - tonumber(ARGV[index])) end
table.sort(times, function(left, right) return tonumber(left) < tonumber(right) end)
redis.call('DEL', KEYS[1])
for _, value in ipairs(times) do redis.call('RPUSH', KEYS[1], value) end
redis.call('PEXPIRE', KEYS[1], math.ceil(tonumber(ARGV[1]) / 1000))`;

/** The Redis commands that the window needs. */
export type ScriptRunner = {
  evalSha(sha1: string, options: ScriptInput): Promise<unknown>;
  eval(script: string, options: ScriptInput): Promise<unknown>;
  sendCommand<Reply>(words: string[]): Promise<Reply>;
};
type ScriptInput = { keys: string[]; arguments: string[] };

/** The store has lost its data. */
export class StoreEmptied extends Error {}

/** The epoch of the store; a new one if it was empty. */
export async function epochOf(redis: ScriptRunner): Promise<string> {
  const fresh = randomUUID();
  return (await redis.sendCommand<string | null>(['SET', epochKey, fresh, 'NX', 'GET'])) ?? fresh;
}

const listOf = (key: string, epoch: string) => `proposal-api:window:${epoch}:${key}`;

/** Adds requests that were accepted this many milliseconds ago. */
export async function addToRedis(redis: ScriptRunner, key: string, epoch: string, agesMs: number[]): Promise<void> {
  const ages = agesMs.map((age) => String(Math.round(age * 1000)));
  await redis.eval(addScript, { keys: [listOf(key, epoch)], arguments: [String(windowMs * 1000), ...ages] });
}

export const removeFromRedis = (redis: ScriptRunner, key: string, epoch: string): Promise<unknown> =>
  redis.sendCommand(['DEL', listOf(key, epoch)]);

/** Rejects if the store fails or has a different epoch. `clock`, in milliseconds, replaces the server's in tests. */
export async function takeFromRedis(
  redis: ScriptRunner,
  key: string,
  { epoch, clock }: { epoch: string; clock?: () => number },
): Promise<Allowance> {
  const time = clock ? String(Math.round(clock() * 1000)) : '';
  const input = {
    keys: [listOf(key, epoch), epochKey],
    arguments: [String(rateLimit.limit), String(windowMs * 1000), time, epoch],
  };
  const reply = await redis.evalSha(digest, input).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return redis.eval(script, input);
    throw error;
  });
  const [accepted, remaining, leftMicros] = Array.isArray(reply) ? reply.map(Number) : [];
  if (accepted === undefined || remaining === undefined || leftMicros === undefined)
    throw new Error('The rate limit script did not return three numbers.');
  if (accepted === -1) throw new StoreEmptied('the store has lost its data');
  return { accepted: accepted === 1, remaining, resetSeconds: Math.ceil(leftMicros / 1_000_000) };
}
