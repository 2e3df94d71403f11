/** The deployment files of the operating guide: every file, command, option, variable and path in them exists. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { helpOf } from '../command.ts';
import { useWorld } from '../world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const guide = read('server/web/docs/guides/operating.md');
const world = useWorld();

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

const dockerfile = read('server/deployment/Dockerfile');
const compose = read('server/deployment/compose.yaml');
const unit = read('server/deployment/proposal-api.service');

test('the Dockerfile copies files that exist, and builds with a script that exists', () => {
  const sources = all(dockerfile, /^COPY (?!--from)(.+) \S+$/gm).flatMap((line) => line.split(' '));
  expect(sources).toEqual(expect.arrayContaining(['package-lock.json', 'contract', 'server', 'client']));
  expect(sources.filter((source) => !existsSync(`${root}/${source}`))).toEqual([]);
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
  const used = all(dockerfile, /npm run (\S+)/g);
  expect(used).toEqual(['build']);
  for (const script of used) expect(Object.keys(scripts)).toContain(script);
});

test('the Dockerfile does not run as root, and its health check calls a path that exists', async () => {
  expect(all(dockerfile, /^USER (\S+)$/gm)).toEqual(['node']);
  const paths = all(dockerfile, /http:\/\/127\.0\.0\.1:3000(\/\w+)/g);
  expect(paths).toEqual(['/healthz']);
  for (const path of paths) expect((await fetch(world.url + path)).status).toBe(200);
});

test('each file runs the built command line, with options that serve has', async () => {
  for (const text of [dockerfile, compose, unit]) {
    const line = /^.*dist\/server\/main\.js.*$/m.exec(text)?.[0].replaceAll(/['",[\]]+/g, '') ?? '';
    const [, file = '', command, options = ''] = /dist\/(\S+)\.js (\S+)(.*)$/.exec(line) ?? [];
    expect(existsSync(`${root}/${file}.ts`), line).toBe(true);
    expect(command).toBe('serve');
    for (const option of all(options, /(--\w+)/g)) expect(await helpOf('serve')).toContain(`${option} <N>`);
  }
});

test('every environment variable is one that serve knows', async () => {
  const [, api = ''] = /^ {2}api:\n([\s\S]*?)^ {2}\w/m.exec(compose) ?? [];
  const names = [
    ...all(api, /^ {6}([A-Z_]+):/gm),
    ...all(dockerfile, /[ ]([A-Z_]+)=/g),
    ...all(unit.match(/^Environment=.*$/m)?.[0].slice('Environment='.length) ?? '', /([A-Z_]+)=/g),
    ...all(guide.replaceAll(/```[\s\S]*?```/g, ''), /^\| (`[A-Z_]+`.*?) \|/gm).flatMap((cell) => all(cell, /`(\w+)`/g)),
  ];
  expect(names.length).toBeGreaterThan(8);
  const [, known = ''] = (await helpOf('serve')).split('Environment:');
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(known))).toEqual([]);
});

test('Docker Compose builds from the folder whose files the Dockerfile copies', () => {
  const [context] = all(compose, /^ {6}context: (\S+)$/gm);
  const [file] = all(compose, /^ {6}dockerfile: (\S+)$/gm);
  const folder = join(root, 'server/deployment', context ?? '');
  expect(existsSync(join(folder, 'package-lock.json'))).toBe(true);
  expect(readFileSync(join(folder, file ?? 'Dockerfile'), 'utf8')).toBe(dockerfile);
});

test('the commands for the first organization have these options', async () => {
  const uses = [...guide.matchAll(/^npx proposal-api (organizations create|members add) (.+)$/gm)];
  expect(uses.map(([, command]) => command)).toEqual(['organizations create', 'members add']);
  for (const [, command = '', options = ''] of uses)
    for (const option of all(options, /(--\w+)/g)) expect(await helpOf(...command.split(' '))).toContain(option);
});

test('the unit contains the directives that the guide explains', () => {
  const [, section = ''] = /^## systemd\n([\s\S]*?)^## /m.exec(guide) ?? [];
  const explained = all(section.replaceAll(/```[\s\S]*?```/g, ''), /`([A-Z]\w+=\w+)`/g);
  expect(explained).toContain('KillMode=mixed');
  for (const directive of explained) expect(unit.split('\n')).toContain(directive);
});

test('backup and restore are used as their help describes', async () => {
  const uses = all(guide, /npx proposal-api ((?:backup|restore) \S+)$/gm);
  expect(uses).toEqual(['backup proposals.backup', 'restore proposals.backup']);
  expect(await helpOf('backup')).toContain('npx proposal-api backup [options] <FILE>');
  expect(await helpOf('restore')).toContain('npx proposal-api restore [options] <FILE>');
});

const metricsSource = () => read('server/http/metrics.ts');

test('every metric of the table is one that the service has', () => {
  const source = metricsSource();
  const [, pools = ''] = /pools: \{ ([^}]+) \}, knownKeys/.exec(read('server/commands/serve/server.ts')) ?? [];
  const [, listed = ''] = /connections of each pool: ([^;]+);/.exec(guide) ?? [];
  expect(all(listed, /`(\w+)`/g).toSorted()).toEqual(
    all(pools, /(\w+)(?=[,:]|$)/g)
      .filter((name) => name !== 'pool')
      .toSorted(),
  );
  const names = all(guide, /^\| `([a-z]+_[a-z_]+)`/gm);
  expect(names.length).toBeGreaterThan(6);
  expect(names.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
});

test('the sizes of the pools add up to the stated connections', () => {
  const source = read('server/database/orm.ts');
  const sizes = [
    'readConnections',
    'writeConnections',
    'ormConnections',
    'controlConnections',
    'controlConnections',
  ].map((name) => Number(new RegExp(String.raw`\b${name} = (\d+)`).exec(source)?.[1]));
  expect(all(guide, /^\| [^|]+ \| (\d+) \|/gm).map(Number)).toEqual(sizes);
  const sum = sizes.reduce((total, size) => total + size);
  expect(guide).toContain(`up to ${sum}:`);
  expect(readConfig({}).DATABASE_CONNECTIONS).toBe(sum);
});

test('the alert rules use metrics that the service has', () => {
  const source = `${metricsSource()} up{`;
  const names = all(read('server/deployment/alerts.yaml'), /\b([a-z]+(?:_[a-z]+)*)\{job=/g).map((name) =>
    name.replace(/_bucket$/, ''),
  );
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !source.includes(name))).toEqual([]);
});
