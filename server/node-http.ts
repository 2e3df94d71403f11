/**
 * From Node's HTTP module. An import would read each of its exports, and one of them loads all of Node's fetch, which
 * takes 30 ms of each start.
 */
export const { Agent, createServer, IncomingMessage, request, ServerResponse } = process.getBuiltinModule('node:http');
