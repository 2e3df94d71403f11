/** Walks a contract: its operations in source order, with their names and tags. */
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute, AppRouter } from '@ts-rest/core';
import { z } from 'zod';

export function operationsOf(router: AppRouter): AppRoute[] {
  return Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : operationsOf(entry)));
}

const metadata = z.object({
  operationId: z.string(),
  tag: z.object({ name: z.string(), description: z.string() }),
  /** Details of HTTP, which follow the description in the published documents. */
  inHttp: z.string().optional(),
});

/** The name of an operation, and the group that documents list it under; throws if the route lacks them. */
export const metadataOf = (route: AppRoute): z.output<typeof metadata> => metadata.parse(route.metadata);

/** The schema of an operation's body; undefined if it takes none, like most operations other than POST and PATCH. */
export const bodyOf = (route: AppRoute): z.ZodType | undefined =>
  'body' in route && route.body instanceof z.ZodType ? route.body : undefined;

/** The groups of a contract, each once. */
export function tagsOf(router: AppRouter): { name: string; description: string }[] {
  const tags = operationsOf(router).map((route) => metadataOf(route).tag);
  return [...new Map(tags.map((tag) => [tag.name, tag])).values()];
}
