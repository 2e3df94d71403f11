/** A body takes about as much memory as it has bytes, however many pieces it arrives in. */
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readBody } from '../../server/http/body.ts';

const pieces = 1_000;

test('a body that arrives byte by byte keeps none of its pieces', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const request = Object.assign(new PassThrough(), { method: 'POST', headers });
  // Only the state of the request is used.
  const body = readBody(request as never, { locals: {} } as never, {} as never);
  const sent = Array.from({ length: pieces }, () => {
    const piece = Buffer.alloc(1, ' ');
    request.write(piece);
    return new WeakRef(piece);
  });
  await turn();
  collectGarbage();
  expect(sent.filter((piece) => piece.deref() !== undefined).length).toBeLessThan(pieces / 10);
  request.end('{"name":"Grüße"}');
  expect(await body).toEqual({ name: 'Grüße' });
});
