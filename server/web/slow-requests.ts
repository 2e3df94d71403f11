/** Requests whose bodies may take longer to arrive than others: uploads of people who are signed in. */
import type { IncomingMessage } from 'node:http';

export const slowRequests = new WeakSet<IncomingMessage>();
