/**
 * Rules about the source: which files may import which, and which words may appear in which files. Each rule is a
 * function of a file's path and text, and is also tried on files that break it, so that none passes by seeing nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { organizationFilter } from '../server/entities/owned.ts';
import { useWorld } from './world.ts';

type File = { path: string; text: string };
/** What is wrong with the file, one line each. */
type Law = (file: File) => string[];

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['contract', 'server', 'client', 'test'];
// This file is full of violations.
const files = folders.flatMap(filesIn).filter(({ path }) => path !== 'test/house.test.ts');

function filesIn(folder: string): File[] {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.[mc]?tsx?$/.test(path) && !/(?:^|\/)(?:node_modules|dist)\//.test(path),
  );
  return paths.map((path) => ({
    path: posix.join(folder, path),
    text: readFileSync(join(root, folder, path), 'utf8'),
  }));
}

/** The text without its comments. */
function code(text: string): string {
  const stringOrComment = /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replaceAll(stringOrComment, (_, string: string | undefined) => string ?? '');
}

const milliseconds = (limit = '') => Number(limit.replaceAll('_', ''));

type Import = { from: string; typeOnly: boolean };

/** What a file imports or exports from elsewhere; a relative name becomes a path from the project’s root. */
function importsOf({ path, text }: File): Import[] {
  const statements = code(text).matchAll(
    /^\s*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+\sfrom\s*)?['"]([^'"]+)['"]/gm,
  );
  const loads = code(text).matchAll(/\bimport\s*\(\s*(?<type>)['"`]([^'"`]+)['"`]/g);
  return [...statements, ...loads].map(([, type, name = '']) => ({
    from: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
    typeOnly: Boolean(type),
  }));
}

const isIn = (path: string, place: string) => (place.endsWith('/') ? path.startsWith(place) : path === place);

/** Every import of these files must pass. */
function imports(places: string[], why: string, passes: (wanted: Import, path: string) => boolean): Law {
  return (file) => {
    if (!places.some((place) => isIn(file.path, place))) return [];
    return importsOf(file).flatMap((wanted) =>
      passes(wanted, file.path) ? [] : [`${file.path} imports ${wanted.from}: ${why}`],
    );
  };
}

/** A word that appears in these folders only in the files listed. */
function word(pattern: RegExp, inFolders: string[], only: string[] = []): Law {
  return ({ path, text }) => {
    if (!inFolders.some((folder) => isIn(path, folder)) || only.some((place) => isIn(path, place))) return [];
    const [found] = pattern.exec(code(text)) ?? [];
    return found === undefined ? [] : [`${path} says ${found.trim()}`];
  };
}

/** The layers of the server, lowest first: a folder imports from lower layers, never from its own layer or a higher one. */
const layers = [
  ['entities/', 'config.ts', 'files.ts'],
  ['problems/'],
  ['database/'],
  ['records/'],
  ['limits/', 'import/', 'export/'],
  ['keys/', 'accounts/'],
  ['api/', 'mcp/', 'web/'],
  ['demo/'],
  ['http/'],
  ['commands/'],
  ['main.ts', 'build/'],
];

function folderOf(path: string): { folder: string; layer: number } | undefined {
  const inside = path.replace(/^server\//, '');
  const layer = layers.findIndex((onIt) => onIt.some((folder) => isIn(inside, folder)));
  const folder = layers[layer]?.find((name) => isIn(inside, name));
  return folder === undefined ? undefined : { folder, layer };
}

const downwards: Law = (file) => {
  if (!file.path.startsWith('server/')) return [];
  const here = folderOf(file.path);
  if (!here) return [`${file.path} is in no known folder of the server`];
  return importsOf(file).flatMap(({ from }) => {
    if (/^(?:client|test)\//.test(from)) return [`${file.path} imports ${from}, which is outside the server`];
    const there = from.startsWith('server/') ? folderOf(from) : undefined;
    const allowed = !there || there.folder === here.folder || there.layer < here.layer;
    return allowed ? [] : [`${file.path} (${here.folder}) imports ${from} (${there.folder})`];
  });
};

/** Where statements bypass the entity manager, and why. */
const rawSql = [
  'server/database/', // connections, locks, prepared statements, housekeeping
  'server/records/', // every read and write of the API, with the organization as its $1
  'server/keys/directory.ts', // a key is looked up before its organization is known
  'server/keys/last-uses.ts', // of many organizations in one statement
  'server/accounts/sign-in-tables.ts', // an e-mail address is looked up before its organization is known
  'server/export/', // pages of one snapshot, on one session whose $1 is the organization
  'server/import/', // set-based statements on one session, whose $1 is the organization; ANALYZE
  'server/keys/usage.ts', // counts of many organizations in one statement
  'server/keys/usage-report.ts', // sums, which an entity manager cannot form
  'server/http/app.ts', // /readyz
];
/** The one place that binds an entity manager to an organization. */
const binders = ['server/database/tenant.ts'];
/** Statements that must run in the transaction of an entity manager. */
const executes = [
  'server/accounts/sign-in-tables.ts', // what the sign-in library keeps ends in the transaction that removes the member
];
/** The one place that builds statements: with the filter applied, and checked to be there. */
const queryBuilders = ['server/records/selection.ts'];
const expressFolders = ['server/http/', 'server/web/'];
/** Where the environment is read: the configuration, and the switch that shows stack traces. */
const environmentReaders = ['server/config.ts', 'server/main.ts'];
/** Where code asks for its own place, which in a build is another folder. */
const placed = [
  'server/files.ts', // the service's own files
  'server/main.ts', // the cache of compiled code
  'server/build/', // never built itself
  'server/database/postgres-binaries.ts', // an npm package, found from anywhere
  'server/web/docs/highlight.ts', // the same
  'server/web/settings/assets.ts', // the same
  'server/web/client-package.ts', // whether it is built
];

const product = ['contract/', 'server/', 'client/'];
const everywhere = [...product, 'test/'];
/** As long as the contract requires. */
const generated = 'client/generated.ts';
/** The linter’s limit. */
const longest = Number(/"max": (\d+)/.exec(readFileSync(join(root, '.oxlintrc.json'), 'utf8'))?.[1]);
const contractPackages = ['zod', '@ts-rest/core', '@ts-rest/open-api'];
const openConnection = /\bnew (?:pg\.)?(?:Pool|Client|MikroORM)\b|\bMikroORM\.init\b/;

/** Name → the rule, and files that break it. */
const laws: Record<string, { law: Law; broken: Record<string, string> }> = {
  'the contract imports only its schema libraries and itself': {
    law: imports(
      ['contract/'],
      'the contract depends on nothing else',
      ({ from }) => from.startsWith('contract/') || contractPackages.includes(from),
    ),
    broken: {
      'contract/a.ts': `import { uuidv7 } from '../server/entities/uuid.ts';`,
      'contract/b.ts': `import { createHash } from 'node:crypto';`,
      'contract/c.ts': `export * from '../client/index.ts';`,
    },
  },
  'the client imports only itself, and its build also the contract': {
    law: imports(['client/'], 'a schema would be bundled, or a runtime assumed', ({ from }, path) =>
      isIn(path, 'client/build/')
        ? !/^(?:server|test)\//.test(from)
        : isIn(from, 'client/') && !isIn(from, 'client/build/'),
    ),
    broken: {
      'client/a.ts': `import { v1 } from '../contract/v1.ts';`,
      'client/b.ts': `import type { Server } from 'node:http';`,
      'client/c.ts': `import type { Caller } from '../server/keys/caller.ts';`,
      'client/d.ts': `const { initClient } = await import('@ts-rest/core');`,
      'client/e.ts': `import type { Customer } from '../contract/customers.ts';`,
      'client/f.ts': `import { generate } from './build/generate.ts';`,
      'client/build/a.ts': `import { serve } from '../../server/http/server.ts';`,
    },
  },
  'the contract and the client use no Node API': {
    law: word(/\bprocess\.|\bBuffer\b|\b__dirname\b|\brequire\(/, ['contract/', 'client/'], ['client/build/']),
    broken: {
      'contract/a.ts': 'const size = Buffer.byteLength(text);',
      'client/a.ts': 'const key = process.env.API_KEY;',
    },
  },
  'a folder of the server imports from lower layers only': {
    law: downwards,
    broken: {
      'server/entities/a.ts': `import { openDatabase } from '../database/orm.ts';`,
      'server/api/a.ts': `import { html } from '../web/html.ts';`,
      'server/keys/a.ts': `import type { Parts } from '../http/app.ts';`,
      'server/keys/b.ts': `import {\n  limitHeaders,\n} from '../http/rate-headers.ts';`,
      'server/problems/a.ts': `const { serve } = await import('../http/server.ts');`,
      'server/app.ts': `import { useWorld } from './world.ts';`,
      'server/helpers/a.ts': '',
    },
  },
  'entities do not import the contract': {
    law: imports(
      ['server/entities/'],
      'declare it in the entity; records/ compares the two',
      ({ from }) => !from.startsWith('contract/'),
    ),
    broken: { 'server/entities/a.ts': `import type { Plan } from '../../contract/me.ts';` },
  },
  'handlers reach the database through their caller only': {
    law: imports(['server/api/'], 'use `caller`', ({ from }) => !/^server\/database\/|^pg$/.test(from)),
    broken: {
      'server/api/a.ts': `import type { Database } from '../database/orm.ts';`,
      'server/api/b.ts': `import pg from 'pg';`,
    },
  },
  'only server/http and server/web import Express': {
    law: imports(
      ['server/'],
      'only HTTP code uses it',
      ({ from }, path) => from !== 'express' || expressFolders.some((place) => isIn(path, place)),
    ),
    broken: {
      'server/api/customers.ts': `import type { Request } from 'express';`,
      'server/keys/keys.ts': `import express from 'express';`,
    },
  },
  'only database/ opens connections': {
    law: word(openConnection, ['server/'], ['server/database/']),
    broken: {
      'server/api/a.ts': 'const pool = new pg.Pool({ max: 1 });',
      'server/demo/a.ts': 'const client = new Client(url);',
      'server/http/app.ts': 'const orm = new MikroORM({});',
    },
  },
  'raw SQL appears only where it is listed': {
    law: word(/\.query\s*(?:<[^()]*>)?\(/, ['server/'], rawSql),
    broken: {
      'server/api/customers.ts': `await caller.query('select 1', []);`,
      'server/keys/keys.ts': `await pool.query<{ id: string }>('select id from api_keys');`,
    },
  },
  'nothing bypasses the organization filter': {
    law: word(
      /\bgetReference\b|\bupsert(?:Many)?\b|\bcreateQueryBuilder\b|\.qb\(|\bgetKysely\b|\bgetConnection\(|\bfilters: (?:false|\{ *\w+: false)/,
      ['server/'],
      queryBuilders,
    ),
    broken: {
      'server/api/a.ts': 'const owner = em.getReference(Customer, id);',
      'server/import/a.ts': 'await em.upsert(Customer, row);',
      'server/demo/a.ts': 'const qb = em.createQueryBuilder(Customer);',
      'server/api/b.ts': 'const db = em.getKysely();',
      'server/commands/a.ts': 'await em.find(Customer, {}, { filters: false });',
      'server/commands/b.ts': 'await em.find(Customer, {}, { filters: { organization: false } });',
    },
  },
  'nothing executes a statement past the entity manager': {
    law: word(/\.execute\s*(?:<[^()]*>)?\(/, ['server/'], executes),
    broken: {
      'server/api/a.ts': `await em.execute('delete from customers');`,
      'server/api/b.ts': `await em.execute<Row[]>('select * from customers');`,
    },
  },
  'one file binds entity managers to organizations': {
    law: word(/\bsetFilterParams\(/, ['server/'], binders),
    broken: { 'server/api/a.ts': 'em.setFilterParams(organizationFilter, { id: body.organizationId });' },
  },
  'the environment is read in one place': {
    law: word(/\bprocess\.env\b/, product, environmentReaders),
    broken: { 'server/http/server.ts': 'const port = process.env.PORT;' },
  },
  'only these files depend on the folder that they are in': {
    law: word(/\bimport\.meta\b/, ['server/'], placed),
    broken: { 'server/demo/demo.ts': "const rows = new URL('items.csv', import.meta.url);" },
  },
  'nothing has the type any': {
    law: word(/(?::|\bas|<|,|=>|\|) *any\b(?! \w)/, [...product, 'test/api/']),
    broken: {
      'server/a.ts': 'function read(value: any) {}',
      'contract/a.ts': 'const body = value as any;',
      'client/a.ts': 'const found: Record<string, any> = {};',
      'test/api/a.test.ts': 'const names = data.map(({ name }: any) => name);',
    },
  },
  'nothing is exported by default': {
    law: word(/^\s*export default\b|\bas default\b/m, everywhere, [
      'test/vitest.config.ts',
      'test/vitest.slow.config.ts',
      'test/consumers/vitest.config.ts',
    ]),
    broken: { 'server/a.ts': 'export default function serve() {}', 'test/a.ts': 'export { serve as default };' },
  },
  'there are no TODO comments': {
    law: ({ path, text }) => (/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text) ? [`${path} has a TODO comment`] : []),
    broken: { 'server/a.ts': '// TODO: the rest', 'contract/a.ts': '/** FIXME */' },
  },
  'no test is skipped or focused': {
    law: word(/\b(?:test|it|describe)(?:\.\w+)*\.(?:only|skip|todo|fails)\b/, ['test/']),
    broken: {
      'test/a.test.ts': `test.only('answers', () => {});`,
      'test/b.test.ts': `describe.concurrent.skip('lists', () => {});`,
    },
  },
  'a time limit in a test ends a hang, and does not measure the machine': {
    law: ({ path, text }) => {
      const limits = code(text).matchAll(/\btimeout: ([\d_]+)|^\s*\}, ([\d_]{5,})\);|Timeout\(([\d_]+)\)/gm);
      const short = [...limits]
        .map(([, ...given]) => given.find(Boolean))
        .filter((limit) => milliseconds(limit) < 120_000);
      return path.startsWith('test/') ? short.map((limit) => `${path} has a limit of ${limit} ms`) : [];
    },
    broken: {
      'test/a.test.ts': `describe('a browser', { timeout: 60_000 }, () => {});`,
      'test/b.test.ts': `test('compiles', async () => {\n}, 30_000);`,
      'test/c.ts': 'context.setDefaultTimeout(20_000);',
    },
  },
  'test titles do not say should': {
    law: word(/\b(?:test|it|describe)\((['"`])[^'"`]*\bshould\b/, ['test/']),
    broken: { 'test/a.test.ts': `test('should answer', () => {});` },
  },
  'files are not too long': {
    law: ({ path, text }) => {
      const lines = text.trimEnd().split('\n').length;
      return path !== generated && product.some((folder) => isIn(path, folder)) && lines > longest
        ? [`${path} has ${lines} lines`]
        : [];
    },
    broken: { 'server/a.ts': 'work();\n'.repeat(longest + 1) },
  },
  'imports name the file with its extension': {
    law: imports(
      everywhere,
      'name the file, with .ts',
      ({ from }) => !/^(?:contract|server|client|test)\b/.test(from) || from.endsWith('.ts'),
    ),
    broken: {
      'server/a.ts': `import { v1 } from '../contract/v1';`,
      'test/a.ts': `import { createClient } from '../client';`,
    },
  },
};

