/**
 * Clients in other languages, as OpenAPI Generator makes them of the documents: they create, update and list customers, and
 * turn a page, on the real server. Its newest version in the npm registry is 5.0; it needs Java, and its clients need
 * libraries that Debian has.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi30Document } from '../../contract/openapi/openapi.ts';
import { swagger20Document } from '../../server/http/documents/swagger.ts';
import { useWorld } from '../world.ts';

const run = promisify(execFile);
const runs = (command: string, ...values: string[]) =>
  run(command, values).then(
    () => true,
    () => false,
  );
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const generator = file('node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');

/** Debian's packages with Java, and what the generated code imports. */
const languages = [
  {
    language: 'python',
    document: 'openapi-3.0',
    program: ['/usr/bin/python3', file('programs/customers.py')],
    packages: 'python3-urllib3, python3-dateutil and python3-six',
    isReady: await runs('/usr/bin/python3', '-c', 'import certifi, dateutil, six, urllib3'),
  },
  {
    language: 'ruby',
    document: 'swagger-2.0',
    program: ['/usr/bin/ruby', file('programs/customers.rb')],
    packages: 'ruby-typhoeus',
    isReady: await runs('/usr/bin/ruby', '-e', 'require "typhoeus"'),
  },
  {
    language: 'php',
    document: 'swagger-2.0',
    program: ['/usr/bin/php', file('programs/customers.php')],
    packages: 'php-cli, php-curl, php-mbstring and php-guzzlehttp-guzzle',
    isReady: await runs(
      '/usr/bin/php',
      '-r',
      'require "/usr/share/php/GuzzleHttp/autoload.php"; curl_version(); mb_strlen("");',
    ),
  },
] as const;
const hasJava = await runs('java', '-version');

describe('the client of OpenAPI Generator', () => {
  const world = useWorld();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proposal-api-languages-'));
    await writeFile(join(folder, 'openapi-3.0.json'), JSON.stringify(openApi30Document(world.url)));
    await writeFile(join(folder, 'swagger-2.0.json'), JSON.stringify(swagger20Document(world.url)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  for (const { language, document, program, packages, isReady } of languages) {
    const title = `in ${language} creates, updates, lists and turns a page (skipped without Java, ${packages})`;
    test.skipIf(!hasJava || !isReady)(title, async () => {
      const output = join(folder, language);
      const parts = 'apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false';
      const options = ['-i', join(folder, `${document}.json`), '-g', language, '-o', output];
      await run('java', ['-jar', generator, 'generate', ...options, '--global-property', parts], {
        maxBuffer: 2 ** 26,
      });
      const tenant = await world.organization();
      await tenant.call('POST', '/v1/customers', { name: 'Berta' });
      const [command, script] = program;
      const env = { ...process.env, API_URL: world.url, API_KEY: tenant.key };
      const { id, ...seen } = JSON.parse((await run(command, [script, output], { env })).stdout);
      expect(seen).toEqual({ city: 'Lisboa', names: ['Ana', 'Berta'], refused: 'validation_failed' });
      const { body } = await tenant.call('GET', `/v1/customers/${id}`);
      expect(body).toMatchObject({ name: 'Ana', tags: ['vip'], notes: 'Met at the fair.', companyName: null });
    });
  }
});
