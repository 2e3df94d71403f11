/** Requests whose bodies may take longer than usual to arrive: uploads by signed-in members. */
import type { IncomingMessage } from 'node:http';

export const slowRequests = new WeakSet<IncomingMessage>();
