/** Events → the `webhooks` of an OpenAPI 3.1 document. */
import type { z } from 'zod';
import { eventHeaders, events } from '../events.ts';
import { exampleOf } from './examples.ts';
import { mapValues } from './document.ts';
import type { Document, Parameter, Schema } from './document.ts';

export const webhookTag = {
  name: 'Webhooks',
  description: 'Requests that this service sends to the endpoints of an organization when a record changes.',
};

const parameters: Parameter[] = Object.entries(eventHeaders).map(([name, { description, example }]) => ({
  name,
  in: 'header',
  description,
  required: true,
  schema: { type: 'string', maxLength: 1000 },
  example,
}));

type Publish = (schema: z.ZodType, direction: 'output') => Schema;

export function emitWebhooks(publish: Publish, named: Record<string, Schema>): NonNullable<Document['webhooks']> {
  return mapValues(events, ({ operationId, schema, summary, description }) => {
    const body = publish(schema, 'output');
    return {
      post: {
        operationId,
        tags: [webhookTag.name],
        summary,
        description,
        security: [],
        parameters,
        requestBody: {
          description: summary,
          required: true,
          content: { 'application/json': { schema: body, example: exampleOf(body, named) } },
        },
        responses: {
          200: {
            description:
              'Any 2xx status within 15 seconds means that the event was received. 410 switches the endpoint off; after any other response, the event is sent again.',
            headers: {},
          },
        },
      },
    };
  });
}
