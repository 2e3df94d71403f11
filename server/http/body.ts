/** The body of a write: its media type, its size, its JSON; each refused with its own problem before it is looked at. */
import express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Problem } from '../problems/problem.ts';

export const maximumBytes = 256 * 1024;
const maximumDepth = 20;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const readBytes = express.raw({ type: () => true, limit: maximumBytes, inflate: false });
const mediaTypes: Record<string, string[]> = {
  POST: ['application/json'],
  PATCH: ['application/json', 'application/merge-patch+json'],
};

/** Checks what is announced, reads the bytes, parses them: afterwards `req.body` is the JSON of a POST or PATCH. */
export const readBody: RequestHandler[] = [requireJson, readBytes, parseJson].map((step): RequestHandler => {
  // Each a step of the router's own, which catches what a step throws; a callback's throw would end the process.
  return (request, response, next) => (request.method in mediaTypes ? step(request, response, next) : next());
});

function requireJson(request: Request, _: Response, next: NextFunction): void {
  if (!hasBody(request)) throw malformed('The body is missing; send a JSON object');
  requireMediaType(request, mediaTypes[request.method] ?? []);
  next();
}

const malformed = (sentence: string) => new Problem('malformed_json', `${sentence}.`);

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireMediaType({ headers }: Request, accepted: string[]): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (!accepted.includes(type) || (charset !== undefined && !['utf-8', 'utf8'].includes(charset))) {
    throw new Problem(
      'unsupported_media_type',
      `Send the body as ${accepted.join(' or ')} in UTF-8, and name it in Content-Type.`,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'Send the body as it is, without Content-Encoding.');
  }
}

function parseJson(request: Request, _: Response, next: NextFunction): void {
  const bytes: unknown = request.body;
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) throw malformed('The body is empty; send a JSON object');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8');
  }
  if (nestsTooDeep(text)) throw malformed(`The body nests deeper than ${maximumDepth} levels`);
  try {
    request.body = JSON.parse(text);
  } catch {
    throw malformed('The body is not valid JSON');
  }
  next();
}

/** Counted on the text, so that nothing deep is ever built. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index];
    if (inString) {
      if (letter === '\\') index += 1;
      else if (letter === '"') inString = false;
    } else if (letter === '"') inString = true;
    else if (letter === '{' || letter === '[') {
      depth += 1;
      if (depth > maximumDepth) return true;
    } else if (letter === '}' || letter === ']') depth -= 1;
  }
  return false;
}
