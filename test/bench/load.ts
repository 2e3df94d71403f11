/** The same request many times over, on 16 connections that stay open. */
import { Agent, request } from 'node:http';

export type Shot = { method: string; path: string; headers?: Record<string, string>; body?: string; status: number };

const connections = 16;
const timeoutMs = 5_000;

export function openLoad() {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  /** Sends `count` shots and waits for their answers; any other status than the expected one is an error. */
  async function fire(baseUrl: string, shotAt: (index: number) => Shot, count: number): Promise<void> {
    let next = 0;
    const shoot = async () => {
      while (next < count) await send(baseUrl, shotAt(next++));
    };
    await Promise.all(Array.from({ length: connections }, shoot));
  }

  function send(baseUrl: string, { method, path, headers = {}, body, status }: Shot): Promise<void> {
    return new Promise((resolve, reject) => {
      const outgoing = request(baseUrl + path, { agent, method, headers, timeout: timeoutMs }, (response) => {
        response.resume();
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === status) resolve();
          else reject(new Error(`${method} ${path} was answered ${response.statusCode}, not ${status}.`));
        });
      });
      outgoing.on('error', reject);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path} was not answered in time.`)));
      outgoing.end(body);
    });
  }

  return { fire, close: () => agent.destroy() };
}
