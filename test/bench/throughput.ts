/** Measures the service and both yardsticks in turn, so other load on the machine affects them equally. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../server/database/orm.ts';
import type { Job, Result } from './load.ts';
import { requestsOf } from './operations.ts';
import type { Called, Operation } from './operations.ts';
import { bareTables } from './bare-tables.ts';
import { withPostgres } from './postgres.ts';
import { cpuSeconds, postmasterPid, program, rssMiB, startServer } from './processes.ts';
import type { Server } from './processes.ts';
import { fillOrganization, withoutIndexes } from './records.ts';
import type { Filled } from './records.ts';
import { printFooter, printHeader, printOperation } from './report.ts';
import type { Round, Settings } from './report.ts';
import { differentBytes } from './same-bytes.ts';

type Measured = Server & Called;

const connections = 16;
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function fill(database: Database, settings: Settings): Promise<Filled[]> {
  const { customers } = settings;
  const keys = Math.ceil(settings.keys / settings.organizations);
  const size = { customers, proposals: Math.ceil(customers / 5), lines: 3, items: Math.ceil(customers / 10), keys };
  return withoutIndexes(database, async () => {
    const organizations: Filled[] = [];
    for (let index = 0; index < settings.organizations; index += 1)
      organizations.push(await fillOrganization(database, `bench-${index}`, size));
    return organizations;
  });
}

/** One process sends the load of every round. */
function startLoad() {
  const child = fork(file('./load.ts'));
  return {
    async send(job: Job): Promise<Exclude<Result, { error: string }>> {
      child.send(job);
      const [result]: [Result] = (await once(child, 'message')) as [Result];
      if ('error' in result) throw new Error(result.error);
      return result;
    },
    close: () => child.disconnect(),
  };
}

export function measureOperations(operations: readonly Operation[], settings: Settings): Promise<void> {
  return withPostgres(async ({ url, database, folder }) => {
    const organizations = await fill(database, settings);
    await bareTables(database.pool);
    const postgres = await postmasterPid(database.pool);
    const load = startLoad();
    const env = { DATABASE_URL: url, PORT: '0' };
    // In the order of the table's columns.
    const alike: Measured[] = [
      await startServer([program, 'serve'], env, join(folder, 'service.log'), settings.flags),
      await startServer([file('./yardstick.ts')], env, join(folder, 'yardstick.log')),
    ].map((server) => ({ ...server, dialect: 'service' }));
    const bare = await startServer([file('./bare.ts')], env, join(folder, 'bare.log'));
    const servers: Measured[] = [...alike, { ...bare, dialect: 'bare' }];

    async function round({ port, pid, dialect }: Measured, operation: Operation): Promise<Round> {
      const { requests: count } = settings;
      const requests = requestsOf(operation, organizations, { port, dialect });
      const before = [cpuSeconds(pid), cpuSeconds(postgres)] as const;
      const result = await load.send({ port, connections, count, requests, status: operation.status });
      const per1000 = (cpu: number) => (cpu / result.count) * 1000;
      return {
        perSecond: result.count / result.seconds,
        p50: result.p50,
        p99: result.p99,
        serverCpu: per1000(cpuSeconds(pid) - before[0]),
        postgresCpu: per1000(cpuSeconds(postgres) - before[1]),
      };
    }

    try {
      printHeader(settings, connections);
      for (const operation of operations) {
        const different = await differentBytes(operation, organizations, alike);
        if (different) throw new Error(`${operation.name}: ${different}`);
        for (const server of servers) await round(server, operation);
        const rounds: Round[][] = servers.map(() => []);
        for (let turn = 0; turn < settings.rounds; turn += 1)
          for (const [index, server] of servers.entries()) rounds[index]?.push(await round(server, operation));
        printOperation(operation.name, rounds);
      }
      printFooter(servers.map(({ pid }) => rssMiB(pid)));
    } finally {
      load.close();
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
}
