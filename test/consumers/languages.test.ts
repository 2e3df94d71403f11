/**
 * Clients in other languages, generated with the options in the SDK guide: they create, get, update and list customers,
 * and read a second page, on the real server. OpenAPI Generator needs Java, and NSwag needs Mono. The libraries that
 * the generated code imports come from Debian, or with the generator.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi30Document } from '../../contract/openapi/openapi.ts';
import { swagger20Document } from '../../server/http/documents/swagger.ts';
import { useWorld } from '../world.ts';

const execute = promisify(execFile);
const run = (command: string, words: string[], env: Record<string, string> = {}) =>
  execute(command, words, { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 });
const runs = (command: string, ...words: string[]) =>
  run(command, words).then(
    () => true,
    () => false,
  );
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
// The newest in the npm registry, and an older one for Go, because the newest does not write Go models.
const generator = file('node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');
const goGenerator = file('node_modules/openapi-generator-go/bin/openapi-generator.jar');
const nswag = file('node_modules/nswag/bin/binaries/Win');

const guide = readFileSync(file('../../server/web/docs/guides/sdks.md'), 'utf8');

/** A language's options and document, from the guide's table. */
function optionsFor(language: string) {
  const row = guide.split('\n').find((line) => line.startsWith(`| ${language} |`)) ?? '';
  const [name = '', properties = '', document = ''] = [...row.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return { name, properties, document };
}

type Program = [command: string, words: string[], env?: Record<string, string>];
type Language = {
  name: string;
  needs: string;
  isReady: boolean;
  /** Generates a client from the documents in the folder `from` into `into`, and says how to run the program with it. */
  make(from: string, into: string): Promise<Program>;
};

async function generate(language: string, from: string, into: string, [jar, name] = [generator, '']) {
  const { document, properties, ...options } = optionsFor(language);
  const words = ['-i', join(from, document), '-g', name || options.name, '-o', into];
  await run('java', ['-jar', jar, 'generate', ...words, '--additional-properties', properties]);
}

/** An interpreted language: the program takes the folder of the generated code. */
const script = (name: string, command: string, program: string) => ({
  name,
  async make(from: string, into: string): Promise<Program> {
    await generate(name, from, into);
    return [command, [file(`programs/${program}`), into]];
  },
});

const hasJava = await runs('java', '-version');
const guzzle = 'require "/usr/share/php/GuzzleHttp/autoload.php"; curl_version(); mb_strlen("");';
const languages: Language[] = [
  {
    ...script('Python', '/usr/bin/python3', 'customers.py'),
    needs: 'Java, python3-urllib3, python3-dateutil and python3-six',
    isReady: hasJava && (await runs('/usr/bin/python3', '-c', 'import certifi, dateutil, six, urllib3')),
  },
  {
    ...script('Ruby', '/usr/bin/ruby', 'customers.rb'),
    needs: 'Java and ruby-typhoeus',
    isReady: hasJava && (await runs('/usr/bin/ruby', '-e', 'require "typhoeus"')),
  },
  {
    ...script('PHP', '/usr/bin/php', 'customers.php'),
    needs: 'Java, php-cli, php-curl, php-mbstring and php-guzzlehttp-guzzle',
    isReady: hasJava && (await runs('/usr/bin/php', '-r', guzzle)),
  },
  {
    name: 'Go',
    needs: 'Java, golang-go and golang-golang-x-oauth2-dev',
    isReady: hasJava && existsSync('/usr/bin/go') && existsSync('/usr/share/gocode/src/golang.org/x/oauth2'),
    async make(from, into) {
      // Called `go` in 5.0 and later.
      await generate('Go', from, join(into, 'src/proposalapi'), [goGenerator, 'go-experimental']);
      const env = { GO111MODULE: 'off', GOPATH: `${into}:/usr/share/gocode`, GOCACHE: join(into, 'cache') };
      await run('/usr/bin/go', ['build', '-o', join(into, 'customers'), file('programs/customers.go')], env);
      return [join(into, 'customers'), []];
    },
  },
  {
    name: 'Java',
    needs: 'a JDK',
    isReady: await runs('javac', '-version'),
    async make(from, into) {
      await generate('Java', from, into);
      const files = await readdir(into, { recursive: true });
      const sources = files.filter((name) => /^src.main.*\.java$/.test(name)).map((name) => join(into, name));
      // The generator contains the libraries that its code imports.
      const words = [
        '-nowarn',
        '-encoding',
        'UTF-8',
        '-cp',
        generator,
        '-d',
        into,
        file('programs/Customers.java'),
        ...sources,
      ];
      await run('javac', words);
      return ['java', ['-cp', `${generator}:${into}`, 'Customers']];
    },
  },
  {
    name: 'C#',
    needs: 'mono-devel',
    isReady: existsSync('/usr/bin/mcs') && existsSync('/usr/lib/mono/4.5/Facades/netstandard.dll'),
    async make(from, into) {
      const [, command = ''] = /^nswag ((?:.*\\\n)*.*)$/m.exec(guide) ?? [];
      const words = command
        .replace('https://api.example.com', from)
        .replace('/output:', `/output:${into}/`)
        .split(/[\s\\]+/);
      await run('mono', [join(nswag, 'NSwag.exe'), ...words]);
      await copyFile(join(nswag, 'Newtonsoft.Json.dll'), join(into, 'Newtonsoft.Json.dll'));
      const sources = [join(into, 'ProposalApi.cs'), file('programs/Customers.cs')];
      const libraries = ['System.Net.Http', 'System.Runtime.Serialization', 'System.ComponentModel.DataAnnotations'];
      const references = [...libraries, join(into, 'Newtonsoft.Json.dll')].map((name) => `-r:${name}`);
      await run('mcs', [`-out:${into}/customers.exe`, ...references, ...sources]);
      return ['mono', [join(into, 'customers.exe')]];
    },
  },
];

describe('the generated client', () => {
  const world = useWorld();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proposal-api-languages-'));
    await writeFile(join(folder, 'openapi-3.0.json'), JSON.stringify(openApi30Document(world.url)));
    await writeFile(join(folder, 'swagger-2.0.json'), JSON.stringify(swagger20Document(world.url)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  for (const { name, needs, isReady, make } of languages) {
    const title = `in ${name} creates, gets, updates, lists and reads a second page (skipped without ${needs})`;
    test.skipIf(!isReady)(title, async () => {
      const [command, words, env] = await make(folder, await mkdtemp(join(folder, 'client-')));
      const tenant = await world.organization();
      await tenant.call('POST', '/v1/customers', { name: 'Berta' });
      const given = { ...env, API_URL: world.url, API_KEY: tenant.key };
      const { id, ...seen } = JSON.parse((await run(command, words, given)).stdout);
      expect(seen).toEqual({
        city: 'Lisboa',
        found: ['Ana'],
        names: ['Ana', 'Berta'],
        missing: 'not_found',
        refused: 'validation_failed',
      });
      const { body } = await tenant.call('GET', `/v1/customers/${id}`);
      expect(body).toMatchObject({ name: 'Ana', tags: ['vip'], notes: 'Met at the fair.', companyName: null });
    });
  }
});
