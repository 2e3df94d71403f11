/** What was measured, as Markdown for README.md. */
import type { Settings } from './throughput.ts';

/** CPU in seconds per 1,000 requests, times in milliseconds. */
export type Round = { perSecond: number; p50: number; p99: number; serverCpu: number; postgresCpu: number };

const print = (line: string) => void process.stdout.write(`${line}\n`);
export const median = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[numbers.length >> 1] ?? Number.NaN;
const row = (cells: readonly string[]) => print(`| ${cells.join(' | ')} |`);

const ratios: number[] = [];

export function printHeader({ organizations, customers, keys, rounds, requests }: Settings, connections: number): void {
  print(
    `${organizations} organizations × ${customers} customers, ${keys} keys, ${connections} connections, the median of`,
  );
  print(`${rounds} rounds of ${requests} requests. Each pair is service / yardstick.\n`);
  const names = ['requests/s', 'ratio', 'p50, ms', 'p99, ms', 'server CPU', 'ratio', 'PostgreSQL CPU', 'ratio'];
  row(['operation', ...names]);
  row(['---', ...names.map(() => '--:')]);
}

export function printOperation(name: string, [ours = [], theirs = []]: readonly Round[][]): void {
  const pair = (value: keyof Round, digits: number) =>
    [ours, theirs].map((rounds) => median(rounds.map((round) => round[value])).toFixed(digits)).join(' / ');
  const ratio = (value: keyof Round) =>
    median(ours.map((round, at) => round[value] / (theirs[at]?.[value] ?? Number.NaN)));
  ratios.push(ratio('perSecond'));
  const cells = [
    [pair('perSecond', 0), ratio('perSecond').toFixed(2), pair('p50', 1), pair('p99', 1)],
    [pair('serverCpu', 2), ratio('serverCpu').toFixed(2), pair('postgresCpu', 2), ratio('postgresCpu').toFixed(2)],
  ];
  row([name, ...cells.flat()]);
}

export function printFooter(rssMiB: readonly number[]): void {
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  print(`\nGeometric mean of the ratios of throughput: ${mean.toFixed(2)}. CPU is in seconds per 1,000 requests.`);
  print(`Resident memory at the end: ${rssMiB.map((size) => `${size.toFixed(0)} MiB`).join(' / ')}.\n`);
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
