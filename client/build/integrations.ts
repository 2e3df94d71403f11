/**
 * `npm run integrations -- --url https://api.example.com` builds the packages for Zapier and n8n from the contract, in
 * client/zapier/dist/ and client/n8n/dist/, ready to publish. `--url` is the service that they call,
 * `--zapier-client-id` the OAuth client with which Zapier connects accounts (see client/zapier/README.md), and `--to` a
 * different folder for both.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { expandedDocument } from '../../contract/openapi/openapi.ts';
import { serviceUrl } from '../url.ts';
import { contractText, propertiesText } from './n8n.ts';
import { resourcesOf } from './resources.ts';

type Options = { baseUrl: string; clientId?: string | undefined };

const client = fileURLToPath(new URL('..', import.meta.url));

/** Writes the app for Zapier's CLI into the folder. */
export async function buildZapier(folder: string, { baseUrl, clientId }: Options): Promise<void> {
  const source = join(client, 'zapier');
  const manifest = await startPackage(source, folder);
  const { dependencies, version } = manifest;
  const resources = resourcesOf(expandedDocument(baseUrl));
  const contract = { baseUrl, clientId, version, platformVersion: dependencies['zapier-platform-core'], resources };
  await writeFile(join(folder, 'contract.json'), `${JSON.stringify(contract, undefined, 2)}\n`);
  await bundle(join(source, 'app.ts'), join(folder, 'app.js'));
  const entry = `const { createApp } = require('./app.js');\n\nmodule.exports = createApp(require('./contract.json'));\n`;
  await writeFile(join(folder, 'index.js'), entry);
}

/** Writes the community node for n8n into the folder: its sources, which n8n's linter reads, and what n8n loads in dist/. */
export async function buildN8n(folder: string, { baseUrl }: Options): Promise<void> {
  const source = join(client, 'n8n');
  const { n8n } = await startPackage(source, folder);
  for (const part of ['credentials', 'icons', 'nodes'])
    await cp(join(source, part), join(folder, part), { recursive: true });
  const resources = resourcesOf(expandedDocument(baseUrl));
  await writeFile(join(folder, 'contract.ts'), contractText(resources, baseUrl));
  await writeFile(join(folder, 'nodes/Proposal/properties.ts'), propertiesText(resources));
  for (const file of [...n8n.nodes, ...n8n.credentials])
    await bundle(join(folder, file.replace('dist/', '').replace('.js', '.ts')), join(folder, file));
  await cp(join(source, 'icons'), join(folder, 'dist/icons'), { recursive: true });
}

type Manifest = {
  version: string;
  dependencies: Record<string, string>;
  n8n: { nodes: string[]; credentials: string[] };
};

/** Empties the folder and writes the files that every package has, with the version of the client. */
async function startPackage(source: string, folder: string): Promise<Manifest> {
  const read = async (file: string) => Object(JSON.parse(await readFile(file, 'utf8')));
  // The sources are ES modules; what is built from them is CommonJS.
  const [{ name, type: _, ...own }, { version }] = [
    await read(join(source, 'package.json')),
    await read(join(client, 'package.json')),
  ];
  const manifest: Record<string, unknown> = { name, version, ...own };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(client, 'LICENSE'), join(folder, 'LICENSE'));
  await cp(join(source, 'README.md'), join(folder, 'README.md'));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest as Manifest;
}

/** Leaves out n8n-workflow, which n8n provides. */
async function bundle(input: string, file: string): Promise<void> {
  const made = await rolldown({ input, platform: 'node', external: ['n8n-workflow'] });
  await made.write({ file, format: 'cjs' });
  await made.close();
}

if (import.meta.main) {
  const options = { url: { type: 'string' }, to: { type: 'string' }, 'zapier-client-id': { type: 'string' } } as const;
  try {
    const { values } = parseArgs({ options });
    if (values.url === undefined)
      throw new Error('Pass the URL of the service: npm run integrations -- --url https://api.example.com');
    const built = { baseUrl: serviceUrl(values.url), clientId: values['zapier-client-id'] };
    const folderOf = (tool: string) => (values.to === undefined ? join(client, tool, 'dist') : join(values.to, tool));
    await buildZapier(folderOf('zapier'), built);
    await buildN8n(folderOf('n8n'), built);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
