/** The OpenAPI documents: public, cacheable by anyone, and readable by importers that run in a browser. */
import { hash } from 'node:crypto';
import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { openApi30Document, openApiDocument } from '../../../contract/openapi/openapi.ts';
import { isNotModified } from '../../api/conditional.ts';
import { swagger20Document } from './swagger.ts';
import { toYaml } from './yaml.ts';

/** They change only with a release. */
const maximumAgeSeconds = 300;

const json = (document: object) => JSON.stringify(document);
const documents: Readonly<Record<string, [type: string, write: (baseUrl: string) => string]>> = {
  '/openapi.json': ['application/json', (url) => json(openApiDocument(url))],
  '/openapi-3.0.json': ['application/json', (url) => json(openApi30Document(url))],
  '/swagger-2.0.json': ['application/json', (url) => json(swagger20Document(url))],
  '/openapi.yaml': ['application/yaml', (url) => toYaml(openApiDocument(url))],
};

export function openApiRoutes(baseUrl: () => string): Router {
  const router = Router();
  for (const [path, [type, write]] of Object.entries(documents)) {
    const publishDocument = publish(type, () => write(baseUrl()));
    router.get(path, publishDocument);
  }
  return router;
}

/** The document is serialized once: the service's URL is known before the first request, and does not change. */
function publish(type: string, write: () => string): RequestHandler {
  let published: { text: string; etag: string } | undefined;
  return (request: Request, response: Response) => {
    if (!published) {
      const text = write();
      published = { text, etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"` };
    }
    const { text, etag } = published;
    response.set({
      ETag: etag,
      'Cache-Control': `public, max-age=${maximumAgeSeconds}`,
      'Access-Control-Allow-Origin': '*',
    });
    if (isNotModified(request.headers['if-none-match'], etag)) response.status(304).end();
    else response.type(type).send(text);
  };
}
