/** The numbers that the guides state are those of the code. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { idempotencyHours, maximumBodyBytes, rateLimit } from '../../contract/limits.ts';
import { codeSeconds } from '../../server/connect/codes.ts';
import { expiryDays, maximumLiveKeys } from '../../server/keys/issue.ts';
import { reportedDays } from '../../server/keys/usage-report.ts';
import { uploadBounds } from '../../server/uploads/files.ts';
import { failingDays, logDays, retryDays } from '../../server/webhooks/retry.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const guide = (slug: string) => read(`server/web/docs/guides/${slug}.md`);
const [shortest, ...longer] = expiryDays;

test.each([
  ['rate-limit', `**${rateLimit.limit} requests in any ${rateLimit.windowSeconds} seconds**`],
  ['api-keys', `An organization can have ${maximumLiveKeys} keys at a time`],
  ['api-keys', `never, or after ${shortest}, ${longer.join(' or ')} days`],
  ['agents', `among the organization's ${maximumLiveKeys} keys`],
  ['agents', `Exchange the code within ${codeSeconds} seconds`],
  ['retries-and-idempotency', `For ${idempotencyHours} hours, a retry returns the first response`],
  ['usage', `counts the requests of the last ${reportedDays} days`],
  ['webhooks', `sent again for ${retryDays} days`],
  ['webhooks', `So do ${failingDays} days of failures`],
  ['webhooks', `the deliveries of the last ${logDays} days`],
  ['import', `files up to ${uploadBounds.bytes / 1_000_000} MB`],
  ['import', `${uploadBounds.rows.toLocaleString('en-US')} rows`],
])('%s says: %s', (slug, sentence) => expect(guide(slug)).toContain(sentence));

test('the security policy names the limit of bodies', () => {
  expect(read('SECURITY.md')).toContain(`Bodies are limited to ${maximumBodyBytes / 1024} KiB`);
});
