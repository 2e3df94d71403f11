/** The contract as mounted: its schemas run only if there is something to check. */
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute, AppRouter } from '@ts-rest/core';
import { z } from 'zod';

export function leanContract<Contract extends AppRouter>(contract: Contract): Contract {
  const routes = Object.entries(contract).map(([name, entry]) => [
    name,
    isAppRoute(entry) ? leanRoute(entry) : leanContract(entry),
  ]);
  // The same names with the same routes.
  return Object.fromEntries(routes) as Contract;
}

function leanRoute(route: AppRoute): AppRoute {
  const { pathParams, query, headers } = route;
  return {
    ...route,
    pathParams: hasNames(pathParams) ? pathParams : undefined,
    query: lean(query, (names, value) => names === undefined || Object.keys(value).length === 0),
    headers: lean(headers, (names, value) => !names?.some((name) => Object.hasOwn(value, name))),
  } as AppRoute;
}

const hasNames = (schema: unknown) => schema instanceof z.ZodObject && Object.keys(schema.shape).length > 0;

type IsEmpty = (names: string[] | undefined, value: object) => boolean;

/** A schema with a cached result for empty input. */
function lean(schema: unknown, isEmpty: IsEmpty): unknown {
  if (!(schema instanceof z.ZodObject)) return schema;
  const names = Object.keys(schema.shape);
  const standard = schema['~standard'];
  const empty = standard.validate({});
  const validate = (value: unknown) => {
    const isNothing = typeof value === 'object' && value !== null && isEmpty(names, value);
    return isNothing ? empty : standard.validate(value);
  };
  // Code that inspects the shape still sees the original schema.
  return Object.create(schema, { '~standard': { value: { ...standard, validate } } });
}
