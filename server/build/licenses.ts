/** LICENSES.txt: the license of every library that the bundle contains, as most of them require. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `files` are the absolute paths of bundled files. Throws if a library says nothing about its license. */
export async function licensesOf(files: Iterable<string>): Promise<string> {
  const folders = new Set([...files].map(packageFolder).filter((folder) => folder !== undefined));
  const texts = await Promise.all([...folders].map(describe));
  return texts.toSorted().join(`\n${'-'.repeat(80)}\n\n`);
}

/** `/x/node_modules/@mikro-orm/core/index.js` → `/x/node_modules/@mikro-orm/core` */
const packageFolder = (file: string): string | undefined =>
  /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

async function describe(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(text) as Record<string, string | undefined>;
  const file = (await readdir(folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const terms = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  if (typeof license !== 'string' && terms === '')
    throw new Error(`${name} ${version} says nothing about its license.`);
  return `${name} ${version}, ${license ?? 'see below'}\n${terms}`;
}
