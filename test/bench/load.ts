/**
 * Sends requests over raw sockets, in a separate process, to leave the CPU to the servers: a client library spends more
 * CPU on a request than the yardstick does. The parent sends a Job and gets a Result.
 */
import { connect } from 'node:net';

/** `requests` are whole requests as sent over the wire, used in turn; every `mark` in them becomes a unique number. */
export type Job = { port: number; connections: number; count: number; requests: string[]; status: number };
export type Result = { count: number; seconds: number; p50: number; p99: number } | { error: string };

/** Eight characters, so the length of the body stays the same. */
export const mark = '########';

const headEnd = Buffer.from('\r\n\r\n');
let sent = 0;

function run({ port, connections, count, requests, status }: Job): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const startedAt = performance.now();
  const last = sent + count;
  const times: number[] = [];
  let open = connections;
  const fail = (error: string) => resolve({ error });

  function start(): void {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sentAt = 0;
    let head: Buffer | undefined;
    /** Bytes of the body still to be received. */
    let left = 0;
    const send = () => {
      sentAt = performance.now();
      if (sent === last) {
        socket.end();
        return;
      }
      const text = requests[sent % requests.length] ?? '';
      sent += 1;
      socket.write(text.includes(mark) ? text.replaceAll(mark, String(10_000_000 + sent)) : text);
    };
    const receive = (chunk: Buffer): void => {
      if (left === 0) {
        head = head ? Buffer.concat([head, chunk]) : chunk;
        const end = head.indexOf(headEnd);
        if (end < 0) return;
        const text = head.toString('latin1', 0, end);
        if (Number(text.slice(9, 12)) !== status) return fail(`${text}\n\n${head.toString('utf8', end + 4)}`);
        left = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]) - (head.length - end - headEnd.length);
        head = undefined;
      } else left -= chunk.length;
      if (left > 0) return;
      left = 0;
      times.push(performance.now() - sentAt);
      send();
    };
    socket.on('connect', send).on('data', receive);
    socket.on('error', (error) => fail(String(error)));
    socket.on('close', () => {
      open -= 1;
      if (open === 0) resolve({ ...measured(times), seconds: (performance.now() - startedAt) / 1000 });
    });
  }
  for (let opened = 0; opened < connections; opened += 1) start();
  return promise;
}

function measured(times: number[]) {
  const sorted = Float64Array.from(times).toSorted();
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { count: times.length, p50: quantile(0.5), p99: quantile(0.99) };
}

if (process.send) {
  process.on('disconnect', () => process.exit());
  process.on('message', (job: Job) => void run(job).then((result) => process.send?.(result)));
}
