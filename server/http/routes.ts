/** The contract's paths and what may be done with each: for OPTIONS and 405. */
import type { AppRouter } from '@ts-rest/core';
import { operationsOf } from '../../contract/operations.ts';

/** Path → the value of its `Allow` header. */
export function allowedMethods(router: AppRouter): Map<string, string> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of operationsOf(router)) {
    const all = method === 'GET' ? ['GET', 'HEAD'] : [method];
    methods.set(path, [...(methods.get(path) ?? []), ...all]);
  }
  return new Map([...methods].map(([path, all]) => [path, [...all, 'OPTIONS'].join(', ')]));
}

/** A contract's path as what matches it: a parameter is anything but a slash, and one slash may follow. */
export function pathForm(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}/?$`);
}
