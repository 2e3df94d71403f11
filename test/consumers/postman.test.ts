/** The documents imported into Postman, with only a key added: every request of the collection succeeds. */
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { ensureDemo } from '../../server/demo/demo.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { ownDatabase } from '../database.ts';
import { documents, versions } from './documents.ts';

const { convert } = createRequire(import.meta.url)('openapi-to-postmanv2');

/** The import dialog's settings: values come from the examples, and optional parameters are enabled or only listed. */
const settings = {
  requestParametersResolution: 'Example',
  exampleParametersResolution: 'Example',
};
const dialogs = [true, false].map((enableOptionalParameters) => ({ ...settings, enableOptionalParameters }));

type Pair = { key: string; value: string; disabled?: boolean };
type Item = {
  name: string;
  item?: Item[];
  request: {
    method: string;
    url: { path: string[]; query: Pair[]; variable: Pair[] };
    header: Pair[];
    body?: { raw: string };
  };
};
type Collection = { item: Item[]; auth: { type: string } };

const importOf = (document: object, dialog: object): Promise<Collection> =>
  new Promise((resolve, reject) => {
    convert({ type: 'json', data: document }, dialog, (error: unknown, result: any) => {
      if (error ?? !result.result) reject(new Error(String(error ?? result.reason)));
      else resolve(result.output[0].data);
    });
  });

const requestsIn = ({ item, ...one }: Item): Item[] => (item ? item.flatMap(requestsIn) : [one]);

/** A server with the demo organization, as the first start creates it. */
async function startDemo(): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const own = await ownDatabase();
  const database = await openDatabase({ url: own.url });
  await migrate(database);
  const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0 });
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  await ensureDemo(database, serving.url, say);
  const [key = ''] = /ak_live_[0-9a-f]{64}/.exec(lines.join(' ')) ?? [];
  const stop = async () => {
    await serving.close();
    await database.orm.close();
    await own.drop();
  };
  return { url: serving.url, key, stop };
}

const enabled = (pairs: Pair[] = []) => pairs.filter(({ disabled }) => !disabled);

async function send({ request }: Item, server: { url: string; key: string }): Promise<number> {
  const { url, header, body, method } = request;
  const ids = Object.fromEntries((url.variable ?? []).map(({ key, value }) => [`:${key}`, value]));
  const query = new URLSearchParams(enabled(url.query).map(({ key, value }): [string, string] => [key, value]));
  const path = url.path.map((part) => ids[part] ?? part).join('/');
  const headers = enabled(header).map(({ key, value }): [string, string] => [key, value]);
  const response = await fetch(`${server.url}/${path}?${query.toString()}`, {
    method,
    headers: [...headers, ['authorization', `Bearer ${server.key}`]],
    ...(body && { body: body.raw }),
  });
  return response.status;
}

describe.each(versions)('the collection of OpenAPI %s', (version) => {
  test('has every operation, and each succeeds twice, with and without its optional parameters', async () => {
    const demo = await startDemo();
    try {
      const failed: string[] = [];
      for (const dialog of dialogs) {
        const { item, auth } = await importOf(documents[version](), dialog);
        const requests = item.flatMap(requestsIn);
        expect([requests.length, auth.type]).toEqual([10, 'bearer']);
        for (const one of [...requests, ...requests]) {
          const status = await send(one, demo);
          if (status >= 300) failed.push(`${one.name}: ${status}`);
        }
      }
      expect(failed).toEqual([]);
    } finally {
      await demo.stop();
    }
  });
});
