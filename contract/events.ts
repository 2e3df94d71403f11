/** Events: what a webhook endpoint receives when a record changes. */
import { z } from 'zod';
import { customer } from './customers.ts';
import { exampleId } from './examples.ts';
import * as fields from './fields.ts';
import { item } from './items.ts';
import { proposal } from './proposals.ts';
import { responseText } from './text.ts';
import type { RecordName } from './v1.ts';

type Described = { summary: string; description: string };

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
/** `customer.created` → `CustomerCreated` */
const nameOf = (type: string) => type.split('.').map(capitalized).join('');

/** The body of a webhook request. */
function event<const Type extends string, Data extends z.ZodType>(type: Type, data: Data, described: Described) {
  const schema = z
    .object({
      type: z.literal(type).meta({ description: 'What happened.', examples: [type] }),
      timestamp: fields.timestamp('When it happened.'),
      data,
    })
    .meta({ id: `${nameOf(type)}Event`, description: described.summary });
  return { ...described, operationId: `on${nameOf(type)}`, schema };
}

const created = (record: string) => ({
  summary: `A ${record} was created.`,
  description: `Sent when a ${record} is first stored, by the API or by an import. \`data\` is what \`GET\` returned for it when the event was first sent.`,
});
const updated = (record: string) => ({
  summary: `A ${record} was updated.`,
  description: `Sent when a ${record} changes. Several changes in quick succession may be sent as one event: \`data\` is what \`GET\` returned for it when the event was first sent.`,
});
const turned = (what: string) => ({
  summary: `A proposal ${what} for the first time.`,
  description: `Sent once, when a proposal ${what} for the first time; \`timestamp\` is that time. \`data\` is what \`GET\` returned for it when the event was first sent, so its \`status\` may be a later one.`,
});

const test = z
  .object({
    endpointId: fields.id('endpoint', 'The endpoint that was tested.'),
    message: responseText(200, 'A human-readable message.', 'This is a test. If you can read it, the endpoint works.'),
  })
  .meta({ id: 'EndpointTest', description: 'What a test sends instead of a record.' });

const importSummary = z
  .object({
    resource: z.enum(['customers', 'items', 'proposals']).meta({
      description: 'What was imported.',
      examples: ['customers'],
    }),
    status: z.enum(['completed', 'interrupted']).meta({
      description:
        '`completed`, or `interrupted` if the import was stopped early: the records that it had stored by then are kept.',
      examples: ['completed'],
    }),
    created: fields.wholeNumber({ min: 0 }, 'How many records were created.', 250),
    updated: fields.wholeNumber({ min: 0 }, 'How many records were updated.', 250),
    unchanged: fields.wholeNumber({ min: 0 }, 'How many rows were identical to the stored record.', 250),
    rejected: fields.wholeNumber({ min: 0 }, 'How many rows were invalid and skipped.', 250),
    startedAt: fields.timestamp('When the import started: pass it to a list as `updatedSince` to read what it stored.'),
    endedAt: fields.timestamp('When the import ended.'),
  })
  .meta({ id: 'ImportSummary', description: 'What an import did.' });

/** Every event, by its type. */
export const events = {
  'customer.created': event('customer.created', customer, created('customer')),
  'customer.updated': event('customer.updated', customer, updated('customer')),
  'item.created': event('item.created', item, created('catalog item')),
  'item.updated': event('item.updated', item, updated('catalog item')),
  'proposal.created': event('proposal.created', proposal, created('proposal')),
  'proposal.updated': event('proposal.updated', proposal, updated('proposal')),
  'proposal.sent': event('proposal.sent', proposal, turned('was sent')),
  'proposal.viewed': event('proposal.viewed', proposal, turned('was viewed by its customer')),
  'proposal.accepted': event('proposal.accepted', proposal, turned('was accepted')),
  'proposal.declined': event('proposal.declined', proposal, turned('was declined')),
  'proposal.expired': event('proposal.expired', proposal, turned('expired')),
  'proposal.canceled': event('proposal.canceled', proposal, turned('was canceled')),
  'import.completed': event('import.completed', importSummary, {
    summary: 'An import ended.',
    description:
      'Sent when an import ends. An endpoint that receives it gets no `created` or `updated` events for imported records, but still gets the other proposal events.',
  }),
  'endpoint.test': event('endpoint.test', test, {
    summary: 'A test of the endpoint.',
    description: 'Sent when an admin chooses “Send a test”, no matter which events the endpoint subscribes to.',
  }),
} as const satisfies Record<`${RecordName}.${'created' | 'updated'}`, object> & Record<string, object>;

/** The headers of a webhook request, as Standard Webhooks defines them. */
export const eventHeaders = {
  'webhook-id': {
    description: 'The id of the event, the same in every attempt: ignore an id that you have already processed.',
    example: exampleId('evt'),
  },
  'webhook-timestamp': {
    description:
      'When this attempt was made, as a Unix time in seconds. Reject a request that is older than 5 minutes.',
    example: '1772357400',
  },
  'webhook-signature': {
    description:
      'One or more signatures, separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. Its key is what follows `whsec_` in the secret of the endpoint, base64-decoded.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
} as const;
export type EventType = keyof typeof events;
export type WebhookEvent = { [Type in EventType]: z.output<(typeof events)[Type]['schema']> }[EventType];

/** The events that an endpoint can subscribe to. */
export type RecordEventType = Exclude<EventType, 'endpoint.test'>;
export const isRecordEventType = (type: string): type is RecordEventType =>
  Object.hasOwn(events, type) && type !== 'endpoint.test';
export const recordEventTypes: readonly RecordEventType[] = Object.keys(events).filter(isRecordEventType);
