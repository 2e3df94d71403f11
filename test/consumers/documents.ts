/** The two documents as an outsider reads them: parsed JSON, a fresh copy each time. */
import { openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import { swagger20Document } from '../../server/http/documents/swagger.ts';

const baseUrl = 'https://api.northwind.example';

export const documents = {
  '3.1': () => structuredClone(openApiDocument(baseUrl)),
  '3.0': () => structuredClone(openApi30Document(baseUrl)),
};
export const swagger20 = () => structuredClone(swagger20Document(baseUrl));
export const versions = ['3.1', '3.0'] as const;
