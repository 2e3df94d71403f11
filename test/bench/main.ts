/**
 * What a request costs, as CPU time of the server's process, beside a bare node:http server that does the same select:
 * the two take turns, so that what else the machine does falls on both. The ratio is what to look at; nothing here
 * fails by being slow. `npm run bench -- get` measures one operation, NODE_OPTIONS=--cpu-prof says where the time goes.
 */
import { fileURLToPath } from 'node:url';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { Customer } from '../../server/entities/customer.ts';
import type { Organization } from '../../server/entities/organization.ts';
import { publicId } from '../../server/records/public-id.ts';
import { issueKey } from '../../server/keys/issue.ts';
import { throwawayDatabase } from '../database.ts';
import { startChild } from './child.ts';
import type { Child } from './child.ts';
import { openLoad } from './load.ts';
import type { Shot } from './load.ts';

const customers = 2_000;
const warmups = 2;
const rounds = 5;
const requests = 2_000;

type Subject = { server: Child; headers: Record<string, string>; idOf: (uuid: string) => string };
type Operation = { name: string; shot: (subject: Subject, uuid: string) => Shot };
type Cost = { cpuMicros: number; statements: number };

const get = ({ headers, idOf }: Subject, uuid: string): Shot => ({
  method: 'GET',
  path: `/v1/customers/${idOf(uuid)}`,
  headers,
  status: 200,
});
const list = ({ headers }: Subject): Shot => ({ method: 'GET', path: '/v1/customers', headers, status: 200 });
const body = JSON.stringify(company(0));

const operations: Operation[] = [
  { name: 'list 25', shot: list },
  { name: 'list 100', shot: (subject) => ({ ...list(subject), path: '/v1/customers?limit=100' }) },
  { name: 'get', shot: get },
  {
    name: 'get, answered 304',
    shot(subject, uuid) {
      const conditional = { ...subject.headers, 'if-none-match': '*' };
      return { ...get(subject, uuid), headers: conditional, status: 'authorization' in subject.headers ? 304 : 200 };
    },
  },
  {
    name: 'create',
    shot({ headers }) {
      const sized = {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      };
      return { method: 'POST', path: '/v1/customers', headers: sized, body, status: 201 };
    },
  },
];

function company(index: number) {
  return {
    companyName: `Company ${index} & Daughters`,
    email: `orders@company-${index}.example`,
    phone: `+49 30 ${1_000_000 + index}`,
    address: { line1: `Lange Straße ${index}`, city: 'Berlin', postalCode: '10115', country: 'DE' },
    tags: ['wholesale', `region-${index % 7}`],
  };
}

/** An organization with customers and a key. */
async function fill(database: Database): Promise<{ organization: Organization; key: string; uuids: string[] }> {
  const organization = await createOrganization(database, {
    name: 'Bench',
    slug: 'bench',
    plan: 'team',
    currency: 'EUR',
  });
  const admin = await addMember(database, organization, { email: 'ann@bench.example', name: 'Ann', role: 'admin' });
  const em = forOrganization(database, organization.id).em();
  const { raw } = await issueKey(em, admin, 'bench');
  const records = Array.from({ length: customers }, (_, index) => {
    const { address, ...rest } = company(index);
    const whole = { region: null, line2: null, ...address };
    return em.create(Customer, { type: 'company', name: rest.companyName, ...rest, address: whole });
  });
  await em.flush();
  await database.pool.query('analyze');
  return { organization, key: raw, uuids: records.map(({ id }) => id) };
}

async function measure(load: ReturnType<typeof openLoad>, { shot }: Operation, subjects: Subject[], uuids: string[]) {
  const costs = subjects.map((): Cost[] => []);
  for (let round = -warmups; round < rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const before = await subject.server.usage();
      await load.fire(subject.server.url, (number) => shot(subject, uuids[number % uuids.length] ?? ''), requests);
      const after = await subject.server.usage();
      if (round < 0) continue;
      costs[index]?.push({
        cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
        statements: (after.statements - before.statements) / requests,
      });
    }
  }
  return costs;
}

const median = (numbers: number[]) =>
  numbers.toSorted((left, right) => left - right)[numbers.length >> 1] ?? Number.NaN;

function row(name: string, [ours = [], bare = []]: Cost[][]): string {
  const ratio = median(ours.map(({ cpuMicros }, round) => cpuMicros / (bare[round]?.cpuMicros ?? Number.NaN)));
  const cells = [
    median(ours.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
    median(bare.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
    ratio.toFixed(2),
    median(ours.map(({ statements }) => statements)).toFixed(2),
    median(bare.map(({ statements }) => statements)).toFixed(2),
  ];
  return print([name, ...cells]);
}

const print = ([name = '', ...cells]: string[]) =>
  `${name.padEnd(18)}${cells.map((cell) => cell.padStart(14)).join('')}\n`;
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function main(): Promise<void> {
  const { url, close } = await throwawayDatabase();
  const load = openLoad();
  const servers: Child[] = [];
  try {
    const database = await openDatabase({ url });
    await migrate(database);
    const { organization, key, uuids } = await fill(database);
    await database.orm.close();
    const start = async (name: string) => {
      const server = await startChild(file(name), [url, organization.id]);
      servers.push(server);
      return server;
    };
    const subjects: Subject[] = [
      {
        server: await start('./ours.ts'),
        headers: { authorization: `Bearer ${key}` },
        idOf: (uuid) => publicId('customer', uuid),
      },
      { server: await start('./bare.ts'), headers: {}, idOf: (uuid) => uuid },
    ];
    process.stdout.write(`CPU of the server per request; the median of ${rounds} rounds of ${requests} requests.\n`);
    process.stdout.write(print(['', 'ours, µs', 'bare, µs', 'ratio', 'statements', 'bare']));
    const [, , ...wanted] = process.argv;
    const measured = operations.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
    for (const operation of measured)
      process.stdout.write(row(operation.name, await measure(load, operation, subjects, uuids)));
  } finally {
    load.close();
    await Promise.all(servers.map((server) => server.stop()));
    await close();
  }
}

await main();
