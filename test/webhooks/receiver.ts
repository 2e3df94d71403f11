/** A webhook receiver that verifies and records what it gets, and responds as a test wants. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { unwrapWebhook } from '../../client/index.ts';
import type { WebhookEvent } from '../../client/index.ts';
import { listen } from '../ports.ts';

export type Received = { id: string; event: WebhookEvent; headers: Record<string, unknown>; body: string };
type Respond = (response: ServerResponse, received: Received, count: number) => void;

export type Receiver = {
  url: string;
  received: Received[];
  /** The endpoint's secrets; set before the first event. */
  secrets: string[];
  /** How it responds from now on; 204 if it is never called. */
  respond(how: Respond): void;
  close(): Promise<void>;
};

async function startReceiver(): Promise<Receiver> {
  let how: Respond = (response) => void response.writeHead(204).end();
  const receiver: Omit<Receiver, 'url' | 'close'> = { received: [], secrets: [], respond: (next) => (how = next) };
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const event = await unwrapWebhook(body, request.headers, receiver.secrets);
    const received = { id: String(request.headers['webhook-id']), event, headers: request.headers, body };
    receiver.received.push(received);
    how(response, received, receiver.received.length);
  };
  const server = createServer((request, response) => void receive(request, response));
  const port = await listen(server);
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/hook`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The same, closed when the test ends. */
export async function useReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}
