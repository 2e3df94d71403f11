/**
 * `npm run build`: everything as JavaScript with declarations in dist/. The server's package is the folder of
 * package.json; the client's is dist/ itself, which needs nothing of what the server needs:
 * `npm pack` makes the one, `npm pack ./dist` the other.
 */
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commentDeclarations } from './comments.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export async function build(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const compiler = join(root, 'node_modules/.bin/tsc');
  await promisify(execFile)(compiler, ['--project', join(root, 'tsconfig.build.json'), '--outDir', folder]);
  // Pages, styles and guides are read from beside the code.
  const isNoCode = (path: string) => !path.endsWith('.ts');
  await cp(join(root, 'server'), join(folder, 'server'), { recursive: true, filter: isNoCode });
  await commentDeclarations(join(folder, 'contract'));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await clientManifest(), undefined, 2)}\n`);
  await writeFile(join(folder, 'README.md'), await clientReadme());
  for (const file of ['LICENSE', 'CHANGELOG.md']) await cp(join(root, file), join(folder, file));
}

export const clientName = 'proposal-api-client';
/** What client and contract import; the server's package needs them in the same versions. */
const clientDependencies = ['@ts-rest/core', 'zod'];

async function clientManifest(): Promise<object> {
  const whole = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return {
    name: clientName,
    version: whole.version,
    description: 'Typed client and contract of the API.',
    license: whole.license,
    type: 'module',
    sideEffects: false,
    main: whole.main.replace('./dist/', './'),
    types: whole.types.replace('./dist/', './'),
    exports: JSON.parse(JSON.stringify(whole.exports).replaceAll('./dist/', './')),
    // The OpenAPI document is made by the server.
    files: ['client', 'contract', '!contract/openapi*', 'CHANGELOG.md'],
    engines: { node: '>=20' },
    dependencies: Object.fromEntries(clientDependencies.map((name) => [name, whole.dependencies[name]])),
  };
}

/** The six lines of the README, as they are written where the package is installed. */
async function clientReadme(): Promise<string> {
  const [, lines = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(await readFile(join(root, 'README.md'), 'utf8')) ?? [];
  const code = lines.replace('./client/index.ts', clientName);
  return `# Client\n\nThe typed client of the API, for Node, Bun, Deno, edge workers and bundles.\n\n\`\`\`ts\n${code}\`\`\`\n`;
}

if (import.meta.main) await build(join(root, 'dist'));
