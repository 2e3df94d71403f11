/** Walks a contract: every operation in it, in the order in which it is written. */
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute, AppRouter } from '@ts-rest/core';

export function operationsOf(router: AppRouter): AppRoute[] {
  return Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : operationsOf(entry)));
}
