/** Checks that the service and the yardstick do the same work: the same body, byte for byte. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { mark } from './load.ts';
import { requestsOf } from './operations.ts';
import type { Operation } from './operations.ts';
import type { Server } from './processes.ts';
import type { Filled } from './records.ts';

let sent = 0;

async function bodyFrom({ port }: Server, operation: Operation, organizations: readonly Filled[]): Promise<string> {
  const [request = ''] = requestsOf(operation, organizations.slice(0, 1), { port, dialect: 'service' });
  sent += 1;
  const socket = connect(port, '127.0.0.1');
  socket.write(
    request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n').replaceAll(mark, String(90_000_000 + sent)),
  );
  const whole = await text(socket);
  return whole.slice(whole.indexOf('\r\n\r\n') + 4);
}

/** Removes what differs between any two requests: a cursor's signature, the port, and the ids, times and texts of writes. */
const masked = (body: string, isRead: boolean) => {
  const alike = body.replaceAll(/("nextCursor":"|cursor=)[\w-]+/g, '$1').replaceAll(/http:\/\/[^/]+/g, '');
  return isRead ? alike : alike.replaceAll(/(cus|itm)_\w{26}|\d{4}-\d\d-\d\dT[\d:.]+Z|"\d+-\w+\\"|\d{8}/g, '');
};

/** Where the bodies differ; undefined if they are the same. */
export async function differentBytes(
  operation: Operation,
  organizations: readonly Filled[],
  servers: readonly Server[],
): Promise<string | undefined> {
  const isRead = /^(list|get) /.test(operation.name);
  const bodies = await Promise.all(servers.map((server) => bodyFrom(server, operation, organizations)));
  const [ours = '', theirs = ''] = bodies.map((body) => masked(body, isRead));
  if (ours === theirs) return undefined;
  const at = [...ours].findIndex((letter, index) => letter !== theirs[index]);
  const near = (body: string) => body.slice(Math.max(0, at - 60), at + 60);
  return `the bodies differ.\nservice:   ${near(ours)}\nyardstick: ${near(theirs)}`;
}
