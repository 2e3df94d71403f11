/** The calling organization and key: the connection test of no-code tools. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import * as fields from './fields.ts';
import { rateLimit } from './limits.ts';
import { noParameters } from './list.ts';
import { oneOf, responseText } from './text.ts';

const plans = ['free', 'team'] as const;
export type Plan = (typeof plans)[number];

const me = z
  .object({
    label: responseText(300, 'A label for this connection, on one line.', 'Northwind Traders (Zapier)'),
    plan: oneOf(plans, { description: 'The organization’s plan.', example: 'team', typeName: 'Plan' }),
    organization: z
      .object({
        id: fields.id('organization'),
        name: responseText(200, 'Name of the organization.', 'Northwind Traders'),
        slug: responseText(100, 'Short name for URLs.', 'northwind'),
        currency: fields.currency,
        createdAt: fields.timestamp('When the organization was created.', '2025-11-03T08:12:45.000Z'),
      })
      .meta({ description: 'The organization whose data this key reads and writes.' }),
    key: z
      .object({
        id: fields.id('key'),
        name: responseText(80, 'Name of the key.', 'Zapier'),
        maskedKey: responseText(30, 'First and last characters of the key.', 'ak_live_1a2b…9f0e'),
        createdAt: fields.timestamp('When the key was created.', '2026-02-10T15:20:05.250Z'),
        lastUsedAt: fields
          .timestamp('When the key was last used, to within a minute; `null` if never.', '2026-03-03T14:05:00.000Z')
          .nullable(),
        expiresAt: fields
          .timestamp('When the key stops working; `null` if it works until it is revoked.', '2026-05-11T15:20:05.250Z')
          .nullable(),
      })
      .meta({ description: 'The key of this request; its secret is never shown again.' }),
    rateLimit: z
      .object({
        limit: fields.wholeNumber({ min: 0 }, 'Requests allowed per window.', rateLimit.limit),
        remaining: fields.wholeNumber({ min: 0 }, 'Requests left in the current window.', 99),
        windowSeconds: fields.wholeNumber(
          { min: 0 },
          'Length of the sliding window, in seconds.',
          rateLimit.windowSeconds,
        ),
        resetSeconds: fields.wholeNumber({ min: 0 }, 'Seconds until the oldest counted request leaves the window.', 60),
      })
      .meta({ description: 'The rate limit of this key.' }),
  })
  .meta({ id: 'Me', description: 'The calling organization and key.' });

const tag = { name: 'Account', description: 'The calling organization and key.' };

export const meOperations = initContract().router({
  get: {
    method: 'GET',
    path: '/me',
    summary: 'Get the calling organization and key',
    description:
      'Returns the organization that the key belongs to, its plan, and how much of the rate limit is left. Use it to test a connection.',
    pathParams: z.object({}),
    query: noParameters,
    responses: { 200: me },
    metadata: { operationId: 'getMe', tag },
  },
});
