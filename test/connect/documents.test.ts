/** Applications whose client_id is the URL of a document that describes them. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { createClients } from '../../server/connect/clients.ts';
import { listKeys } from '../../server/keys/list.ts';
import { allow, authSecret, parts } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import { listen } from '../ports.ts';
import { asking, callback, connect, pathOf, quickClock, registration, scene } from './scene.ts';

// An operator can allow plain HTTP on this machine, as for webhooks.
const world = useWorld({ clock: quickClock(), webhooks: { allow } });
const strict = useWorld({ clock: quickClock() });

let host = '';
const fetched: string[] = [];
let lastHeaders: IncomingHttpHeaders = {};
const server = createServer(({ url = '', method, headers }, response) => {
  fetched.push(`${method} ${url}`);
  lastHeaders = headers;
  const answer = answers[url];
  if (answer) answer(response);
  else response.writeHead(404).end();
});
const answer = (fields: object) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(fields));
const answers: Record<string, (response: ServerResponse) => void> = {};

beforeAll(async () => {
  host = `127.0.0.1:${await listen(server)}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Publishes a document at its own client_id. */
function publish(path: string, fields: object = {}): string {
  const clientId = `http://${host}${path}`;
  answers[path] = answer({ ...registration({ client_name: 'Published' }), client_id: clientId, ...fields });
  return clientId;
}

