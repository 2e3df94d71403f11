/**
 * The limits and periods that people encounter, as literal values: an accidental change fails here, and an intentional one
 * has to be made twice.
 */
import { expect, test } from 'vitest';
import * as limits from '../../contract/limits.ts';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { linkHours, resetHours } from '../../server/accounts/password-links.ts';
import { passwordLength } from '../../server/accounts/passwords.ts';
import { codeSeconds as signInCodeSeconds } from '../../server/accounts/second-step.ts';
import { sessionSeconds } from '../../server/accounts/sessions.ts';
import { codeSeconds } from '../../server/connect/codes.ts';
import { nameLength } from '../../server/records/name.ts';
import { expiryDays, maximumLiveKeys, replacementPeriods } from '../../server/keys/issue.ts';
import { usageBounds } from '../../server/keys/usage.ts';
import { mailedAgainDays, warningBounds } from '../../server/keys/warnings.ts';
import { sumBounds } from '../../server/records/sums.ts';
import { uploadBounds } from '../../server/uploads/files.ts';
import { maximumEndpoints, replacementHours } from '../../server/webhooks/endpoints.ts';
import { endpointPause, pauseAfter } from '../../server/webhooks/retry.ts';
import { sendLimits } from '../../server/outgoing/send.ts';

const [minute, hour, day] = [60, 3600, 86_400];

test('the API has the published limits', () => {
  const { inKiB: _, metadataKeyPattern: __, ...values } = limits;
  expect(values).toEqual({
    rateLimit: { limit: 100, windowSeconds: minute },
    maximumBodyBytes: 262_144,
    maximumDepth: 20,
    maximumKeys: 1000,
    maximumHeaderBytes: 16_384,
    idempotencyHours: 24,
    maximumErrors: 50,
    metadataLimits: { keys: 50, keyLength: 40, valueLength: 500, filters: 5 },
    metadataKeyRule: '1 to 40 characters from A–Z a–z 0–9 _ . -',
    maximumWords: 8,
    retryAfter: { rateLimited: minute, inProgress: 1, unavailable: 5 },
  });
  expect(sumBounds).toEqual({ records: 200_000, groups: 250 });
});

test('attempts, links and sessions of a person have these limits', () => {
  expect(attemptLimits).toEqual({
    account: { most: 10, seconds: 15 * minute },
    address: { most: 50, seconds: 15 * minute },
    slow: { most: 1, seconds: 5 },
    code: { most: 10, seconds: 15 * minute },
    reset: { most: 10, seconds: 15 * minute },
    link: { most: 60, seconds: 15 * minute },
    mail: { most: 5, seconds: hour },
    member: { most: 60, seconds: minute },
    document: { most: 20, seconds: minute },
    logged: { most: 20, seconds: 15 * minute },
  });
  expect(sessionSeconds).toEqual({ idle: 2 * hour, whole: 12 * hour });
  expect({ linkHours, resetHours, signInCodeSeconds }).toEqual({
    linkHours: 72,
    resetHours: 1,
    signInCodeSeconds: 600,
  });
  expect(passwordLength).toEqual({ least: 12, most: 128 });
  expect(nameLength).toEqual({ organization: 200, member: 200, apiKey: 80, webhook: 80 });
});

test('keys have these limits for expiry, replacement and warnings', () => {
  expect({ maximumLiveKeys, expiryDays, codeSeconds }).toEqual({
    maximumLiveKeys: 25,
    expiryDays: [30, 90, 365],
    codeSeconds: 60,
  });
  expect(replacementPeriods).toEqual({ hour, day, week: 7 * day });
  expect(warningBounds).toEqual({ leastRequests: 20, unusedDays: 90, expiringDays: 14, graceMs: 60_000 });
  expect(mailedAgainDays).toEqual({ failing: 7, ended: 7, limited: 7, unused: 90, expiring: 30 });
  const { storedFailures, fields, days, failureDays } = usageBounds;
  expect({ storedFailures, fields, days, failureDays }).toEqual({
    storedFailures: 100,
    fields: 5,
    days: 90,
    failureDays: 7,
  });
});

test('a webhook is retried after these pauses', () => {
  const attempts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50];
  const pauses = [5, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 12 * hour, 12 * hour, 12 * hour];
  for (const [random, part] of [
    [0, 0.95],
    [0.5, 1],
    [1, 1.05],
  ] as const)
    expect(attempts.map((count) => Math.round(pauseAfter(count, null, random)))).toEqual(
      pauses.map((pause) => Math.round(pause * part)),
    );
  expect([30, hour, day, 10 * day].map((wanted) => pauseAfter(1, wanted, 0.5))).toEqual([30, hour, day, day]);
  expect([1, 2, 8, 9, 5000].map((failures) => endpointPause(failures, null))).toEqual([2, 4, 256, 300, 300]);
  expect([1, hour, 10 * day].map((wanted) => endpointPause(1, wanted))).toEqual([2, hour, day]);
  expect({ maximumEndpoints, replacementHours }).toEqual({
    maximumEndpoints: 10,
    replacementHours: { now: 0, day: 24, week: 168 },
  });
  expect(sendLimits).toEqual({ connectMs: 10_000, totalMs: 15_000, readBytes: 16_384, keptBytes: 2_048 });
});

test('an upload has these limits for size and retention', () => {
  expect(uploadBounds).toEqual({
    bytes: 100_000_000,
    unpackedBytes: 1_000_000_000,
    rows: 1_000_000,
    files: 100,
    keptForMs: day * 1000,
  });
});
