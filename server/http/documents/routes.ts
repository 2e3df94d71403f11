/** The OpenAPI documents: public, cacheable by anyone, and readable by importers that run in a browser. */
import { hash } from 'node:crypto';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { once } from '../../../contract/once.ts';
import { openApi30Document, openApiDocument } from '../../../contract/openapi/openapi.ts';
import { isNotModified } from '../../api/conditional.ts';
import { swagger20Document } from './swagger.ts';
import { toYaml } from './yaml.ts';

/** They change only with a release. */
const maximumAgeSeconds = 300;

const json = (document: object) => JSON.stringify(document);
type PublishedDocument = [type: string, write: (baseUrl: string) => string];

const documents: Readonly<Record<string, PublishedDocument>> = {
  '/openapi.json': ['application/json', (url) => json(openApiDocument(url))],
  '/openapi-3.0.json': ['application/json', (url) => json(openApi30Document(url))],
  '/swagger-2.0.json': ['application/json', (url) => json(swagger20Document(url))],
  '/openapi.yaml': ['application/yaml', (url) => toYaml(openApiDocument(url))],
};

export function openApiRoutes(baseUrl: string): Router {
  const router = Router();
  for (const [path, document] of Object.entries(documents)) router.get(path, publish(document, baseUrl));
  return router;
}

/** The document is serialized once, by its first request. */
function publish([type, write]: PublishedDocument, baseUrl: string): RequestHandler {
  const published = once(() => {
    const text = write(baseUrl);
    return { text, etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"` };
  });
  return (request, response) => {
    const { text, etag } = published();
    response.set({
      ETag: etag,
      'Cache-Control': `public, max-age=${maximumAgeSeconds}`,
      'Access-Control-Allow-Origin': '*',
    });
    if (isNotModified(request.headers['if-none-match'], etag)) response.status(304).end();
    else response.type(type).send(text);
  };
}
