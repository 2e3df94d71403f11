import { expect, test } from 'vitest';
import { etagOf } from '../../server/records/etag.ts';

test('an ETag has the revision and the milliseconds in base 36, in every version of the service', () => {
  expect(etagOf({ revision: 3, updatedAt: '2026-11-24T09:30:05.042Z' })).toBe('"3-mwuhugs2"');
  const customer = { revision: 34, updatedAt: '2026-11-24T09:30:05.043Z' };
  expect(etagOf({ revision: 12, updatedAt: '2026-11-24T09:30:05.042Z' }, customer)).toBe('"12-mwuhugs2-34-mwuhugs3"');

  const edges = [0, 36 ** 7 - 1, 36 ** 7, 36 ** 8 - 36 ** 4, 36 ** 8 - 1, 36 ** 8, Date.UTC(2024, 1, 29)];
  const spread = Array.from({ length: 10_000 }, (_, index) => index * 412_345_678 + 987);
  for (const ms of [...edges, ...spread])
    expect(etagOf({ revision: 1, updatedAt: new Date(ms).toISOString() })).toBe(`"1-${ms.toString(36)}"`);
});
