/** A process that sends an organization's worst valid requests to one endpoint, as fast as they are answered. */
import { Agent, request } from 'node:http';
import { once } from 'node:events';

export type Sent = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string };
export type Flood = {
  url: string;
  /** Sent in turn. */
  requests: Sent[];
  atOnce: number;
  /** The total number of requests. */
  most: number;
};
/** How many responses had each status. `retryAfter` counts those with that header. */
export type Flooded = { statuses: Record<string, number>; bytes: number; retryAfter: number };

async function flood({ url, requests, atOnce, most }: Flood): Promise<Flooded> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const flooded: Flooded = { statuses: {}, bytes: 0, retryAfter: 0 };
  let sent = 0;
  const sender = async () => {
    while (sent < most) {
      const next = requests[(sent += 1) % requests.length];
      if (next) await send(new URL(next.path, url), next, { agent, flooded });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  agent.destroy();
  return flooded;
}

function send(url: URL, { method, headers, body }: Sent, { agent, flooded }: { agent: Agent; flooded: Flooded }) {
  return new Promise<void>((resolve) => {
    const end = (status: string) => {
      flooded.statuses[status] = (flooded.statuses[status] ?? 0) + 1;
      resolve();
    };
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    request(url, { method, headers: { ...headers, ...length }, agent }, (response) => {
      if (response.headers['retry-after'] !== undefined) flooded.retryAfter += 1;
      response.on('data', (chunk: Buffer) => (flooded.bytes += chunk.length));
      response.once('end', () => end(String(response.statusCode)));
      response.once('error', () => end('cut off'));
    })
      .once('error', () => end('no response'))
      .end(body);
  });
}

const [given]: Flood[] = await once(process, 'message');
if (given) process.send?.(await flood(given), () => process.disconnect());
