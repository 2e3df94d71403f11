/** Who is calling: the connection test of no-code tools. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import * as fields from './fields.ts';
import { rateLimit } from './limits.ts';
import { noParameters } from './list.ts';

export const plans = ['free', 'team'] as const;
export type Plan = (typeof plans)[number];

export const me = z
  .object({
    label: z
      .string()
      .meta({ description: 'One line that names this connection.', examples: ['Northwind Traders (Zapier)'] }),
    plan: z.enum(plans).meta({ description: 'The organization’s plan.', examples: ['team'] }),
    organization: z
      .object({
        id: fields.id('organization'),
        name: z.string().meta({ description: 'Name.', examples: ['Northwind Traders'] }),
        slug: z.string().meta({ description: 'Short name in addresses.', examples: ['northwind'] }),
        currency: fields.currency,
        createdAt: fields.timestamp('When the organization was created.'),
      })
      .meta({ description: 'The organization whose data this key reads and writes.' }),
    key: z
      .object({
        id: fields.id('key'),
        name: z.string().meta({ description: 'Name given to the key.', examples: ['Zapier'] }),
        maskedKey: z
          .string()
          .meta({ description: 'First and last characters of the key.', examples: ['ak_live_1a2b…9f0e'] }),
        createdAt: fields.timestamp('When the key was created.'),
        lastUsedAt: fields.timestamp('When it was last used, to the minute.').nullable(),
      })
      .meta({ description: 'The key of this request; its secret is never shown again.' }),
    rateLimit: z
      .object({
        limit: z.int().meta({ description: 'Requests that the window admits.', examples: [rateLimit.limit] }),
        remaining: z.int().meta({ description: 'Requests still free in the window.', examples: [99] }),
        windowSeconds: z
          .int()
          .meta({ description: 'Length of the sliding window in seconds.', examples: [rateLimit.windowSeconds] }),
        resetSeconds: z
          .int()
          .meta({ description: 'Seconds until the oldest counted request leaves the window.', examples: [60] }),
      })
      .meta({ description: 'The rate limit of this key.' }),
  })
  .meta({ id: 'Me', description: 'The organization and the key that are calling.' });

export const meOperations = initContract().router({
  get: {
    method: 'GET',
    path: '/me',
    summary: 'Get the calling organization and key',
    description:
      'Tests a connection: which organization a key belongs to, its plan, and how much of the rate limit is left.',
    pathParams: z.object({}),
    query: noParameters,
    responses: { 200: me },
    metadata: { operationId: 'getMe', tag: 'Account' },
  },
});
