/** The sliding window shared by all processes: one atomic script in Redis 7 or Valkey, on that server's clock. */
import { createHash } from 'node:crypto';
import { rateLimit } from '../../contract/limits.ts';
import type { Allowance } from './rate-limit.ts';

const windowMs = rateLimit.windowSeconds * 1000;

// A list of the accepted requests' times in microseconds, oldest first. ARGV: the limit, the window in microseconds, and
// the time, which is empty outside of tests. Where the server's clock was set back, its last time counts as now; where it
// was set back by more than a window, the list starts over.
const script = `
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
return {accepted and 1 or 0, limit - count, window - (now - oldest)}`;
const digest = createHash('sha1').update(script).digest('hex');

/** The two Redis commands that the window needs. */
export type ScriptRunner = {
  evalSha(sha1: string, options: ScriptInput): Promise<unknown>;
  eval(script: string, options: ScriptInput): Promise<unknown>;
};
type ScriptInput = { keys: string[]; arguments: string[] };

/** Rejects if the store does not. `clock`, in milliseconds, replaces the server's clock in tests. */
export async function takeFromRedis(redis: ScriptRunner, key: string, clock?: () => number): Promise<Allowance> {
  const time = clock ? String(Math.round(clock() * 1000)) : '';
  const input = {
    keys: [`proposal-api:window:${key}`],
    arguments: [String(rateLimit.limit), String(windowMs * 1000), time],
  };
  const reply = await redis.evalSha(digest, input).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return redis.eval(script, input);
    throw error;
  });
  if (!Array.isArray(reply)) throw new Error('The rate limit script returned no list.');
  const [accepted, remaining, leftMicros] = reply.map(Number);
  if (accepted === undefined || remaining === undefined || leftMicros === undefined) {
    throw new Error('The rate limit script returned too short a list.');
  }
  return { accepted: accepted === 1, remaining, resetSeconds: Math.ceil(leftMicros / 1_000_000) };
}
