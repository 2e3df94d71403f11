/**
 * The cost of a request compared with a minimal server that sends the same bytes (yardstick.ts), and how responses slow
 * down as an organization grows. README.md says how to read the results. Slow results are not failures.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureExport } from './export.ts';
import { measureGrowth } from './growth.ts';
import { operations } from './operations.ts';
import { measureOperations } from './throughput.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    organizations: { type: 'string', default: '20' },
    customers: { type: 'string', default: '10000' },
    keys: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    /** Per round; a key may send 100 a minute. */
    requests: { type: 'string', default: '3000' },
    /** How many customers the organization of the growth table has, small and large. */
    growth: { type: 'string', default: '10000,1000000' },
    /** How many customers are exported and imported. */
    export: { type: 'string', default: '20000,200000' },
    import: { type: 'string', default: '100000' },
    /** Node flags for the service, such as --cpu-prof. */
    flags: { type: 'string', default: '' },
  },
});

const chosen = (part: string) => positionals.length === 0 || positionals.some((word) => part.includes(word));
const measured = operations.filter(({ name }) => chosen(name));
if (measured.length > 0) {
  await measureOperations(measured, {
    organizations: Number(values.organizations),
    customers: Number(values.customers),
    keys: Number(values.keys),
    rounds: Number(values.rounds),
    requests: Number(values.requests),
    flags: values.flags.split(' ').filter(Boolean),
  });
}
if (chosen('growth')) await measureGrowth(values.growth.split(',').map(Number));
if (chosen('export')) await measureExport(values.export.split(',').map(Number));
if (chosen('import')) {
  const program = fileURLToPath(new URL('import.ts', import.meta.url));
  process.exitCode = spawnSync(process.execPath, [program, values.import], { stdio: 'inherit' }).status ?? 1;
}
