import type { Response } from 'express';
import { resourceMetadataUrl } from '../connect/metadata.ts';
import type { Problem } from '../problems/problem.ts';

export function sendProblem(response: Response, problem: Problem, publicUrl: string): void {
  const { requestId } = response.locals;
  const challenge = problem.headers['WWW-Authenticate'];
  response
    .status(problem.status)
    .set(problem.headers)
    .set(challenge === undefined ? {} : { 'WWW-Authenticate': discoverable(challenge, response, publicUrl) })
    .type('application/problem+json')
    .send(JSON.stringify(problem.body(requestId, publicUrl)));
}

/** Adds to the challenge where an application learns how to get a key through OAuth (RFC 9728). */
function discoverable(challenge: string, { req }: Response, publicUrl: string): string {
  const resource = req.originalUrl.startsWith('/mcp') ? '/mcp' : '/v1';
  return `${challenge}, resource_metadata="${resourceMetadataUrl(publicUrl, resource)}"`;
}
