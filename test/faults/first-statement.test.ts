/** A connection that is cut off after it was opened, before its first statement has a response. */
import { connect, createServer } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import { listen } from '../ports.ts';

/** The test run's database through a link that can drop the first statements of new connections. */
async function linked() {
  const url = new URL(inject('databaseUrl'));
  const folder = url.searchParams.get('host');
  const [host, port] = [url.hostname, Number(url.port || 5432)];
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host, port });
    far.pipe(near).on('error', () => undefined);
    far.on('error', () => undefined);
    near.on('data', (bytes) => void ((isCut && bytes.includes('transaction_timeout')) || far.write(bytes)));
    near.on('close', () => far.destroy());
  });
  url.searchParams.delete('host');
  [url.hostname, url.port] = ['127.0.0.1', String(await listen(server))];
  onTestFinished(() => void server.close());
  return { url: url.href, cut: (cuts: boolean) => (isCut = cuts) };
}

test('is ended, and keeps neither a request nor a stop waiting', async () => {
  const { url, cut } = await linked();
  const { pool, orm } = await openDatabase({ url });
  const held = await pool.connect();
  cut(true);
  await expect(pool.query('select 1')).rejects.toThrow('The database sent nothing for 9 seconds.');
  cut(false);
  expect((await pool.query('select 1')).rowCount).toBe(1);
  held.release();
  await orm.close();
});