describe('a client_id that is a URL', () => {
  test('is fetched once and cached; its name is verified, and it connects', async () => {
    const { tenant, visiting } = await scene(world);
    const clientId = publish('/client.json');
    const { text } = await visiting.get(pathOf(asking(clientId)));
    expect(text).toContain('Connect Published?');
    expect(text).toMatch(new RegExp(`Verified</span>\\s*<small>published by ${host}`));
    expect(text).not.toContain('Not verified');
    const raw = await connect(world, visiting, asking(clientId));
    expect((await tenant.as(raw).call('GET', '/v1/me')).body.key.name).toBe('Published');
    expect(fetched.filter((line) => line.endsWith('/client.json'))).toEqual(['GET /client.json']);
  });

  test('may get a key for each computer of the same person', async () => {
    const { tenant, visiting } = await scene(world);
    const clientId = publish('/installed.json');
    const first = await connect(world, visiting, asking(clientId));
    expect((await visiting.get(pathOf(asking(clientId)))).text).toContain('Keep that key for another computer');
    const second = await connect(world, visiting, asking(clientId), { keep: 'on' });
    const replaced = async () => (await listKeys(tenant.em())).filter(({ replacedBy }) => replacedBy !== null);
    expect(await replaced()).toEqual([]);
    await connect(world, visiting, asking(clientId));
    expect((await replaced()).map(({ prefix }) => prefix)).toEqual([second.slice(0, 12)]);
    expect((await tenant.as(first).call('GET', '/v1/me')).status).toBe(200);
  });

  test('may only return to a URI in its document', async () => {
    const { visiting } = await scene(world);
    const clientId = publish('/own.json');
    const { status } = await visiting.get(pathOf(asking(clientId, { redirect_uri: 'https://evil.example/' })));
    expect(status).toBe(400);
    const wide = publish('/wide.json', { redirect_uris: [callback, 'cursor://callback'] });
    expect((await visiting.get(pathOf(asking(wide)))).status).toBe(400);
  });

  test('cannot connect if its document has another client_id, is missing, redirected, too long or not JSON', async () => {
    const { visiting } = await scene(world);
    publish('/other.json', { client_id: 'https://other.example/client.json' });
    publish('/long.json', { filler: 'x'.repeat(20_000) });
    answers['/moved.json'] = (response) => void response.writeHead(302, { location: '/client.json' }).end();
    answers['/text'] = (response) => void response.end('no JSON');
    for (const [path, fault] of [
      ['/other.json', 'has a different client_id'],
      ['/long.json', 'is not JSON with a client_id, of at most 16 KiB'],
      ['/moved.json', 'could not be read. It responded with status 302.'],
      ['/text', 'is not JSON with a client_id, of at most 16 KiB'],
      ['/missing', 'could not be read. It responded with status 404.'],
    ]) {
      const { status, text } = await visiting.get(pathOf(asking(`http://${host}${path}`)));
      expect([path, status]).toEqual([path, 400]);
      expect(text).toContain(`The application&#39;s document at ${host} ${fault}`);
    }
  });

  test('is requested as RFC 9110 describes, by a client that says who it is', async () => {
    const { visiting } = await scene(world);
    await visiting.get(pathOf(asking(publish('/asked.json'))));
    expect(lastHeaders).toEqual({
      host,
      accept: 'application/json',
      'user-agent': 'Proposal-API-Connect/1.0',
      connection: 'keep-alive',
    });
  });

  test('is fetched again after a failure', async () => {
    const { visiting } = await scene(world);
    const ask = asking(`http://${host}/later.json`);
    expect((await visiting.get(pathOf(ask))).status).toBe(400);
    publish('/later.json');
    expect((await visiting.get(pathOf(ask))).status).toBe(200);
  });

  test('is fetched at most twenty times a minute for one member', async () => {
    const [{ visiting }, other] = [await scene(world), await scene(world)];
    const askFor = async (one: typeof visiting, path: string) =>
      (await one.get(pathOf(asking(`http://${host}${path}`)))).status;
    const known = publish('/known.json');
    for (let count = 0; count < attemptLimits.document.most; count += 1)
      expect(await askFor(visiting, count === 0 ? '/known.json' : `/guess-${count}`)).toBe(count === 0 ? 200 : 400);
    const before = fetched.length;
    expect([await askFor(visiting, '/one-more'), fetched.length]).toEqual([429, before]);
    expect((await visiting.get(pathOf(asking(known)))).status).toBe(200);
    expect(await askFor(other.visiting, '/one-more')).toBe(400);
  });

  test('is cached until 200 others have been, and for five minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const clients = createClients({ secret: authSecret, destinations: parts.destinations });
    const find = (path: string) => clients.find(publish(path), async () => {});
    const timesFetched = (path: string) => fetched.filter((line) => line === `GET ${path}`).length;
    for (let count = 0; count < 200; count += 1) await find(`/of-many/${count}`);
    await find('/of-many/0');
    expect(timesFetched('/of-many/0')).toBe(1);
    await find('/of-many/200');
    await find('/of-many/0');
    expect(timesFetched('/of-many/0')).toBe(2);
    vi.advanceTimersByTime(299_999);
    await find('/of-many/0');
    expect(timesFetched('/of-many/0')).toBe(2);
    vi.advanceTimersByTime(1);
    await find('/of-many/0');
    expect(timesFetched('/of-many/0')).toBe(3);
  });

  test('is not fetched if it has no path, is not normalized, or the visitor is not signed in', async () => {
    const { visiting } = await scene(world);
    const before = fetched.length;
    for (const clientId of [
      `http://${host}`,
      `http://${host}/`,
      `http://${host}/a/../client.json`,
      `http://${host}/client.json#x`,
      `http://${host}/client.json#`,
      `http://user@${host}/client.json`,
    ]) {
      const { status, text } = await visiting.get(pathOf(asking(clientId)));
      const isNamed = text.includes('must be in its normalized form, with a path');
      expect([clientId, status, isNamed]).toEqual([clientId, 400, true]);
    }
    const nobody = await fetch(world.url + pathOf(asking(publish('/unsigned.json'))), { redirect: 'manual' });
    expect([nobody.status, fetched.length]).toEqual([303, before]);
  });

  test('is not fetched from a private network, or over plain HTTP', async () => {
    const { visiting } = await scene(strict);
    const before = fetched.length;
    for (const clientId of [publish('/inside.json'), `https://${host}/inside.json`, 'https://169.254.169.254/latest']) {
      const { status, text } = await visiting.get(pathOf(asking(clientId)));
      expect([clientId, status, text.includes('is not a public address')]).toEqual([clientId, 400, true]);
    }
    expect(fetched.length).toBe(before);
  });
});
