/** Builds of the service for a test: each release of this repository, and a fictitious one after this checkout. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const sources = ['client', 'contract', 'server', 'CHANGELOG.md', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** The release tags, newest first; none before the first release, or without a repository. */
export async function releaseTags(): Promise<string[]> {
  const words = ['tag', '--list', 'v*', '--sort=-version:refname'];
  const { stdout } = await run('git', words, { cwd: root }).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/** Builds a release, or this checkout, in a new folder, and returns the program. */
export async function buildRelease(folder: string, tag?: string): Promise<string> {
  await mkdir(folder);
  if (tag === undefined) await copySources(folder);
  else await run('sh', ['-c', `git archive ${tag} | tar --extract --directory ${folder}`], { cwd: root });
  return build(folder);
}

/** A migration that is compatible with the previous release, as each must be: it only adds. */
export const nextMigration = '20990101-next-release';
const compatible = `
create table next_release (id uuid primary key default gen_random_uuid(), noted_at timestamptz(3) not null default now());
alter table customers add column next_release text not null default '';
create index customers_by_next_release on customers (organization_id, next_release);`;

/** Builds this checkout as the release after it, with one more migration. */
export async function buildNext(folder: string, statements = compatible): Promise<string> {
  await mkdir(folder);
  await copySources(folder);
  const migrations = join(folder, 'server/database/migrations');
  const migration = `import { Migration } from '@mikro-orm/migrations';
export class NextReleaseMigration extends Migration {
  override up(): void {
    this.addSql(\`${statements}\`);
  }
}`;
  await writeFile(join(migrations, `${nextMigration}.ts`), migration);
  const load = `load: () => import('./${nextMigration}.ts')`;
  await edit(join(migrations, 'list.ts'), '\n] as const', `\n  { name: '${nextMigration}', ${load} },\n] as const`);
  await edit(join(folder, 'package.json'), /"version": "[^"]+"/, '"version": "1000.0.0"');
  return build(folder);
}

async function copySources(folder: string): Promise<void> {
  for (const name of sources) await cp(join(root, name), join(folder, name), { recursive: true });
}

async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const edited = text.replace(from, to);
  if (edited === text) throw new Error(`${file} has no ${from}.`);
  await writeFile(file, edited);
}

/** Uses the libraries of this checkout if it requires the same ones. */
async function build(folder: string): Promise<string> {
  if (librariesOf(folder) === librariesOf(root))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['ci', '--ignore-scripts'], { cwd: folder });
  await run(process.execPath, ['server/build/build.ts'], { cwd: folder });
  const program = join(folder, 'dist/server/main.js');
  if (!existsSync(program)) throw new Error(`The build in ${folder} has no program.`);
  return program;
}

function librariesOf(folder: string): string {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return JSON.stringify({ ...packages, '': { ...packages[''], version: '' } });
}
