/** Tests the deployment files: proxies in front of the service, and those of systemd and Prometheus with their own tools. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../client/index.ts';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { cleanupsAfterAll, ownDatabase } from '../database.ts';
import { startService } from '../faults/service.ts';
import type { Service } from '../faults/service.ts';
import { freePort } from '../ports.ts';

const run = promisify(execFile);
const file = (name: string) => new URL(`../../server/deployment/${name}`, import.meta.url);
const read = (name: string) => readFileSync(file(name), 'utf8');
const programs = {
  nginx: '/usr/sbin/nginx',
  caddy: '/usr/bin/caddy',
  promtool: '/usr/bin/promtool',
  systemd: '/usr/bin/systemd-analyze',
};
for (const [name, path] of Object.entries(programs))
  if (!existsSync(path)) process.stdout.write(`${name} is not installed: its deployment file is not tested.\n`);

const cleanups = cleanupsAfterAll();
let folder = '';
let service: Service;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-deployment-'));
  await chmod(folder, 0o755);
  cleanups.push(() => rm(folder, { recursive: true }));
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  service = await startService(url, { trustedProxies: 1 });
  cleanups.push(service.close);
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  await run('openssl', [...words.split(' '), '-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')]);
});

type Answer = { status: number | undefined; headers: IncomingHttpHeaders; text: string };
type Call = { method?: string; path: string; headers?: Record<string, string>; body?: string | Buffer };

function call(port: number, { method = 'GET', path, headers = {}, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: 'localhost', method, path, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const servesTls = (port: number) =>
  call(port, { path: '/healthz' }).then(
    ({ status }) => status === 200,
    () => false,
  );
const servesPlainly = (port: number) =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Runs a proxy in the foreground until the tests end, and waits until it serves. */
async function startProxy(program: string, words: string[], port: number, serves = servesTls): Promise<void> {
  const child = spawn(program, words, {
    stdio: 'ignore',
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
  });
  cleanups.push(async () => {
    child.kill('SIGTERM');
    while (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve));
  });
  while (!(await serves(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await delay(20);
  }
}

function nginxWith(site: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const surroundings = `daemon off; pid ${folder}/nginx-${process.hrtime.bigint()}.pid; error_log ${folder}/nginx.log; events {}`;
  return `${surroundings} http { access_log off; ${paths.join(' ')}\n${site}}`;
}

type StartProxy = (port: number, processes: readonly number[]) => Promise<void>;

const startNginx: StartProxy = async (port, processes) => {
  const site = read('nginx.conf')
    .replace(/server 127.*;/, (line) => processes.map((one) => line.replace('3000', String(one))).join('\n'))
    .replace('listen 443 ssl', `listen ${port} ssl`)
    .replace('/etc/ssl/proposal-api.crt', join(folder, 'tls.crt'))
    .replace('/etc/ssl/proposal-api.key', join(folder, 'tls.key'));
  const main = join(folder, `nginx-${port}.conf`);
  await writeFile(main, nginxWith(site));
  await startProxy(programs.nginx, ['-c', main], port);
};

const startCaddy: StartProxy = async (port, processes) => {
  const site = read('Caddyfile')
    .replace(/^\S+ \{/, `https://localhost:${port} {\n\ttls ${folder}/tls.crt ${folder}/tls.key`)
    .replace('127.0.0.1:3000', processes.map((one) => `127.0.0.1:${one}`).join(' '));
  const config = join(folder, `Caddyfile-${port}`);
  await writeFile(config, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  await startProxy(programs.caddy, ['run', '--config', config, '--adapter', 'caddyfile'], port);
};

/** Listens like a process of the service. Returns a function that stops it. */
async function serveAt(port: number): Promise<() => Promise<unknown>> {
  const server = createServer((received, response) => received.resume().on('end', () => response.end())).listen(
    port,
    '127.0.0.1',
  );
  cleanups.push(() => server.close());
  await once(server, 'listening');
  return async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
}

describe.each([
  ['nginx', startNginx],
  ['caddy', startCaddy],
] as const)('%s in front of the service', (name, startIt) => {
  const isInstalled = existsSync(programs[name]);
  let port = 0;
  const headers = () => ({ authorization: `Bearer ${service.keys[0]}`, 'content-type': 'application/json' });
  beforeAll(async () => {
    if (!isInstalled) return;
    port = await freePort();
    await startIt(port, [Number(new URL(service.url).port)]);
  });

  test.runIf(isInstalled)('no GET fails while two processes restart one after the other', async () => {
    const [proxy, first, second] = [await freePort(), await freePort(), await freePort()];
    const stopFirst = await serveAt(first);
    await startIt(proxy, [first, second]);
    const statuses = async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => call(proxy, { path: '/healthz' })));
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await serveAt(second);
    await stopFirst();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  test.runIf(isInstalled)('preserves ETags, so conditional updates work', async () => {
    const body = JSON.stringify({ name: 'Ann', notes: 'x'.repeat(3_000) });
    const created = await call(port, { method: 'POST', path: '/v1/customers', headers: headers(), body });
    expect(created.status).toBe(201);
    const { id } = JSON.parse(created.text);
    const accepting = { ...headers(), 'accept-encoding': 'gzip' };
    const got = await call(port, { path: `/v1/customers/${id}`, headers: accepting });
    const etag = String(got.headers.etag);
    const patch = (tag: string) =>
      call(port, {
        method: 'PATCH',
        path: `/v1/customers/${id}`,
        headers: { ...headers(), 'if-match': tag },
        body: JSON.stringify({ notes: 'y' }),
      });
    expect((await patch(etag)).status).toBe(200);
    expect((await patch(etag)).status).toBe(412);
  });

  test.runIf(isInstalled)('accepts a file of 100 MB and the form around it', async () => {
    const [proxy, behind] = [await freePort(), await freePort()];
    await serveAt(behind);
    await startIt(proxy, [behind]);
    const body = Buffer.alloc(100_100_000, 'x');
    expect((await call(proxy, { method: 'POST', path: '/settings/imports', body })).status).toBe(200);
  });

  test.runIf(isInstalled)('passes on the service’s errors', async () => {
    const missing = await call(port, { path: '/v1/nothing', headers: headers() });
    expect([missing.status, JSON.parse(missing.text).code]).toEqual([404, 'route_not_found']);
    expect(missing.headers['x-request-id']).toMatch(/^req_/);
  });

  test.runIf(isInstalled)('tells the service the client’s address, not one that the client has made up', async () => {
    const statuses: (number | undefined)[] = [];
    for (let count = 0; count <= attemptLimits.link.most; count += 1) {
      const madeUp = { 'x-forwarded-for': `192.0.2.${count}` };
      statuses.push((await call(port, { path: '/settings/password?token=x', headers: madeUp })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});

test.runIf(existsSync(programs.nginx))('an nginx that compresses weakens ETags, which still match', async () => {
  const port = await freePort();
  // It hides the client's Accept-Encoding from the service, and compresses the response itself.
  const proxy = `proxy_pass ${service.url.replace('localhost', '127.0.0.1')}; proxy_set_header Accept-Encoding "";`;
  const gzip = 'gzip on; gzip_proxied any; gzip_min_length 100; gzip_types application/json;';
  const main = join(folder, 'nginx-gzip.conf');
  await writeFile(main, nginxWith(`server { listen 127.0.0.1:${port}; ${gzip} location / { ${proxy} } }`));
  await startProxy(programs.nginx, ['-c', main], port, servesPlainly);

  const baseUrl = `http://127.0.0.1:${port}`;
  const apiKey = service.keys[0] ?? '';
  const { customers } = createClient({ baseUrl, apiKey });
  const { id } = await customers.create({ name: 'Ann', notes: 'x'.repeat(3_000) });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const url = `${baseUrl}/v1/customers/${id}`;
  const weak = (await fetch(url, { headers })).headers.get('etag') ?? '';
  expect(weak).toMatch(/^W\/"/);
  const body = JSON.stringify({ tags: ['vip'] });
  expect((await fetch(url, { method: 'PATCH', headers: { ...headers, 'if-match': weak }, body })).status).toBe(200);
  expect((await fetch(url, { method: 'PATCH', headers: { ...headers, 'if-match': weak }, body })).status).toBe(412);

  const { etag } = await customers.get.withResponse(id);
  const ifMatch = etag ?? '';
  expect(await customers.get(id, { ifNoneMatch: ifMatch })).toBeNull();
  expect(await customers.update(id, { notes: 'y' }, { ifMatch })).toMatchObject({ notes: 'y' });
  await expect(customers.update(id, { notes: 'z' }, { ifMatch })).rejects.toMatchObject({ status: 412 });
});

test.runIf(existsSync(programs.systemd))('systemd accepts the unit', async () => {
  // The unit has the path of Node on a server.
  const unit = join(folder, 'proposal-api.service');
  await writeFile(unit, read('proposal-api.service').replace('/usr/bin/node', process.execPath));
  const { stdout, stderr } = await run(programs.systemd, ['verify', unit]);
  expect(stdout + stderr).toBe('');
});

describe.runIf(existsSync(programs.promtool))('Prometheus', () => {
  const rules = () => join(folder, 'alerts.yaml');
  beforeAll(() => writeFile(rules(), read('alerts.yaml')));

  /** By name: the samples of a series, one a minute. */
  type Series = Record<string, string>;

  /** Evaluates the rules for the series of each instance, and expects the alert for those that have a summary. */
  async function expectAlert(alertname: string, minutes: number, instances: Record<string, [Series, string?]>) {
    const labelsOf = (instance: string) => ({ job: 'proposal-api', instance });
    const input = Object.entries(instances).flatMap(([instance, [series]]) =>
      Object.entries(series).map(([name, values]) => {
        return { series: `${name}{job="proposal-api", instance="${instance}"}`, values };
      }),
    );
    const expected = Object.entries(instances).flatMap(([instance, [, summary]]) =>
      summary === undefined ? [] : [{ exp_labels: labelsOf(instance), exp_annotations: { summary } }],
    );
    const alert = { eval_time: `${minutes}m`, alertname, exp_alerts: expected };
    const tests = [{ interval: '1m', input_series: input, alert_rule_test: [alert] }];
    const path = join(folder, 'alerts.test.yaml');
    await writeFile(path, JSON.stringify({ rule_files: [rules()], evaluation_interval: '1m', tests }));
    expect((await run(programs.promtool, ['test', 'rules', path])).stdout).toContain('SUCCESS');
  }

  test('loads the alert rules', async () => {
    expect((await run(programs.promtool, ['check', 'rules', rules()])).stdout).toContain('SUCCESS: 7 rules found');
  });

  test('alerts on a rate limit that is not shared', () =>
    expectAlert('ProposalApiRateLimitNotShared', 6, {
      'api-1': [
        { rate_limit_shared: '0x10' },
        'Redis is unavailable: each process of api-1 enforces the limit on its own.',
      ],
      'api-2': [{ rate_limit_shared: '1x10' }],
    }));

  test('alerts on a transaction that syncs and webhooks wait for', () =>
    expectAlert('ProposalApiSyncsLate', 15, {
      'api-1': [
        { sync_lag_seconds: '0+60x20' },
        'Syncs and webhooks wait for a transaction that has been open for 900 seconds.',
      ],
      'api-2': [{ sync_lag_seconds: '0 60 120 180 240 300 360 0x20' }],
    }));

  test('alerts on a machine that does not respond, or whose workers have all ended', () =>
    expectAlert('ProposalApiDown', 3, {
      'api-1': [{ up: '1x10', http_requests_in_flight: '0x10', http_requests_total: '5x10' }],
      'api-2': [{ up: '0x10' }, 'api-2 does not respond.'],
      'api-3': [
        { up: '1x10', http_requests_in_flight: '0 stale', http_requests_total: '5x10' },
        'api-3 does not respond.',
      ],
    }));
});