describe('the source', () => {
  for (const [name, { law, broken }] of Object.entries(laws)) {
    test(name, () => expect(files.flatMap(law)).toEqual([]));

    test(`${name}: violations are found`, () => {
      for (const [path, text] of Object.entries(broken)) expect(law({ path, text }), path).not.toEqual([]);
    });
  }

  test('the rules see every folder and its imports', () => {
    const seen = files.map(({ path }) => path);
    const landmarks = [
      'contract/v1.ts',
      'server/main.ts',
      'server/records/reader.ts',
      'client/index.ts',
      'test/world.ts',
    ];
    expect(landmarks.filter((path) => !seen.includes(path))).toEqual([]);
    const file = files.find(({ path }) => path === 'server/commands/command-line.ts') ?? { path: '', text: '' };
    expect(importsOf(file)).toContainEqual({ from: 'server/commands/command.ts', typeOnly: true });
    expect(importsOf(file)).toContainEqual({ from: 'server/commands/serve.ts', typeOnly: false });
    expect(
      importsOf({ path: 'server/a.ts', text: `// import './b.ts'\nconst text = 'select 1 from "./b.ts"';` }),
    ).toEqual([]);
  });

  test('every exception is still needed', () => {
    const exceptions: [RegExp, string[]][] = [
      [/\.query\s*(?:<[^()]*>)?\(/, rawSql],
      [/\bsetFilterParams\(/, binders],
      [/\.execute\(/, executes],
      [/\bcreateQueryBuilder\b/, queryBuilders],
      [/from 'express'/, expressFolders],
      [/\bprocess\.env\b/, environmentReaders],
      [/\bimport\.meta\b/, placed],
    ];
    const needless = exceptions.flatMap(([pattern, places]) =>
      places.filter((place) => !files.some(({ path, text }) => isIn(path, place) && pattern.test(text))),
    );
    expect(needless).toEqual([]);
  });

  test('the root folder holds only known files', () => {
    const known =
      /^(?:\..*|node_modules|coverage|dist|contract|server|client|test|package(?:-lock)?\.json|tsconfig[.\w]*\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/;
    expect(readdirSync(root).filter((name) => !known.test(name))).toEqual([]);
  });
});

describe('entities and the migrated database', () => {
  const world = useWorld();
  /** The epoch of keys and plans is a trigger's, and the migrator keeps its own list. */
  const withoutEntity = ['access_epoch', 'migrations'];
  const query = async <Row extends object>(text: string) => (await world.database.pool.query<Row>(text)).rows;
  const entities = () => [...world.database.orm.getMetadata().getAll().values()];

  test('have the same columns, types and nullability', async () => {
    const named = (name: string, type = '', nullable = false) => `${name} ${type}${nullable ? ' null' : ''}`;
    const ours = entities().flatMap(({ tableName, props }) =>
      props
        .filter(({ persist }) => persist !== false)
        .map((prop) => named(`${tableName}.${prop.fieldNames[0]}`, prop.columnTypes[0], prop.nullable)),
    );
    const columns = await query<{ table: string; name: string; type: string; nullable: boolean }>(
      `select relname as table, attname as name, not attnotnull as nullable,
         case when atttypid = 'int'::regtype then 'int'
           else regexp_replace(format_type(atttypid, atttypmod), '^timestamp(.*) with time zone$', 'timestamptz\\1') end as type
       from pg_attribute join pg_class on pg_class.oid = attrelid
       where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped`,
    );
    const stored = columns.filter(({ table }) => !withoutEntity.includes(table));
    expect(ours.toSorted()).toEqual(
      stored.map(({ table, name, type, nullable }) => named(`${table}.${name}`, type, nullable)).toSorted(),
    );
    expect(ours).toContain('customers.external_id text null');
  });

  test('agree on which records belong to an organization: their entities have the filter', async () => {
    const ours = entities().filter(({ filters }) => organizationFilter in filters);
    const owned = await query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'organization_id'`,
    );
    expect(ours.map(({ tableName }) => tableName).toSorted()).toEqual(owned.map(({ name }) => name).toSorted());
  });

  test('a foreign key between records of an organization includes the organization', async () => {
    const references = await query<{ name: string; within: boolean; columns: string[] }>(
      `select conname as name,
         array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as columns,
         exists(select from pg_attribute where attrelid = confrelid and attname = 'organization_id') as within
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
    );
    const within = references.filter((reference) => reference.within);
    expect(within.length).toBeGreaterThan(2);
    expect(within.filter(({ columns }) => !columns.includes('organization_id'))).toEqual([]);
  });
});
