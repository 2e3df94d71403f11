/**
 * `npm run release -- 1.1.0` releases what is committed: it dates the changelog, updates every copy of the version,
 * archives the client's package and the OpenAPI document, builds, and commits and tags the result. It pushes nothing.
 * `--dry-run` only prints which files it would write. `--prepare` only writes the version, for changes after a release:
 * a released client cannot change without a new version.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { readVersion } from '../files.ts';
import {
  datedChangelog,
  filesWithVersion,
  isHigher,
  pendingVersion,
  preparedChangelog,
  withVersion,
} from './release-plan.ts';
import type { Edit } from './release-plan.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const printLine = (line: string) => void process.stdout.write(`${line}\n`);

async function run(command: string, ...values: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, values, { cwd: root, maxBuffer: 2 ** 26 });
  return stdout.trim();
}

const read = async (file: string): Promise<Edit> => ({ file, text: await readFile(join(root, file), 'utf8') });

/** The files that a release changes, with their new text. */
async function plan(version: string, isPrepared: boolean): Promise<Edit[]> {
  const changelog = await read('CHANGELOG.md');
  const date = new Date().toISOString().slice(0, 10);
  const texts = await Promise.all((await filesWithVersion(root)).map(read));
  const changed = texts
    .map((text) => withVersion(text, version))
    .filter(({ text }, index) => text !== texts[index]?.text);
  const text = isPrepared ? preparedChangelog(changelog.text, version) : datedChangelog(changelog.text, version, date);
  return [{ ...changelog, text }, ...changed];
}

/** The requested version, or the one that is pending in the changelog; undefined if there is nothing to release. */
async function chosenVersion(typed: string | undefined): Promise<string | undefined> {
  const current = readVersion();
  const pending = pendingVersion((await read('CHANGELOG.md')).text);
  const version = typed ?? pending;
  if (version !== undefined && !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${version} is not a version such as 1.1.0.`);
  if (version !== undefined && version !== pending && !isHigher(version, current))
    throw new Error(`${version} does not come after ${current}.`);
  return version;
}

async function checkRepository(version: string): Promise<void> {
  if ((await run('git', 'status', '--porcelain')) !== '')
    throw new Error('There are uncommitted changes. Commit them first.');
  if ((await run('git', 'tag', '--list', `v${version}`)) !== '') throw new Error(`The tag v${version} already exists.`);
}

/** Writes the version everywhere, including generated files. */
async function write(edits: readonly Edit[]): Promise<void> {
  for (const { file, text } of edits) await writeFile(join(root, file), text);
  await run('npm', 'install', '--package-lock-only', '--ignore-scripts');
  await run('npm', 'run', 'generate');
  await run('npm', 'run', 'openapi:update');
}

async function release(version: string, edits: readonly Edit[]): Promise<void> {
  await checkRepository(version);
  await write(edits);
  await run('npm', 'run', 'openapi:release');
  await run('npm', 'run', 'client:release');
  await run('npm', 'run', 'build');
  await writeFile(
    join(root, 'dist/sbom.cdx.json'),
    await run('npm', 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'),
  );
  const archive = await run('npm', 'pack', '--ignore-scripts', '--silent');
  await run('git', 'add', '--all');
  await run('git', 'commit', '--message', `release ${version}`);
  await run('git', 'tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  printLine(`Tagged v${version}. ${archive} is the service, with dist/LICENSES.txt and dist/sbom.cdx.json in it.`);
  printLine(`To publish it: git push --follow-tags`);
}

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, prepare: { type: 'boolean', default: false } },
  allowPositionals: true,
});
try {
  const version = await chosenVersion(positionals[0]);
  if (version === undefined) {
    if (!values['dry-run']) throw new Error('Name the version: npm run release -- 1.1.0');
    printLine('There is nothing to release.');
  } else {
    const edits = await plan(version, values.prepare);
    if (values['dry-run']) for (const { file } of edits) printLine(`${version}: would write ${file}`);
    else await (values.prepare ? write(edits) : release(version, edits));
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
