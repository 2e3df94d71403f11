/** A contract → its OpenAPI 3.1 document, through ts-rest's own emitter. */
import type { AppRoute, AppRouter } from '@ts-rest/core';
import { generateOpenApi } from '@ts-rest/open-api';
import { z } from 'zod';
import { exampleUrl } from '../examples.ts';
import { tagsOf } from '../operations.ts';
import { pickReferenced, pickReferencedSchemas } from './document.ts';
import type { Document } from './document.ts';
import { responseHeaders } from './headers.ts';
import { info, securitySchemes } from './info.ts';
import { describeOperation } from './operations.ts';
import type { Draft } from './operations.ts';
import { problemExamples } from './problems.ts';
import { createSchemaCollection } from './schemas.ts';
import { emitWebhooks, webhookTag } from './webhooks.ts';

type Options = NonNullable<Parameters<typeof generateOpenApi>[2]>;
type Transform = NonNullable<Options['schemaTransformer']>;
type MapOperation = NonNullable<Options['operationMapper']>;

export function emitOpenApi(contract: AppRouter): Document {
  const { named, publish } = createSchemaCollection();
  // ts-rest's types describe OpenAPI 3.0, with one type per schema; input and output here are 3.1.
  const schemaTransformer: Transform = ({ schema, type }) =>
    schema instanceof z.ZodType
      ? (publish(schema, type === 'response' ? 'output' : 'input') as ReturnType<Transform>)
      : null;
  // As above.
  const operationMapper = ((draft: Draft, route: AppRoute) =>
    describeOperation(draft, route, named)) as unknown as MapOperation;
  const { paths } = generateOpenApi(contract, { info }, { schemaTransformer, operationMapper });
  const webhooks = emitWebhooks(publish, named);
  return {
    openapi: '3.1.1',
    info,
    externalDocs: { url: `${exampleUrl}/docs`, description: 'Guides and error reference' },
    servers: [{ url: exampleUrl, description: 'This service', 'x-internal': false }],
    tags: [...tagsOf(contract), webhookTag],
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      schemas: pickReferencedSchemas(named, { paths, webhooks }),
      headers: pickReferenced('headers', responseHeaders, paths),
      examples: pickReferenced('examples', problemExamples(), paths),
      securitySchemes,
    },
  };
}
