/** Version 1 of the API: all of its operations. */
import { initContract } from '@ts-rest/core';
import { customers } from './customers.ts';
import { items } from './items.ts';
import { meOperations } from './me.ts';
import { proposals } from './proposals.ts';
import { commonProblems } from './responses.ts';

export const v1 = initContract().router(
  { me: meOperations, customers, proposals, items },
  { pathPrefix: '/v1', strictStatusCodes: true, commonResponses: commonProblems },
);
export type V1 = typeof v1;

/** The resources that have records: `customers`. */
export type ResourceName = { [Name in keyof V1]: V1[Name] extends { list: object } ? Name : never }[keyof V1];
// Object.entries() loses the types of the names.
export const resourceNames = Object.entries(v1).flatMap(([name, routes]) =>
  'list' in routes ? (name as ResourceName) : [],
);
/** What one of their records is called: `customer`. */
export type RecordName = ResourceName extends infer Name ? (Name extends `${infer One}s` ? One : never) : never;
/** `customers` → `customer` */
export const recordOf = (resource: ResourceName) => resource.slice(0, -1) as RecordName;
