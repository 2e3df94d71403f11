/**
 * Rules about the source: which files may import which, and which words may appear in which files. Each rule is a
 * function of a file's path and text, and is also run on files that break it, so none passes by matching nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { distributedTables } from '../server/database/distribute.ts';
import { entities as everyEntity } from '../server/database/entities.ts';
import { filters as organizationFilters, organizationFilter } from '../server/entities/owned.ts';
import { namesOrganization } from './statements.ts';
import { useWorld } from './world.ts';

type File = { path: string; text: string };
/** Returns the violations in the file, one line each. */
type Law = (file: File) => string[];

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['contract', 'server', 'client', 'test'];
// This file is full of violations; n8n has its own rules, and a linter that test/consumers/n8n.test.ts runs.
const files = folders
  .flatMap(filesIn)
  .filter(({ path }) => path !== 'test/house.test.ts' && !path.startsWith('client/n8n/'));

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

type Import = { from: string; typeOnly: boolean; /** By `import()`, when that runs. */ isDynamic: boolean };

/** What a file imports or exports from elsewhere; a relative name becomes a path from the project’s root. */
function importsOf({ path, text }: File): Import[] {
  const statements = code(text).matchAll(
    /^\s*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+\sfrom\s*)?['"]([^'"]+)['"]/gm,
  );
  const loads = code(text).matchAll(/\bimport\s*\(\s*(?<type>)['"`]([^'"`]+)['"`]/g);
  const imported =
    (isDynamic: boolean) =>
    ([, type, name = '']: string[]) => ({
      from: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
      typeOnly: Boolean(type),
      isDynamic,
    });
  return [...[...statements].map(imported(false)), ...[...loads].map(imported(true))];
}

/** The files that a process reads to load this one. */
function loadedWith(path: string, known = new Set<string>()): Set<string> {
  const file = files.find((one) => one.path === path);
  if (!file || known.has(path)) return known;
  known.add(path);
  for (const { from, typeOnly, isDynamic } of importsOf(file)) if (!typeOnly && !isDynamic) loadedWith(from, known);
  return known;
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

/** A word that may appear in these folders only in the listed files. */
function word(pattern: RegExp, inFolders: string[], only: string[] = []): Law {
  return ({ path, text }) => {
    if (!inFolders.some((folder) => isIn(path, folder)) || only.some((place) => isIn(path, place))) return [];
    const [found] = pattern.exec(code(text)) ?? [];
    return found === undefined ? [] : [`${path} says ${found.trim()}`];
  };
}

/** Anything with its own connections that the callback of a transaction names, except its parameter. */
function secondConnections(text: string): string[] {
  return [...text.matchAll(/\b(?:transactional|transaction|transact|inTransaction)\(/g)].flatMap(
    ({ 0: call, index }) => {
      const from = index + call.length;
      let end = from;
      for (let depth = 1; depth > 0 && end < text.length; end += 1)
        depth += Number(text[end] === '(') - Number(text[end] === ')');
      const [, given = '', work = ''] = /(\w*)\)?\s*=>(.*)$/s.exec(text.slice(from, end)) ?? [];
      const named = work.match(/\b(?:database|tenant|pool|control|signIns\.|reads|writes|em)\b/g) ?? [];
      return named.filter((name) => name !== given);
    },
  );
}

/** Where removed members count as well. */
const allMembers = [
  'server/accounts/organizations.ts', // the removal of an organization
  'server/database/migrations/',
  'server/demo/', // which removes nobody
];

/** Queries for members by anything but their id that would also find removed ones. */
function findsRemovedMembers(text: string): string[] {
  const lookups = [...text.matchAll(/\b(?:find|findOne|findOneOrFail|count)\(Member, \{[^}]*/g)].map(([all]) => all);
  const statements = [...text.matchAll(/`(?:\\.|[^`\\])*`/g)]
    .map(([all]) => all)
    .filter((sql) => /\b(?:from|join) members\b|\bmembers m\b/.test(sql));
  return [
    ...lookups.filter((lookup) => !/\b(?:id|removedAt)\b/.test(lookup)),
    // `opens` is the condition for the memberships that a session opens.
    ...statements.filter((sql) => !/removed_at is null|\$\{opens\}|from members where id = \$/.test(sql)),
  ];
}

/** The quoted texts, with `${}` for each interpolation; texts inside `${}` are listed separately. */
function quoted(text: string): string[] {
  const found: string[] = [];
  const open: { end: string; inside: string }[] = [];
  for (const [token] of text.matchAll(/\\.|\$\{|[`'"{}\n]|\$|[^\\`'"{}$\n]+/gs)) {
    const last = open.at(-1);
    const isText = last !== undefined && last.end !== '}';
    if (token === last?.end) {
      open.pop();
      if (isText) found.push(last.inside);
    } else if (!isText || (token === '${' && last.end === '`')) {
      if (isText) last.inside += '${}';
      if (/[`'"{]$/.test(token)) open.push({ end: token.endsWith('{') ? '}' : token, inside: '' });
    } else last.inside += token;
    // Quotes that do not enclose a text, as in a regular expression, end with their line.
    if (token === '\n' && isText && last.end !== '`') open.pop();
  }
  return found;
}

/** The statements that could reach records of any organization. */
const withoutOrganization = (text: string) =>
  quoted(text)
    .map((sql) => sql.replaceAll(/\/\*.*?\*\/|--[^\n]*/gs, ''))
    .filter((sql) => statement.test(sql) && !namesOrganization(sql));
const statement =
  /^[\s(]*(?:select|insert|update|delete|with|from|join|copy|truncate|table|merge|declare|explain|prepare)\b/i;

/** The layers of the server, lowest first: a folder imports from lower layers, never from its own layer or a higher one. */
const layers = [
  ['entities/', 'problems/', 'embedded/', 'config.ts', 'files.ts', 'node-http.ts', 'start.ts', 'unknown.d.ts'],
  ['database/', 'text/', 'outgoing/', 'limits/'],
  ['records/'],
  ['import/', 'keys/', 'accounts/'],
  ['uploads/', 'export/', 'webhooks/', 'api/', 'mcp/', 'connect/', 'demo/'],
  ['web/', 'http/'],
  ['commands/', 'build/'],
  ['main.ts'],
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
  'server/embedded/', // locks of the processes that use it
  'server/database/', // connections, locks, prepared statements, housekeeping
  'server/records/', // every read and write of the API, with the organization as its $1
  'server/keys/directory.ts', // a key is looked up before its organization is known
  'server/keys/last-uses.ts', // of many organizations in one statement
  // At sign-in, the organization is not known yet: these have no entities, and every statement names a person or a member.
  'server/accounts/attempts.ts',
  'server/accounts/credentials.ts',
  'server/accounts/member-lookup.ts',
  'server/accounts/password-links.ts',
  'server/accounts/sessions.ts',
  'server/accounts/signing-secret.ts',
  'server/accounts/two-factor.ts',
  'server/connect/codes.ts', // the same: a code is looked up before its organization is known
  'server/export/', // pages of one snapshot, on one session whose $1 is the organization
  'server/import/', // set-based statements on one session, whose $1 is the organization; ANALYZE
  'server/keys/usage.ts', // counts of many organizations in one statement
  'server/commands/serve/app.ts', // /readyz
  'server/commands/serve/long-transactions.ts', // how long transactions are open
  'server/commands/serve/retention.ts', // what has expired, of every organization
  'server/webhooks/', // endpoints of many organizations in one statement; deliveries, with the organization as $1
];
/** Where statements of one organization run. */
const statementFiles = ['server/database/', 'server/records/'];
/** How many statements cover records of many organizations, or find them by something else. */
const ofManyOrganizations: Readonly<Record<string, number>> = {
  'server/accounts/credentials.ts': 3, // at sign-in, the organization is not known yet
  'server/accounts/member-lookup.ts': 1, // the same
  'server/accounts/password-links.ts': 1, // the same
  'server/accounts/sessions.ts': 3, // the same
  'server/keys/key-row.ts': 1, // a key is looked up before its organization is known
  'server/keys/last-uses.ts': 1, // keys of many organizations, each with its own
  'server/database/backup.ts': 2, // all of them
  'server/database/uploaded-files.ts': 2, // files of all of them, in one folder
  'server/commands/serve/retention.ts': 1, // what has expired
  'server/import/write.ts': 3, // joins a temporary table that belongs to one import
  'server/webhooks/backlog.ts': 2, // counts for the metrics
  'server/webhooks/expire.ts': 1, // what has expired
  'server/webhooks/reseal.ts': 1, // every stored secret
  'server/webhooks/scan.ts': 1, // which organizations have changes
};
/** Where the id of an organization is created, and where the one that an entity manager is bound to is read. */
const minters = [
  'server/entities/organization.ts',
  'server/entities/owned.ts',
  'server/database/orm.ts', // compares it with that of each change
];
/** Where organizations are found by anything but a key, a session or what belongs to one, and databases are opened. */
const finders = [
  'server/accounts/organizations.ts', // where they are created and listed
  'server/commands/', // whose caller has the whole database
  'server/database/', // opens it
  'server/demo/demo.ts', // the demo organization
  'server/uploads/worker.ts', // in a thread of its own, that of the upload
];
/** Where a cast states what the compiler cannot know; any of them could create an id of another organization. */
const unchecked = [
  'server/api/list.ts', // a filter takes the type of its own parameter
  'server/api/reply.ts', // a list is printed in pieces
  'server/database/tenant.ts', // the entity manager with the members that others do not see
  'server/http/endpoints.ts', // ts-rest types its routes by the contract
  'server/api/operations.ts', // the same
  'server/problems/problem.ts', // the row of a code takes the facts of that code
  'server/records/record-table.ts', // hooks that need no entity manager
  'server/uploads/files.ts', // flags are numbers, which Node's types do not know
  'server/web/settings/records/record-page.ts', // the same
];
/** What outlives a request, and why it shows no organization the data of another. */
const caches = [
  'server/accounts/passwords.ts', // common passwords, and turns
  'server/api/operations.ts', // the contract's
  'server/api/search.ts', // names of countries
  'server/commands/serve/workers.ts', // threads
  'server/commands/terminal.ts', // the exit status of a command
  'server/connect/clients.ts', // what applications publish about themselves
  'server/database/messages.ts', // the fields of one row, which its reader copies
  'server/database/prepared.ts', // the names of statements
  'server/database/statement.ts', // the columns of statements
  'server/entities/uuid.ts', // a counter
  'server/http/identify.ts', // ids to log, by key
  'server/http/log.ts', // counts
  'server/import/currency-signs.ts', // of every currency
  'server/import/guess.ts', // names of fields
  'server/import/losses.ts', // of one import
  'server/keys/directory.ts', // by the hash of a key
  'server/keys/usage.ts', // counts, by key
  'server/limits/', // counts and queues
  'server/records/idempotency.ts', // texts of statements
  'server/records/record-table.ts', // the statements of a table
  'server/records/selection.ts', // the statements of a selection
  'server/uploads/runner.ts', // what is running, by the id of the upload
  'server/web/client-package.ts', // by the URL of the service
  'server/web/settings/import/multipart.ts', // by request
  'server/webhooks/run.ts', // what is running, by the id of the endpoint or of the organization
];
/** The one place that binds an entity manager to an organization. */
const binders = ['server/database/tenant.ts'];
/** Where connections are passed on, but not used. */
const connectionCarriers = [
  'server/commands/serve/server.ts', // makes what uses them
  'server/http/metrics.ts', // counts them
];
/** A member or an alias of a connection pool. */
const usedConnection =
  /\b(?:pool|reads|writes|control)\s*(?:\?\.|\.|\[)|\b(?:pool|reads|writes|control)\s*:\s*(?!database\b|pg\.)\w+|[\w)]\.(?:pool|reads|writes|control)\s*(?:;|as\b|,\s*['"`])|\{[^{}]*\}\s*=\s*[\w.]*\.(?:pool|reads|writes|control)\b|\bdatabase\s*\[/;
/** Where MikroORM's own entity manager and SQL fragments are named. */
const managerFiles = [
  'server/database/', // binds it
  'server/records/selection.ts', // takes the statements with the organization filter from it
  'server/records/writer.ts', // the entities' own hooks
  'server/entities/owned.ts', // the organization that it is bound to; the database's clock
];
/** Statements that must run in the transaction of an entity manager. */
const executes = [
  'server/database/tenant.ts', // where it is defined
  'server/database/statement.ts', // a message of PostgreSQL's protocol, on a connection
  'server/database/migrations/20261202-search-texts.ts', // reads and writes rows, page by page
  'server/accounts/credentials.ts', // deletes passwords and links in the transaction that removes the member
  'server/accounts/two-factor.ts', // the same
];
/** The one place that builds statements, with the filter applied and verified. */
const queryBuilders = ['server/records/selection.ts'];
const expressFolders = [
  'server/http/',
  'server/web/',
  'server/commands/serve/',
  'server/problems/method-not-allowed.ts',
];
/** Where the environment is read: the configuration, and the switch that shows stack traces. */
const environmentReaders = [
  'server/config.ts',
  'server/main.ts',
  'server/start.ts',
  'server/web/docs/reference/samples.ts', // in the text of an example
];
/** Where code depends on its own location, which is a different folder in a build. */
const placed = [
  'server/files.ts', // the service's own files
  'server/start.ts', // the cache of compiled code
  'server/build/', // not part of the build
  'server/embedded/binaries.ts', // an npm package, found from anywhere
  'server/web/docs/highlight.ts', // the same
  'server/web/settings/layout.ts', // the same
  'server/web/client-package.ts', // whether it is built
];

/** Where a process's own clock is good enough, because it decides no access. */
const clockReaders = [
  'server/build/', // the date of a release
  'server/commands/output-file.ts', // the age of files on the same machine
  'server/database/backup.ts', // when a backup was made
  'server/demo/demo.ts', // the example records' dates
  'server/entities/uuid.ts', // the order of ids, within a process
  'server/http/log.ts', // the time of a line
  'server/http/unparsed.ts', // the Date of a response
  'server/keys/usage-report.ts', // days of the chart
  'server/keys/usage.ts', // the day that a request counts for
  'server/limits/time-limit.ts', // notices that the machine slept
  'server/uploads/files.ts', // the age of files that seem old; the database knows that of uploads
  'server/web/settings/export/export-routes.ts', // the date in a file's name
  'server/web/settings/keys/key-pages.ts', // warnings, days ahead
  'server/web/settings/time.ts', // "3 minutes ago"
  'server/web/site.ts', // how long a file may be relied on
];

const product = ['contract/', 'server/', 'client/'];
const everywhere = [...product, 'test/'];
/** May be as long as the contract requires. */
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
    law: imports(['client/'], 'a schema would be bundled, or a runtime assumed', ({ from, typeOnly }, path) =>
      isIn(path, 'client/build/')
        ? !/^(?:server|test)\//.test(from)
        : isIn(from, 'client/') && (!isIn(from, 'client/build/') || (typeOnly && isIn(path, 'client/zapier/'))),
    ),
    broken: {
      'client/a.ts': `import { v1 } from '../contract/v1.ts';`,
      'client/b.ts': `import type { Server } from 'node:http';`,
      'client/c.ts': `import type { Caller } from '../server/keys/caller.ts';`,
      'client/d.ts': `const { initClient } = await import('@ts-rest/core');`,
      'client/e.ts': `import type { Customer } from '../contract/customers.ts';`,
      'client/f.ts': `import { generate } from './build/generate.ts';`,
      'client/zapier/a.ts': `import { resourcesOf } from '../build/resources.ts';`,
      'client/build/a.ts': `import { serve } from '../../server/commands/serve/server.ts';`,
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
      'server/keys/a.ts': `import type { Log } from '../http/log.ts';`,
      'server/keys/b.ts': `import {\n  limitHeaders,\n} from '../http/rate-headers.ts';`,
      'server/problems/a.ts': `const { serve } = await import('../commands/serve/server.ts');`,
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
  'nothing imports node:http, except its types': {
    law: imports(
      ['server/'],
      'that would load all of fetch; use node-http.ts',
      ({ from, typeOnly }) => typeOnly || from !== 'node:http',
    ),
    broken: {
      'server/http/a.ts': `import { createServer } from 'node:http';`,
      'server/outgoing/a.ts': `const http = await import('node:http');`,
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
  'removed members are found only by their id': {
    law: ({ path, text }) =>
      path.startsWith('server/') && !allMembers.some((place) => isIn(path, place))
        ? findsRemovedMembers(code(text)).map((found) => `${path} finds removed members: ${found}`)
        : [],
    broken: {
      'server/http/a.ts': `const admins = await em().find(Member, { role: 'admin' });`,
      'server/accounts/b.ts': 'const text = `select m.id from members m where m.email_key = $1`;',
      'server/accounts/c.ts': 'const text = `select 1 from sign_in."user" u join members m on m.email_key = u.email`;',
    },
  },
  'only database/ opens connections': {
    law: word(openConnection, ['server/'], ['server/database/', 'server/embedded/']),
    broken: {
      'server/api/a.ts': 'const pool = new pg.Pool({ max: 1 });',
      'server/demo/a.ts': 'const client = new Client(url);',
      'server/commands/serve/app.ts': 'const orm = new MikroORM({});',
    },
  },
  'raw SQL appears only where it is listed': {
    law: word(
      /\.query\s*(?:<[^()]*>)?\(|\binBatches\b|\bquery\.(?:bind|call|apply)\b|\[['"`]query['"`]\]/,
      ['server/'],
      rawSql,
    ),
    broken: {
      'server/demo/a.ts': `await inBatches(pool, 'delete from customers');`,
      'server/api/customers.ts': `await caller.query('select 1', []);`,
      'server/keys/keys.ts': `await pool.query<{ id: string }>('select id from api_keys');`,
      'server/accounts/a.ts': 'const query = pool.query.bind(pool);',
      'server/accounts/b.ts': `await database.pool['query']('select 1');`,
    },
  },
  'connections are used only where raw SQL is listed, and elsewhere passed on by name': {
    law: word(usedConnection, ['server/'], [...rawSql, ...connectionCarriers]),
    broken: {
      'server/accounts/a.ts': 'const query = pool.query.bind(pool);',
      'server/accounts/b.ts': 'const { query } = database.pool;',
      'server/accounts/c.ts': 'const { pool: connections } = database;',
      'server/web/settings/a.ts': 'const connection = context.database.reads;',
      'server/web/settings/b.ts': `const run = Reflect.get(database.control, 'connect');`,
      'server/web/settings/c.ts': `const p = database['pool'];`,
      'server/keys/a.ts': 'const client = await writes.connect();',
      'server/demo/a.ts': 'await (await database.pool.connect()).query(text);',
    },
  },
  'a statement names the organization for each table': {
    law: ({ path, text }) => {
      if (!path.startsWith('server/') || isIn(path, 'server/database/migrations/')) return [];
      const found = withoutOrganization(code(text));
      if (found.length === (ofManyOrganizations[path] ?? 0)) return [];
      return [`${path} has ${found.length} statements that name no organization:`, ...found];
    },
    broken: {
      'server/records/a.ts': "const text = 'update uploads set erased_at = $2 where $1::uuid is not null';",
      'server/records/b.ts':
        'const text = `select ${read} from ${table.name} where $1::uuid is not null and (${condition})`;',
      'server/webhooks/a.ts':
        'const text = `delete from webhook_deliveries where organization_id = $1 and record_id in (select p.id from proposals p where p.customer_id = $2)`;',
      'server/webhooks/b.ts':
        "await em.run(`update webhook_deliveries set state = 'x' where ${locked(`id = any($2) and ${of({ id })}`)} and id = $3`);",
      'server/webhooks/c.ts':
        'const text = `select 1 from webhook_turns where organization_id is not null and $1::uuid is not null`;',
      'server/webhooks/d.ts': 'const text = `delete from webhook_turns where organization_id = $1 or turns = 0`;',
      'server/keys/a.ts': 'const text = `select 1 from usage_counts where (organization_id = ? or true) and day > ?`;',
      'server/export/a.ts':
        'const text = `select id from items where organization_id = any(array[$1, organization_id])`;',
      'server/webhooks/scan.ts':
        'const text = `select 1 from webhook_turns t`; const more = `select 1 from webhook_positions where true`;',
      'server/webhooks/e.ts': 'const text = `SELECT NAME FROM CUSTOMERS`;',
      'server/webhooks/f.ts': 'const text = `(select name from only public.customers where $1::uuid is not null)`;',
      'server/webhooks/g.ts': 'const text = `select name from\n  customers where $1::uuid is not null`;',
      'server/webhooks/h.ts':
        'const text = `select c.name from webhook_turns w, customers c where w.organization_id = $1`;',
      'server/webhooks/l.ts':
        'const text = `select e.id from webhook_endpoints e join organizations o on o.id = e.organization_id`;',
      'server/webhooks/i.ts':
        'const text = `delete from webhook_turns t using customers c where t.organization_id = $1 and c.id = $2`;',
      'server/webhooks/k.ts': `const text = 'select name from ' + table + ' where $1::uuid is not null';`,
      'server/webhooks/j.ts': 'const text = `copy customers to stdout`;',
      'server/records/c.ts': 'const text = `delete from audit_events where organization_id is distinct from ?`;',
      'server/webhooks/m.ts': 'const text = `/* all */ select * from webhook_turns`;',
      'server/webhooks/n.ts': 'const text = `-- all\nselect * from webhook_turns`;',
      'server/webhooks/o.ts': 'const text = `table webhook_turns`;',
      'server/webhooks/p.ts': 'const text = `declare c cursor for select * from webhook_turns`;',
      'server/webhooks/q.ts':
        'const text = `merge into webhook_turns t using json_to_recordset($1) r on r.id = t.id when matched then delete`;',
      'server/webhooks/r.ts': "const text = ['select *', 'from', 'webhook_turns'].join(' ');",
      'server/webhooks/s.ts':
        'const text = `select * from webhook_turns t where t.organization_id = t.organization_id`;',
      'server/webhooks/t.ts':
        'const text = `select d.id from webhook_deliveries d join webhook_endpoints e on e.organization_id = d.organization_id where d.organization_id = e.organization_id`;',
    },
  },
  'a transaction takes no second connection: ten of them would deadlock a pool of ten': {
    law: ({ path, text }) =>
      path.startsWith('server/') ? secondConnections(code(text)).map((name) => `${path}: ${name}`) : [],
    broken: {
      'server/accounts/a.ts': 'await em.transactional(async (inner) => admitChange(database.signIns, inner));',
      'server/accounts/b.ts': 'await em.transactional(async (inner) => { inner.flush(); await em.flush(); });',
      'server/webhooks/a.ts': 'await inTransaction(pool, async (client) => { await readLink(pool, client); });',
      'server/uploads/a.ts': 'await transaction(async (em) => find(database, em));',
      'server/keys/a.ts': 'await tenant.transact((scope) => readOne(tenant, scope));',
    },
  },
  'the types of connections are imported only where connections are used or passed on': {
    law: imports(
      ['server/'],
      'pass `database` on, or the scoped entity manager',
      ({ from }, path) =>
        !['pg', 'kysely', 'pg-copy-streams'].includes(from) ||
        [...rawSql, ...connectionCarriers].some((place) => isIn(path, place)),
    ),
    broken: {
      'server/web/settings/a.ts': `import type pg from 'pg';`,
      'server/mcp/a.ts': `import { Kysely } from 'kysely';`,
    },
  },
  'only database/ and records/ name the entity manager that runs SQL': {
    law: word(
      /\bimport (?:type )?\{[^}]*\b(?:\w*EntityManager|MikroORM|\w*Driver|\w*Connection|QueryBuilder|raw|sql|\w*QueryFragment)\b[^}]*\} from '(?:@mikro-orm|kysely)/,
      ['server/'],
      managerFiles,
    ),
    broken: {
      'server/accounts/a.ts': `import type { EntityManager } from '@mikro-orm/postgresql';`,
      'server/keys/a.ts': `import { LockMode, raw } from '@mikro-orm/core';`,
      'server/export/a.ts': `import type {\n  MikroORM,\n} from '@mikro-orm/postgresql';`,
    },
  },
  'anything that expires does so by the database’s clock, or by a monotonic one': {
    law: word(/\bDate\.now\b|\bnew Date\(\)/, ['server/'], clockReaders),
    broken: {
      'server/keys/a.ts': 'const isOver = Date.parse(endsAt) < Date.now();',
      'server/accounts/a.ts': 'const endsAt = new Date();',
    },
  },
  'no code looks for members that the types hide': {
    law: word(/\bgetOwnPropertySymbols\b|\bReflect\.ownKeys\b|\bgetOwnPropertyDescriptors\b/, ['server/']),
    broken: { 'server/api/a.ts': 'const [hidden] = Object.getOwnPropertySymbols(caller);' },
  },
  'nothing bypasses the organization filter': {
    law: word(
      /\bgetReference\b|\bupsert(?:Many)?\b|\bcreateQueryBuilder\b|\.qb\b|\bgetKysely\b|\bgetConnection\b|\bgetDriver\b|\bfilters: (?:false|\{ *\w+: false)/,
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
      'server/keys/b.ts': 'const connect = em.getConnection;',
    },
  },
  'nothing bypasses the entity manager to execute a statement': {
    law: word(
      /\.execute\b|['"`]execute['"`]|\{ *execute\b[^:]*[,}]|\{ *execute: *[a-z]\w* *[,}]|\bexecuteIn\b/,
      ['server/'],
      executes,
    ),
    broken: {
      'server/api/c.ts': `import { executeIn } from '../database/tenant.ts';`,
      'server/api/d.ts': 'const { execute: run } = em;',
      'server/api/e.ts': `const run = Reflect.get(em, 'execute');`,
      'server/api/a.ts': `await em.execute('delete from customers');`,
      'server/api/b.ts': `await em.execute<Row[]>('select * from customers');`,
    },
  },
  'only records/ imports what runs SQL for an organization': {
    law: imports(
      ['server/', 'test/api/'],
      'handlers and pages have no access to SQL',
      ({ from }, path) => from !== 'server/database/scope.ts' || statementFiles.some((place) => isIn(path, place)),
    ),
    broken: {
      'server/api/me.ts': `import { statements } from '../database/scope.ts';`,
      'server/web/settings/a.ts': `import { statements as run } from '../../database/scope.ts';`,
    },
  },
  'an organization id comes from a row, never from a cast': {
    law: word(
      /\b(?:as|is) (?!const\b)[^;=()]*\b(?:OrganizationId|Organization|Caller|Visit)\b|<OrganizationId>\s*[\w(]|\bgetFilterParams\(|Object\.assign\([^()]*organization\b/,
      ['server/'],
      minters,
    ),
    broken: {
      'server/web/settings/a.ts': 'const other = String(request.query.of) as OrganizationId;',
      'server/api/a.ts': 'const id = <OrganizationId>body.id;',
      'server/api/b.ts': 'const { id } = JSON.parse(text) as { id: OrganizationId };',
      'server/uploads/a.ts': 'const who = Object(task).who as Pick<Caller, "organization">;',
      'server/web/settings/b.ts': 'const other = Object.assign({}, organization, { id: request.query.of });',
      'server/web/settings/c.ts': 'const isOurs = (id: string): id is OrganizationId => ids.includes(id);',
      'server/records/a.ts': 'Object(em.getFilterParams(organizationFilter)).id = body.organizationId;',
    },
  },
  'no request finds an organization other than its own': {
    law: word(
      /\borm\s*\??\.\s*em\b|\borm\s*\[|=\s*[\w.]+\.orm\s*;|\borm\s*:\s*\{|\b(?:listOrganizations|openDatabase|withConnection)\b/,
      ['server/'],
      finders,
    ),
    broken: {
      'server/web/settings/a.ts': 'const other = await context.database.orm.em.fork().findOne(Organization, { slug });',
      'server/web/settings/b.ts': 'const { em } = context.database.orm;',
      'server/web/settings/c.ts': 'const { orm: { em } } = context.database;',
      'server/web/settings/d.ts': `import { listOrganizations } from '../../accounts/organizations.ts';`,
      'server/mcp/a.ts': `const { openDatabase } = await import('../database/orm.ts');`,
    },
  },
  'a cast that bypasses the compiler is listed, with its reason': {
    law: word(/\bas never\b|\bas unknown as\b/, ['server/'], unchecked),
    broken: {
      'server/web/settings/a.ts': 'const em = forOrganization(database, String(request.query.of) as never).em();',
      'server/api/a.ts': 'const id = body.id as unknown as Caller["organization"]["id"];',
    },
  },
  'what is kept between requests is listed, with the reason why it mixes no organizations': {
    law: word(
      /^(?:export )?(?:let \w|const \w+(?:: (?!Readonly)[^=\n]+)? = (?:new (?:Weak)?(?:Map|Set)\b(?:<.*>)?\((?:\[\])?\)|\{\}|\[\]))|#\w+(?:: .+)? = new (?:Map|Set)(?:<.*>)?\(\)/m,
      ['server/'],
      caches,
    ),
    broken: {
      'server/uploads/stored.ts': 'const remembered = new Map<string, RememberedChoices>();',
      'server/keys/a.ts': 'export const tenants: Map<string, Tenant> = new Map();',
      'server/web/settings/a.ts': 'let last: UsageReport | undefined;',
      'server/web/settings/b.ts': 'const last: { report?: UsageReport } = {};',
      'server/web/settings/c.ts': 'export const recent: UsageReport[] = [];',
      'server/webhooks/a.ts': 'const bodies = new WeakMap<object, string>();',
      'server/export/a.ts': 'class Exports {\n  readonly #names = new Map<string, Map<string, string>>();\n}',
    },
  },
  'a log line names no secret, header or body, and only the log and commands write to standard error': {
    law: (file) => [
      ...word(
        /\b(?:log|\w+Log|warn)\(\{[^;]*?\b(?:secrets?|passwords?|tokens?|cookies?|authorization|(?:rawH|h)eaders|body|originalUrl|credentials)\b/,
        ['server/'],
      )(file),
      ...word(/\bprocess\.(?:stdout|stderr)\.write\b/, ['server/'], ['server/build/', 'server/commands/'])(file),
    ],
    broken: {
      'server/webhooks/a.ts': `log({ message: 'delivering', url: endpoint.url, secrets });`,
      'server/http/a.ts': 'log({\n  path,\n  cookie: request.headers.cookie,\n});',
      'server/http/b.ts': 'warningLog({ path: request.originalUrl });',
      'server/connect/a.ts': 'process.stderr.write(code);',
    },
  },
  'one file binds entity managers to organizations': {
    law: word(/\bsetFilterParams\(/, ['server/'], binders),
    broken: { 'server/api/a.ts': 'em.setFilterParams(organizationFilter, { id: body.organizationId });' },
  },
  'the environment is read in one place': {
    law: word(/\bprocess\.env\b/, product, environmentReaders),
    broken: { 'server/commands/serve/server.ts': 'const port = process.env.PORT;' },
  },
  'only these files depend on their own folder': {
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
  'no object literal has a getter, which would keep the object until the next full collection': {
    law: word(/^ {4,}get \w+\(|[{,] get \w+\(/m, ['server/']),
    broken: {
      'server/a.ts': 'const page = (texts: string[]) => ({\n    get data() {\n      return texts;\n    },\n  });',
      'server/b.ts': 'const row = { id, get lines() { return JSON.parse(text); } };',
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
  'a time limit in a test ends a hang, and does not measure the speed of the machine': {
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
      return path !== generated &&
        !/migrations\/2/.test(path) &&
        product.some((folder) => isIn(path, folder)) &&
        lines > longest
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
    expect(importsOf(file)).toContainEqual({ from: 'server/commands/command.ts', typeOnly: true, isDynamic: false });
    expect(importsOf(file)).toContainEqual({ from: 'server/commands/serve.ts', typeOnly: false, isDynamic: true });
    expect(
      importsOf({ path: 'server/a.ts', text: `// import './b.ts'\nconst text = 'select 1 from "./b.ts"';` }),
    ).toEqual([]);
  });

  test('a process that serves only the API loads no topic of the settings, and neither documentation nor tools', () => {
    const loaded = [...loadedWith('server/commands/serve/server.ts')];
    expect(loaded).toContain('server/commands/serve/app.ts');
    const onDemand = /^server\/(?:web\/docs|web\/settings\/\w+|http\/documents|mcp|export)\//;
    expect(loaded.filter((path) => onDemand.test(path))).toEqual([]);
  });

  test('every exception is still needed', () => {
    const exceptions: [Pick<RegExp, 'test'>, string[]][] = [
      [/\.query\s*(?:<[^()]*>)?\(|\binBatches\b/, rawSql],
      [/ = new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)|^let |: .+\[\] = \[\]/m, caches],
      [/\bsetFilterParams\(/, binders],
      [/\borm\.em\b|\b(?:openDatabase|withConnection)\b/, finders],
      [/database\/scope\.ts|'\.\/scope\.ts/, statementFiles],
      [/\bas OrganizationId\b|\bgetFilterParams\(/, minters],
      [/\bas never\b|\bas unknown as\b/, unchecked],
      [/\.execute\(|\bexecuteIn\b/, executes],
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

  test('every dependency has an exact version', () => {
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    const all = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)))).toEqual([]);
  });

  test('the root folder holds only known files', () => {
    const known =
      /^(?:\..*|node_modules|coverage|dist|contract|server|client|test|package(?:-lock)?\.json|tsconfig[.\w]*\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/;
    expect(readdirSync(root).filter((name) => !known.test(name))).toEqual([]);
  });
});

describe('entities and the migrated database', () => {
  const world = useWorld();
  /** A trigger maintains the epoch of keys and plans, and the migrator keeps its own list. */
  const withoutEntity = ['access_epoch', 'erasure_key', 'migrations'];
  const query = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await world.database.pool.query<Row>(text, values)).rows;
  const entities = () => everyEntity.map((entity) => world.database.orm.getMetadata().get(entity));

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
    const { cond } = organizationFilters[organizationFilter];
    const ours = entities().filter(({ filters }) => filters[organizationFilter]?.cond === cond);
    const owned = await query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'organization_id'`,
    );
    expect(ours.map(({ tableName }) => tableName).toSorted()).toEqual(owned.map(({ name }) => name).toSorted());
  });

  test('are in the order of their references, so an organization can be removed starting with the last', async () => {
    const tables = entities().map(({ tableName }) => tableName);
    const references = await query<{ from: string; to: string }>(
      `select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
       where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> confrelid`,
    );
    expect(references.filter(({ from, to }) => tables.indexOf(from) < tables.indexOf(to))).toEqual([]);
    expect(references.length).toBeGreaterThan(5);
  });

  test('are spread over a cluster, unless they stay on its coordinator, to which the others cannot refer', async () => {
    expect(distributedTables).toEqual(expect.arrayContaining(['customers', 'items', 'proposals', 'idempotency_keys']));
    expect(distributedTables).not.toContain('api_keys');
    const references = await query<{ from: string; to: string }>(
      `select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
       where contype = 'f' and conrelid = any($1::text[]::regclass[]) and confrelid <> 'organizations'::regclass`,
      [distributedTables],
    );
    expect(references.length).toBeGreaterThan(2);
    expect(references.filter(({ to }) => !distributedTables.includes(to))).toEqual([]);
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
