/** OPTIONS and 405 responses for every path of a router, so all paths report their methods alike. */
import type { IRouter } from 'express';
import { Problem } from './problem.ts';

/**
 * Call it after all routes are registered. Returns the paths, each with the value of its `Allow` header. `advise` may say
 * which method to use instead.
 */
export function rejectOtherMethods(
  router: Pick<IRouter, 'stack' | 'all'>,
  advise?: (method: string, path: string) => string | undefined,
): Map<string, string> {
  const allowed = new Map<string, string>();
  const routes = router.stack.flatMap(({ route }) => route ?? []);
  for (const [route, same] of Map.groupBy(routes, ({ path }) => path)) {
    const own = same.flatMap(({ stack }) => stack.flatMap(({ method }) => method?.toUpperCase() ?? []));
    const methods = [...new Set(own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)))];
    const allow = [...methods, 'OPTIONS'].join(', ');
    allowed.set(route, allow);
    router.all(route, ({ method, path }, response, next) => {
      if (methods.includes(method)) return next();
      if (method !== 'OPTIONS')
        throw new Problem('method_not_allowed', { method, allow, advice: advise?.(method, path) });
      response.set('Allow', allow).status(204).end();
    });
  }
  return allowed;
}
