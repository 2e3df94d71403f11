/** The OpenAPI documents: public, cached by anyone, and readable by importers that run in a browser. */
import { hash } from 'node:crypto';
import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { openApi30Document, openApiDocument } from '../../../contract/openapi/openapi.ts';
import { swagger20Document } from './swagger.ts';
import { toYaml } from './yaml.ts';

/** They change only with a release. */
const maximumAgeSeconds = 300;

export function openApiRoutes(baseUrl: () => string): Router {
  const router = Router();
  router.get(
    '/openapi.json',
    publish('application/json', () => JSON.stringify(openApiDocument(baseUrl()))),
  );
  router.get(
    '/openapi-3.0.json',
    publish('application/json', () => JSON.stringify(openApi30Document(baseUrl()))),
  );
  router.get(
    '/swagger-2.0.json',
    publish('application/json', () => JSON.stringify(swagger20Document(baseUrl()))),
  );
  router.get(
    '/openapi.yaml',
    publish('application/yaml', () => toYaml(openApiDocument(baseUrl()))),
  );
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
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known?.includes(etag)) response.status(304).end();
    else response.type(type).send(text);
  };
}
