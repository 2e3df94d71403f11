/** What a release changes in the checkout's files. Nothing here writes. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export type Edit = { file: string; text: string };

const guides = 'server/web/docs/guides';

/** Where the version of package.json is repeated, and how. */
const copies: readonly { files: RegExp; pattern: RegExp }[] = [
  { files: /package\.json$/, pattern: /(?<="version": ")[^"]+(?=")/ },
  { files: /info\.ts$/, pattern: /(?<=version: ')[^']+(?=')/ },
  { files: /\.md$/, pattern: /(?<=client-)\d+\.\d+\.\d+(?=\.tgz|\/)/g },
];

/** Files that repeat the version, or may. `root` is the checkout. */
export async function filesWithVersion(root: string): Promise<string[]> {
  const pages = (await readdir(join(root, guides))).filter((file) => file.endsWith('.md'));
  return [
    'package.json',
    'client/package.json',
    'contract/openapi/info.ts',
    'README.md',
    'client/README.md',
    ...pages.map((file) => `${guides}/${file}`),
  ];
}

/** With another version in every copy. */
export function withVersion({ file, text }: Edit, version: string): Edit {
  const changed = copies
    .filter(({ files }) => files.test(file))
    .reduce((before, { pattern }) => before.replace(pattern, version), text);
  return { file, text: changed };
}

/** The version that is not published yet: the newest section without a date. Undefined if everything is published. */
export const pendingVersion = (changelog: string): string | undefined => /^## \[(\d[^\]]*)\]\n/m.exec(changelog)?.[1];

/**
 * The changelog with this version dated: its own section if there is one, or what is under "Unreleased". Throws if it
 * says nothing about the version, or if the version is published.
 */
export function datedChangelog(changelog: string, version: string, date: string): string {
  const published = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - `, 'm');
  if (published.test(changelog)) throw new Error(`Version ${version} is published: choose a higher one.`);
  const heading = `## [${version}]`;
  const unreleased = '## [Unreleased]\n';
  const [, pending = ''] = /^## \[Unreleased\]\n([^]*?)(?=^## \[|(?![^]))/m.exec(changelog) ?? [];
  if (changelog.includes(`${heading}\n`)) {
    if (pending.trim() !== '')
      throw new Error(`CHANGELOG.md has entries under Unreleased: move them to ${version}, or remove its section.`);
    return changelog.replace(`${heading}\n`, `${heading} - ${date}\n`).replace(/; not yet released\./, '.');
  }
  if (pending.trim() === '') throw new Error(`CHANGELOG.md says nothing about ${version}.`);
  return changelog.replace(unreleased, `${unreleased}\n${heading} - ${date}\n`);
}

/** The changelog with its unreleased entries under this version, undated. Throws if another is in preparation. */
export function preparedChangelog(changelog: string, version: string): string {
  const pending = pendingVersion(changelog);
  if (pending !== undefined) throw new Error(`Version ${pending} is in preparation: release it first.`);
  return changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}]\n`);
}

/** Whether `next` comes after `previous`, as Semantic Versioning orders them without prereleases. */
export function isHigher(next: string, previous: string): boolean {
  const [after, before] = [next, previous].map((version) => version.split('.').map(Number));
  const place = (after ?? []).findIndex((part, index) => part !== before?.[index]);
  return place !== -1 && (after?.[place] ?? 0) > (before?.[place] ?? 0);
}
