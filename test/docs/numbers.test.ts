/**
 * Every number with a unit in the guides, the README, the security policy and the help of the commands comes from the
 * code, or promises nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../command.ts';
import { promised } from './promises.ts';

const root = new URL('../../', import.meta.url);
const guides = 'server/web/docs/guides/';
const pages = new Map([
  ...readdirSync(new URL(guides, root))
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file.slice(0, -'.md'.length), guides + file] as const),
  ['README', 'README.md'],
  ['SECURITY', 'SECURITY.md'],
]);

const number = String.raw`(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|hundred|thousand|million)`;
const units = [
  'ms|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|KiB|[KMGT]B|[MG]iB|bytes|characters|tokens|times',
  'attempts|codes|columns|connections|customers|decimals|deliveries|endpoints|files|groups|keys|lines|members|ones|organizations',
  'pages|pairs|processes|proposals|records|requests|rows|statements|tags|words|workers',
].join('|');
const measured = new RegExp(
  String.raw`\b${number}[ -](?:[a-z-]+ )?(?:${units})\b|\b(?:within|every|once|than|after|in|for|take|late) (?:an?|one) (?:second|minute|hour|day|week)\b`,
  'g',
);

/** Page → examples, arithmetic on numbers promised elsewhere, measurements, and numbers of other products. */
const unpromised: Readonly<Record<string, readonly string[]>> = {
  agents: ['at most about 8,000 tokens'],
  'api-keys': ['Ask the operator for a second organization'],
  automation: ['for example every 15 minutes', 'n8n tries at most 5 times, 5 seconds apart', 'an interval of 6000 ms'],
  'first-call': ['all in five minutes'],
  import: ['Windows-1252 files', '1 to 255 characters'],
  index: ['a prefix and 26 characters', 'in UTC with three decimals'],
  invoices: [
    'A page of 100 proposals with 500 lines each is 18 MB, or 2.4 MB with gzip',
    '10: 1.8 MB, or 0.24 MB with',
  ],
  members: ['asks for a second factor'],
  money: ['with at most 4 decimals', 'with more than 4 decimals'],
  operating: [
    '1 GB of memory for each process',
    'with a heap limit of 400 MB used 530 MB; one with a limit of 200 MB crashed',
    'of up to 900 MB each; an Excel workbook with 2.4 million cells took 350 MB',
    'near 0 while deliveries',
    'drop the old one two weeks later',
  ],
  'retries-and-idempotency': ['1, 2, 4, 8 seconds, with random jitter', 'up to 5 times'],
  versioning: ['at least 12 months ahead'],
  webhooks: ['Usually within a second', 'create two endpoints'],
  README: ['up to four decimals'],
};

/** Text without code, on one line. */
const proseOf = (path: string) =>
  readFileSync(new URL(path, root), 'utf8')
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/\s+/g, ' ');

/** The numbers that are in none of the sentences. */
const left = (text: string, sentences: readonly string[]) =>
  sentences.reduce((rest, sentence) => rest.replaceAll(sentence, ''), text).match(measured) ?? [];

const knownOf = (page: string) => [...(promised[page] ?? []), ...(unpromised[page] ?? [])];

test.each([...pages].flatMap(([page, path]) => knownOf(page).map((sentence) => [page, sentence, path] as const)))(
  '%s says: %s',
  (_, sentence, path) => expect(proseOf(path)).toContain(sentence),
);

// The numbers of the growing guide are measurements.
test.each([...pages].filter(([page]) => page !== 'growing'))('%s states no other number', (page, path) =>
  expect(left(proseOf(path), knownOf(page))).toEqual([]),
);

test('the table names pages and commands that exist', () => {
  const named = [...Object.keys(promised), ...Object.keys(unpromised)].filter((name) => !name.startsWith('help '));
  expect(named.filter((name) => !pages.has(name))).toEqual([]);
});

/** Every command and subcommand, as words. */
async function commandsIn(words: readonly string[] = []): Promise<{ words: readonly string[]; help: string }[]> {
  const { out } = await runCommand([...words, '--help'], {});
  const [, list = ''] = out.split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
  const found = [{ words, help: out.replaceAll(/\s+/g, ' ') }];
  for (const name of names) found.push(...(await commandsIn([...words, name])));
  return found;
}

test('the help of the commands states only numbers from the code', async () => {
  const commands = await commandsIn();
  expect(commands.length).toBeGreaterThan(30);
  expect(commands.map(({ words }) => `help ${words.join(' ')}`)).toEqual(
    expect.arrayContaining(Object.keys(promised).filter((name) => name.startsWith('help '))),
  );
  for (const { words, help } of commands) {
    const name = `help ${words.join(' ')}`;
    const known = promised[name] ?? [];
    for (const sentence of known) expect(help, name).toContain(sentence);
    expect({ name, left: left(help, known) }).toEqual({ name, left: [] });
  }
});
