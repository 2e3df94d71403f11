/** The numbers that the documentation promises, read from the code. */
import { readFileSync } from 'node:fs';
import { idempotencyHours, maximumBodyBytes, metadataLimits, rateLimit, retryAfter } from '../../contract/limits.ts';
import { pageSize } from '../../contract/list.ts';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { linkHours } from '../../server/accounts/password-links.ts';
import { codeSeconds as signInSeconds } from '../../server/accounts/second-step.ts';
import { sessionSeconds } from '../../server/accounts/sessions.ts';
import { longTransactionMinutes } from '../../server/commands/serve/long-transactions.ts';
import { codeSeconds } from '../../server/connect/codes.ts';
import { maximumColumns } from '../../server/import/source.ts';
import { expiryDays, maximumLiveKeys } from '../../server/keys/issue.ts';
import { reportedDays } from '../../server/keys/usage-report.ts';
import { usageBounds } from '../../server/keys/usage.ts';
import { mailedAgainDays, warningBounds } from '../../server/keys/warnings.ts';
import { sumBounds } from '../../server/records/sums.ts';
import { uploadBounds } from '../../server/uploads/files.ts';
import { deliveryLimits } from '../../server/webhooks/deliver.ts';
import { maximumEndpoints } from '../../server/webhooks/endpoints.ts';
import { failingDays, logDays, retryDays } from '../../server/webhooks/retry.ts';
import { shownDeliveries } from '../../server/web/settings/webhooks/endpoint-page.ts';
import { sendLimits } from '../../server/outgoing/send.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** A constant that is not exported, such as `wholeMs: 15 * 60_000`. */
function constant(path: string, name: string): number {
  const written = new RegExp(String.raw`\b${name} ?[=:(,] ?([\d_]+(?: \* [\d_]+)*)`).exec(read(path))?.[1];
  if (written === undefined) throw new Error(`${path} has no constant ${name}.`);
  return written.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

const grouped = (value: number) => value.toLocaleString('en-US');
const inWords: Readonly<Record<number, string>> = { 2: 'two', 3: 'three', 4: 'four', 5: 'five', 10: 'ten' };
const words = (value: number) => inWords[value] ?? String(value);

const [limit, seconds] = [rateLimit.limit, rateLimit.windowSeconds];
const [shortest, ...longer] = expiryDays;
const graceSeconds = constant('server/commands/serve/process.ts', 'graceMs') / 1000;
const drainSeconds = constant('server/commands/serve/server.ts', 'drain') / 1000;
/** Not in the code: how long a cluster may take to stop routing to a pod. */
const preStopSeconds = 5;
const pool = (size: string) => constant('server/database/orm.ts', size);
/** Connections that go through PgBouncer: all but MikroORM's. */
const pooled = pool('readConnections') + pool('writeConnections') + 2 * pool('controlConnections');
const connections = pooled + pool('ormConnections');
/** When a change to a key or a plan takes effect. */
const trusted = constant('server/keys/directory.ts', 'trustMs') <= 1000 ? 'within a second' : 'later';
const recoveryCodes = words(constant('server/accounts/authenticator.ts', 'recoveryCodes'));
const [retries, timeoutMs] = ['defaultRetries', 'defaultTimeoutMs'].map((name) => constant('client/call.ts', name));
const [firstMs, longestMs] = ['firstBackoffMs', 'longestBackoffMs'].map((name) => constant('client/send.ts', name));
const waits = [
  ...new Set([0, 1, 2, 3, 4, 5, 6].map((n) => Math.min(Number(firstMs) * 2 ** n, Number(longestMs)) / 1000)),
];

const keptDays = (condition: RegExp) =>
  Number(
    new RegExp(`${condition.source} < now\\(\\) - interval '(\\d+) days'`).exec(
      read('server/commands/serve/retention.ts'),
    )?.[1],
  );
const [keptEventsDays, keptImportsDays] = [
  keptDays(/kind <> 'change' and created_at/),
  keptDays(/'imported' or active_at/),
];
const uploadDays = uploadBounds.keptForMs / 86_400_000 === 1 ? 'a day' : '…';

const shortestName = words(constant('server/records/redaction.ts', 'shortest'));
const running = (name: string) => constant('server/limits/concurrency.ts', name);
const secretLength = constant('server/config.ts', 'AUTH_SECRET: text');

/** Page or command → the sentences whose numbers come from the code. */
export const promised: Readonly<Record<string, readonly string[]>> = {
  agents: [
    `among the organization's ${maximumLiveKeys} keys`,
    `Exchange the code within ${codeSeconds} seconds`,
    `up to ${grouped(sumBounds.records)} proposals at once`,
    `${constant('server/mcp/find.ts', 'defaultLimit')} records with their main fields`,
    `the same arguments within ${idempotencyHours} hours`,
  ],
  'api-keys': [
    `never, or after ${shortest}, ${longer.join(' or ')} days`,
    `An organization can have ${maximumLiveKeys} keys at a time`,
    `Each can make ${limit} requests in any ${seconds} seconds`,
    `immediately: ${trusted}`,
    `takes effect ${trusted}`,
    `rejected attempts and sign-ins are removed after ${keptEventsDays} days`,
  ],
  automation: [`one page of at most ${pageSize.max} records`],
  growing: [
    `up to ${connections} connections to PostgreSQL`,
    `processes × ${connections}`,
    `20 processes have up to ${20 * pooled} connections to PgBouncer`,
    `opens up to ${pool('ormConnections')} direct connections`,
    `stops working ${trusted}`,
    `expire after ${idempotencyHours} hours`,
  ],
  import: [
    `files up to ${uploadBounds.bytes / 1_000_000} MB (${uploadBounds.unpackedBytes / 1_000_000_000} GB uncompressed)`,
    `${limit} records a minute`,
    `up to ${grouped(maximumColumns)} columns and ${grouped(uploadBounds.rows)} rows`,
    `a workbook up to ${constant('server/import/workbook.ts', 'bytes') / 1_000_000} MB`,
    `An import may take ${constant('server/uploads/process.ts', 'wholeMs') / 60_000} minutes`,
    `less than ${constant('server/uploads/process.ts', 'shortMs') / 1000} seconds does not wait`,
    `A file of up to ${constant('server/uploads/runner.ts', 'shortBytes') / 1_000_000} MB`,
    `the first ${constant('server/web/settings/import/import-page.ts', 'const most')} records`,
    `do not confirm is removed after ${uploadDays}`,
    `the rejected rows with the reasons within ${uploadDays}`,
    `at most the first ${grouped(constant('server/import/report.ts', 'rows'))} rejected rows`,
    `kept for the latest ${words(constant('server/uploads/uploads.ts', 'keptReports'))} imports`,
    `up to ${metadataLimits.keys} key-value pairs`,
  ],
  index: [`${limit} requests in any ${seconds} seconds`, `up to ${metadataLimits.keys} key-value pairs`],
  members: [
    `the ${recoveryCodes} recovery codes`,
    `After ${words(attemptLimits.code.most)} wrong ones, wait ${attemptLimits.code.seconds / 60} minutes`,
    `after ${sessionSeconds.idle / 3600} hours without a request, and after ${sessionSeconds.whole / 3600} hours at the latest`,
  ],
  operating: [
    `idle connections after ${constant('server/commands/serve/server.ts', 'keepAlive') / 1000} seconds`,
    `response within ${constant('server/commands/serve/app.ts', 'deadlineMs') / 1000} seconds`,
    `takes effect on every process ${trusted}`,
    `up to ${connections}:`,
    `(N + 1) × ${connections} per machine`,
    `Two machines with two workers each need ${2 * 3 * connections}`,
    `for ${graceSeconds} seconds, and exits after at most about ${drainSeconds} seconds`,
    `Allow ${drainSeconds + 10} seconds`,
    `a \`preStop\` hook that sleeps for ${preStopSeconds} seconds`,
    `\`terminationGracePeriodSeconds: ${preStopSeconds + drainSeconds + 10}\``,
    `After ${longTransactionMinutes} minutes, the log warns`,
    `for up to ${constant('server/database/orm.ts', 'migrationLockMs') / 1000} seconds each time`,
    `names with fewer than ${shortestName} characters`,
    `within ${constant('server/uploads/uploads.ts', 'pruneEveryMs') === 60_000 ? 'a minute' : '…'} by other processes`,
  ],
  'pagination-and-sync': [
    `from ${pageSize.min} to ${pageSize.max}; the default is ${pageSize.default}`,
    `at most ${constant('server/records/reader.ts', 'mostBytes') / 1024 ** 2} MiB of records`,
  ],
  'personal-data': [
    `a name with fewer than ${shortestName} characters`,
    `\`Idempotency-Key\` | ${idempotencyHours} hours`,
    `not their values | ${usageBounds.failureDays} days`,
    `with their contents | ${logDays} days`,
    `attempts in the activity | ${keptEventsDays} days`,
    `counts of requests, and the list of imports | ${usageBounds.days === keptImportsDays ? keptImportsDays : '…'} days`,
  ],
  'rate-limit': [
    `**${limit} requests in any ${seconds} seconds**`,
    `\`Retry-After: ${retryAfter.rateLimited}\``,
    `all ${limit} requests are available again`,
    `after the first ${grouped(constant('server/limits/rejections.ts', 'sentAtOnce'))} in a minute is sent one second`,
    `ten thousand records take ${pageSize.max === 100 ? 'a hundred requests' : '…'}`,
    `pause ${(seconds * 1000) / limit} ms between requests`,
    `At most ${running('ofKey')} requests per key and ${running('ofOrganization')} per organization run at a time`,
    `wait, for up to ${running('longestWaitMs') / 1000} seconds`,
    `with \`Retry-After: ${retryAfter.unavailable}\``,
    `more than ${constant('server/api/operations.ts', 'fewRecords')} proposals`,
  ],
  'retries-and-idempotency': [
    `\`Retry-After\`: ${retryAfter.rateLimited} seconds`,
    `\`Retry-After\`: ${retryAfter.unavailable} seconds`,
    `\`Retry-After\`: ${retryAfter.inProgress} second `,
    `For ${idempotencyHours} hours, a retry returns the first response`,
    `not just for ${idempotencyHours} hours`,
  ],
  'two-way-sync': [
    `make ${limit} requests in ${seconds} seconds`,
    `reads ${pageSize.max} records`,
    `${grouped(100 * pageSize.max)} customers take a little more than ${limit === 100 ? 'a minute' : '…'}`,
    `${grouped(50 * limit)} records take 50 minutes`,
  ],
  'typed-client': [
    `no limit | ${grouped(Number(timeoutMs))} |`,
    `is repeated | ${retries} |`,
    `up to ${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} seconds`,
    `at most ${words(constant('client/send.ts', 'longestRetryAfterSeconds') / 60)} minutes`,
  ],
  usage: [
    `the requests of the last ${reportedDays} days`,
    `the failed requests of the last ${usageBounds.failureDays} days, up to the latest ${usageBounds.storedFailures}`,
    `more than ${limit} requests in ${seconds} seconds`,
    `at most once ${mailedAgainDays.failing === 7 ? 'a week' : '…'} for each key and warning`,
    `of at least ${warningBounds.leastRequests} requests`,
    `more than ${warningBounds.graceMs === 60_000 ? 'a minute' : '…'} after it ended`,
    `in ${words(constant('server/keys/at-limit.ts', 'minutesInRow'))} consecutive minutes`,
    `not been used for ${warningBounds.unusedDays} days |`,
    `one email every ${mailedAgainDays.unused} days`,
    `the date is within ${warningBounds.expiringDays} days`,
  ],
  webhooks: [
    `an organization can have ${maximumEndpoints} endpoints`,
    `up to ${deliveryLimits.concurrency} requests at a time`,
    `take up to ${(2 * constant('server/webhooks/run.ts', 'scanMs')) / 1000} seconds`,
    `within ${sendLimits.totalMs / 1000} seconds`,
    `sent again for ${retryDays} days`,
    `So do ${failingDays} days of failures`,
    `the last ${shownDeliveries} deliveries`,
    `failed in the last ${logDays} days`,
    `an outage of more than ${retryDays} days`,
  ],
  README: [
    `takes effect ${trusted}`,
    `at least ${secretLength} characters`,
    `repeated for ${idempotencyHours} hours`,
    `${limit} requests per key in any ${seconds} seconds`,
  ],
  SECURITY: [
    `takes effect ${trusted}`,
    `${limit} requests per key in ${seconds} seconds`,
    `At most ${running('ofKey')} statements per key and ${running('ofOrganization')} per organization`,
    `wait up to ${running('longestWaitMs') / 1000} seconds, and reads end after ${constant('server/database/orm.ts', 'reads') / 1000}.`,
    `Bodies are limited to ${maximumBodyBytes / 1024} KiB`,
    `After ${words(attemptLimits.code.most)} wrong codes`,
    `a signed cookie for ${words(signInSeconds / 60)} minutes`,
    `work once within ${codeSeconds} seconds`,
  ],
  'help serve': [`for ${graceSeconds} seconds`, `at least ${secretLength} characters`],
  'help organizations': [`applies a changed plan ${trusted}`],
  'help members': [`within ${linkHours} hours`],
  'help keys': [`stops working ${trusted}`],
  'help webhooks': [`the last ${constant('server/commands/webhooks.ts', 'endpointId')} deliveries`],
  'help import': ['Exit status: 0 all rows were imported, 2 some rows were rejected, 1 the import'],
};
