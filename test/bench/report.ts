/** Prints the results as Markdown for README.md. */
import { cpus, loadavg } from 'node:os';
import type { Ran } from './processes.ts';

export type Settings = {
  organizations: number;
  /** Per organization. */
  customers: number;
  /** In all organizations together. */
  keys: number;
  rounds: number;
  /** Per round. */
  requests: number;
  flags: string[];
};

/** CPU in milliseconds per request, which equals seconds per 1,000 requests; times in milliseconds. */
export type Round = { perSecond: number; p50: number; p99: number; serverCpu: number; postgresCpu: number };

const print = (line: string) => void process.stdout.write(`${line}\n`);
export const median = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[numbers.length >> 1] ?? Number.NaN;
const row = (cells: readonly string[]) => print(`| ${cells.join(' | ')} |`);

/** The service's share of each yardstick's throughput, one number per operation. */
const shares: [number[], number[]] = [[], []];

const load = () =>
  loadavg()
    .map((one) => one.toFixed(1))
    .join(' ');

export function printHeader({ organizations, customers, keys, rounds, requests }: Settings, connections: number): void {
  const cores = cpus();
  print(`${cores.length} × ${cores[0]?.model}, Node ${process.version}, load ${load()} at the start.`);
  print(
    `${organizations} organizations × ${customers} customers, ${keys} keys, ${connections} connections, the median of`,
  );
  print(
    `${rounds} rounds of ${requests} requests. Each triple is service / same bytes / bare, each ratio the service's to`,
  );
  print('one of the two. CPU is in milliseconds a request.\n');
  const ratio = ['to bare', 'to same bytes'];
  const times = ['p50, ms', 'p99, ms', ...ratio];
  const names = ['requests/s', ...ratio, ...times, 'server CPU', ...ratio, 'PostgreSQL CPU', ...ratio];
  row(['operation', ...names]);
  row(['---', ...names.map(() => '--:')]);
}

export function printOperation(name: string, [ours = [], alike = [], bare = []]: readonly Round[][]): void {
  const triple = (value: keyof Round, digits: number) =>
    [ours, alike, bare].map((rounds) => median(rounds.map((round) => round[value])).toFixed(digits)).join(' / ');
  const ratio = (value: keyof Round, theirs: readonly Round[]) =>
    median(ours.map((round, at) => round[value] / (theirs[at]?.[value] ?? Number.NaN)));
  const ratios = (value: keyof Round) => [ratio(value, bare).toFixed(2), ratio(value, alike).toFixed(2)];
  shares[0].push(ratio('perSecond', bare));
  shares[1].push(ratio('perSecond', alike));
  const cells = [
    [triple('perSecond', 0), ...ratios('perSecond'), triple('p50', 1), triple('p99', 1), ...ratios('p99')],
    [triple('serverCpu', 2), ...ratios('serverCpu'), triple('postgresCpu', 2), ...ratios('postgresCpu')],
  ];
  row([name, ...cells.flat()]);
}

const geometricMean = (numbers: readonly number[]) =>
  Math.exp(numbers.reduce((sum, one) => sum + Math.log(one), 0) / numbers.length).toFixed(2);

export function printFooter(rssMiB: readonly number[]): void {
  const [bare, alike] = shares.map(geometricMean);
  print(
    `\nGeometric means of throughput: ${bare} of bare node:http + pg with its own lean rows, ${alike} of the same bytes.`,
  );
  print(`Resident memory at the end: ${rssMiB.map((size) => `${size.toFixed(0)} MiB`).join(' / ')}. Load ${load()}.\n`);
}

/** Times in milliseconds, one for each size. */
export type GrowthRow = { name: string; p50s: number[]; database: number[]; plan: string };

export function printGrowth(sizes: readonly number[], rows: readonly GrowthRow[]): void {
  const names = (what: string) => [...sizes.map((size) => `${what} with ${size}`), 'ratio'];
  const header = [...names('p50'), ...names('in PostgreSQL')];
  row(['request', ...header]);
  row(['---', ...header.map(() => '--:')]);
  const cells = (times: readonly number[]) => [
    ...times.map((time) => time.toFixed(2)),
    ((times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN)).toFixed(1),
  ];
  for (const { name, p50s, database } of rows) row([name, ...cells(p50s), ...cells(database)]);
  print(`\nTimes are in milliseconds. Plans with ${sizes.at(-1)} customers:\n`);
  for (const { name, plan } of rows) print(`${name}\n${plan.replaceAll(/^/gm, '    ')}\n`);
}

export type ExportRow = Ran & { format: string; customers: number; databaseSeconds: number };

export function printExport(rows: readonly ExportRow[]): void {
  const names = [
    'customers',
    'seconds',
    'customers/s',
    'first byte, ms',
    'CPU, s',
    'CPU of PostgreSQL, s',
    'peak RSS, MiB',
  ];
  row(['export', ...names]);
  row(['---', ...names.map(() => '--:')]);
  for (const { format, customers, seconds, firstByteMs, ownSeconds, databaseSeconds, peakMiB } of rows) {
    const times = [seconds.toFixed(1), (customers / seconds).toFixed(0), firstByteMs.toFixed(0)];
    const costs = [ownSeconds.toFixed(1), databaseSeconds.toFixed(1), peakMiB.toFixed(0)];
    row([format, String(customers), ...times, ...costs]);
  }
  print(`\nThe first byte is counted from the start of the command. Load ${load()}.\n`);
}
