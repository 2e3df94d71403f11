/** The contract's paths: the operation of a request, and suggestions for mistyped paths and other methods. */
import { operations } from '../api/operations.ts';

/** The regular expression for a contract path: a parameter is anything but a slash, and a trailing slash is allowed. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}/?$`);
}

const known = operations.map(({ id, route: { method, path } }) => ({ id, method, form: pathPattern(path) }));

/** The operation of a request that was rejected before it was routed. */
export function operationAt(method: string, path: string): string | undefined {
  if (path === '/mcp') return 'mcp';
  const routed = method === 'HEAD' ? 'GET' : method;
  return known.find((one) => one.method === routed && one.form.test(path))?.id;
}

const itemAdvice = 'Items can be listed, read and created in v1, but not changed or deleted.';

/** Advice for methods that v1 does not have. */
const advice: readonly [method: RegExp, path: RegExp, sentence: string][] = [
  [/^(?:POST|PUT|PATCH|DELETE)$/, /^\/v1\/proposals/, 'Proposals are read-only in v1.'],
  [
    /^DELETE$/,
    /^\/v1\/customers/,
    'v1 has no DELETE. To retire a customer, PATCH /v1/customers/{customerId} with {"status":"archived"}.',
  ],
  [/^(?:POST|PUT)$/, /^\/v1\/customers\/./, 'To change a customer, use PATCH: it changes only the fields you send.'],
  [/^(?:PUT|PATCH)$/, /^\/v1\/customers\/?$/, 'To change a customer, PATCH /v1/customers/{customerId}.'],
  [/^POST$/, /^\/v1\/items\/./, itemAdvice],
  [/^(?:PUT|PATCH|DELETE)$/, /^\/v1\/items/, itemAdvice],
];

export const methodAdvice = (method: string, path: string): string | undefined =>
  advice.find(([methods, paths]) => methods.test(method) && paths.test(path))?.[2];

/** What other APIs call the records. */
const synonyms: readonly [name: string, others: RegExp][] = [
  ['customers', /^(?:customer|contacts?|clients?|accounts?|company|companies)$/],
  ['proposals', /^(?:proposal|quotes?|estimates?|offers?|deals?)$/],
  ['items', /^(?:item|products?|services?|catalog)$/],
  ['me', /^(?:user|whoami|self|ping)$/],
];

/** `Did you mean /v1/customers?` for a path that differs from a route in version, case, number or name. */
export function routeHint(path: string, routes: Iterable<string>): string | undefined {
  const [first = '', ...rest] = path.replace(/^(?:\/api)?(?:\/v\d{1,3}(?:\.\d{1,3})?)?\//i, '').split('/', 20);
  const typed = first.toLowerCase();
  const [resource = typed] = synonyms.find(([, others]) => others.test(typed)) ?? [];
  const versioned = ['/v1', resource, ...rest].join('/');
  for (const route of routes)
    if (pathPattern(route).test(versioned)) return `Did you mean ${route.replaceAll(/:(\w+)/g, '{$1}')}?`;
  return undefined;
}
