/** Files that are written while the browser reads them: the activity log, rejected rows and exports. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { createSemaphore } from '../../server/export/semaphore.ts';
import { sendPieces } from '../../server/web/settings/download.ts';
import { listen } from '../ports.ts';

const pieceCount = 1000;

const sending = (pieces: Parameters<typeof sendPieces>[1]) =>
  createServer(express().get('/', (_, response) => sendPieces(response, pieces)));

test('a file that cannot be completed is not taken for a complete one', async () => {
  async function* pieces() {
    yield 'the beginning';
    throw new Error('The rest cannot be read.');
  }
  const server = sending(pieces());
  const url = `http://127.0.0.1:${await listen(server)}/`;
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow(TypeError);
  server.close();
  await once(server, 'close');
});

test('a file is made only as fast as the browser reads it', async () => {
  let made = 0;
  async function* pieces() {
    for (; made < pieceCount; made += 1) yield Buffer.alloc(65_536);
  }
  const server = sending(pieces());
  // Reads nothing. The buffers of both sides hold a few megabytes.
  const socket = connect(await listen(server), '127.0.0.1').pause();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let before = 0;
  const isStill = () => {
    const same = made > 0 && made === before;
    before = made;
    return same;
  };
  await expect.poll(isStill).toBe(true);
  expect(made).toBeLessThan(pieceCount);
  socket.destroy();
  server.close();
  await once(server, 'close');
});

test('a file waits while two others are made, no matter how many were made before', async () => {
  const limited = createSemaphore(2);
  const ends: (() => void)[] = [];
  async function* source() {
    await new Promise<void>((end) => ends.push(end));
    yield 'made';
  }
  const make = async () => {
    for await (const piece of limited(source())) expect(piece).toBe('made');
  };
  const steps = 'make 1, make 2, make 2, end 3, make 3, end 4, end 4, end 4, make 5, make 6, end 6, end 6';
  const made: Promise<void>[] = [];
  let ended = 0;
  for (const step of steps.split(', ')) {
    if (step.startsWith('make')) made.push(make());
    else ends[ended++]?.();
    // By then, everything that does not wait has happened.
    await new Promise(setImmediate);
    expect(step).toBe(`${step.split(' ')[0]} ${ends.length}`);
  }
  await Promise.all(made);
});
