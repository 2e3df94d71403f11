/**
 * The latency and cost of webhooks, with the receiver in the same process: the time from a write to its receipt, with one
 * endpoint, with a thousand, and without a hint; the time of a create with and without an endpoint, alternating; and how
 * many events of an import are delivered per second. `node test/bench/webhooks.ts 20000` sets the number of imported rows.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Organization } from '../../server/entities/organization.ts';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { importFile } from '../../server/import/import-file.ts';
import { issueKey } from '../../server/keys/issue.ts';
import { createDestinations } from '../../server/outgoing/addresses.ts';
import { createEndpoint } from '../../server/webhooks/endpoints.ts';
import { createSeal } from '../../server/text/seal.ts';
import { throwawayDatabase } from '../database.ts';
import { withFile } from '../import/importing.ts';
import { listen } from '../ports.ts';

const imported = Number(process.argv[2] ?? 10_000);
const authSecret = 'a secret of the measurement, which is long enough';
const allow = ['127.0.0.0/8'];
const parts = { seal: createSeal(authSecret, 'webhook secrets'), destinations: createDestinations(allow) };

const receivedAt = new Map<string, number>();
let requests = 0;
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  requests += 1;
  receivedAt.set(JSON.parse(Buffer.concat(chunks).toString()).data.name, performance.now());
  response.writeHead(204).end();
}
const receiver = createServer((request, response) => void receive(request, response));
const hook = `http://127.0.0.1:${await listen(receiver)}/`;

const postgres = await throwawayDatabase();
const database = await openDatabase({ url: postgres.url });
await migrate(database);
const limiter = { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) };
const serving = await serve({
  database,
  log: () => undefined,
  host: '127.0.0.1',
  port: 0,
  limiter,
  authSecret,
  webhooks: { allow },
});

/** A write without a hint, as if from another process. */
async function createUnannounced({ id }: Organization): Promise<string> {
  const name = `N-${(names += 1)}`;
  await database.pool.query(
    `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search, tokens)
     values ($1, gen_random_uuid(), 'person', $2, '{}', '{}', 'active', $2, $2, $2, '[]')`,
    [id, name],
  );
  return name;
}

async function organizationWith(slug: string, endpoints: number) {
  const organization = await createOrganization(database, { name: slug, slug, plan: 'team', currency: 'USD' });
  const admin = await addMember(database, organization, { email: `${slug}@a.example`, name: 'Ann', role: 'admin' });
  const { em } = forOrganization(database, organization.id);
  const fields = { name: 'E', url: hook, events: ['customer.created'] };
  for (let count = 0; count < endpoints; count += 1) await createEndpoint(em(), admin, fields, parts);
  return { organization, key: (await issueKey(em(), admin, { name: 'bench' })).raw };
}

let names = 0;
async function create(key: string): Promise<{ name: string; ms: number }> {
  const name = `N-${(names += 1)}`;
  const startedAt = performance.now();
  const response = await fetch(`${serving.url}/v1/customers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  await response.arrayBuffer();
  return { name, ms: performance.now() - startedAt };
}

const quantile = (values: number[], share: number): string =>
  (values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN).toFixed(1);
const print = (line: string) => process.stdout.write(`${line}\n`);

async function latency(title: string, keys: readonly string[]): Promise<void> {
  const latencies: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const startedAt = performance.now();
    const { name } = await create(keys[index % keys.length] ?? '');
    while (!receivedAt.has(name)) await wait(1);
    latencies.push((receivedAt.get(name) ?? 0) - startedAt);
  }
  print(
    `${title}: p50 ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms from the write to its receipt`,
  );
}

const [first, without] = [await organizationWith('one', 1), await organizationWith('none', 0)];
// The next poll has to find the endpoints.
await wait(6_000);
await latency('1 endpoint', [first.key]);
const unannounced: number[] = [];
for (let index = 0; index < 20; index += 1) {
  // At different points of the polling interval.
  await wait(index * 100);
  const startedAt = performance.now();
  const name = await createUnannounced(first.organization);
  while (!receivedAt.has(name)) await wait(1);
  unannounced.push((receivedAt.get(name) ?? 0) - startedAt);
}
print(`Without a hint: p50 ${quantile(unannounced, 0.5)} ms, at most ${quantile(unannounced, 0.999)} ms`);

const [costs, bare]: [number[], number[]] = [[], []];
for (let index = 0; index < 500; index += 1) {
  costs.push((await create(first.key)).ms);
  // Deliveries must not compete with the next create.
  await wait(100);
  bare.push((await create(without.key)).ms);
  await wait(100);
}
print(`A create: p50 ${quantile(costs, 0.5)} ms with an endpoint, ${quantile(bare, 0.5)} ms without`);

const before = requests;
const startedAt = performance.now();
const rows = Array.from({ length: imported }, (_, index) =>
  JSON.stringify({ externalId: `${index}`, name: `I-${index}` }),
);
await withFile('rows.jsonl', rows.join('\n'), (file) =>
  importFile({ database, organization: first.organization, kind: 'customers', file }),
);
while (requests < before + imported) await wait(10);
const seconds = (performance.now() - startedAt) / 1000;
print(
  `${imported} imported customers: delivered in ${seconds.toFixed(1)} s, ${Math.round(imported / seconds)} a second`,
);

const more = [];
for (let index = 0; index < 100; index += 1) more.push(await organizationWith(`many-${index}`, 10));
await wait(6_000);
await latency(
  '1,000 endpoints more',
  more.map(({ key }) => key),
);

await serving.close();
await database.orm.close();
receiver.closeAllConnections();
receiver.close();
await postgres.close();
