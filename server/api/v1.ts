/** Version 1: a handler for every operation of the contract. */
import type { V1 } from '../../contract/v1.ts';
import { customers } from './customers.ts';
import type { Handlers } from './handler.ts';
import { items } from './items.ts';
import { me } from './me.ts';
import { proposals } from './proposals.ts';

export const v1Handlers: { [Resource in keyof V1]: Handlers<V1[Resource]> } = { me, customers, proposals, items };
