/** The generated types and the contract's inferred types accept and promise the same; the compiler compares them. */
import type { AppRoute, ClientInferRequest, ClientInferResponseBody } from '@ts-rest/core';
import { expect, expectTypeOf, test } from 'vitest';
import { operations } from '../../client/generated.ts';
import type { Operation } from '../../client/call.ts';
import type * as api from '../../client/index.ts';
import { bodyOf, operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Open } from './open.ts';

type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? { [Name in keyof T]: Loose<T[Name]> }
    : T;
/** The methods of the client that are operations of the contract. */
type MethodOf<Resource extends keyof V1, Name> = api.Client[Resource][Name & keyof api.Client[Resource]];

type Body<Route> = Route extends { responses: { 204: unknown } }
  ? null
  : Route extends AppRoute
    ? Open<ClientInferResponseBody<Route, keyof Route['responses'] & (200 | 201)>>
    : never;
type Input<Route> = Route extends AppRoute
  ? ClientInferRequest<Route> extends { body: infer Sent }
    ? Loose<Sent>
    : never
  : never;
type Query<Route> = Route extends AppRoute
  ? ClientInferRequest<Route> extends { query: infer Sent }
    ? Loose<Sent>
    : never
  : never;

/** What the client's method returns, what it takes as a body, and as a query. */
type Returned<M> = M extends (...given: never[]) => PromiseLike<infer Value> ? Value : never;
type Given<M> = M extends (...given: infer Arguments) => unknown ? Loose<Extract<Arguments[number], object>> : never;

type Bodies = { [R in keyof V1]: { [N in keyof V1[R]]: Body<V1[R][N]> } };
type ClientBodies = { [R in keyof V1]: { [N in keyof V1[R]]: Returned<MethodOf<R, N>> } };

/** The operations as the client has them, and as the contract does. */
const called = Object.values<Record<string, Operation>>(operations).flatMap((methods) => Object.values(methods));
const routes = operationsOf(v1);
const titleOf = ({ method, path }: Pick<Operation, 'method' | 'path'>) => `${method} ${path}`;

test('every method returns what the contract promises', () => {
  expectTypeOf<ClientBodies>().toEqualTypeOf<Bodies>();
  expect(called.map(titleOf)).toEqual(routes.map(titleOf));
});

test('the client and the contract accept the same bodies', () => {
  expectTypeOf<Loose<api.CustomerCreate>>().toEqualTypeOf<Input<V1['customers']['create']>>();
  expectTypeOf<Loose<api.CustomerUpdate>>().toEqualTypeOf<Input<V1['customers']['update']>>();
  expectTypeOf<Loose<api.ItemCreate>>().toEqualTypeOf<Input<V1['items']['create']>>();
  type Writes = {
    [R in keyof V1]: {
      [N in keyof V1[R]]: [Input<V1[R][N]>] extends [Given<MethodOf<R, N>>] ? true : [R, N];
    }[keyof V1[R]];
  }[keyof V1];
  expectTypeOf<Writes>().toEqualTypeOf<true>();
  const writes = called.filter(({ body }) => body === true);
  expect(writes.map(titleOf)).toEqual(routes.filter((route) => bodyOf(route)).map(titleOf));
});

test('the client accepts every query that the contract accepts', () => {
  expectTypeOf<keyof api.CustomerListQuery>().toEqualTypeOf<keyof Query<V1['customers']['list']>>();
  expectTypeOf<keyof api.ProposalListQuery>().toEqualTypeOf<keyof Query<V1['proposals']['list']>>();
  expectTypeOf<keyof api.ItemListQuery>().toEqualTypeOf<keyof Query<V1['items']['list']>>();
  expectTypeOf<Query<V1['customers']['list']>>().toExtend<Loose<api.CustomerListQuery>>();
  expectTypeOf<Query<V1['proposals']['list']>>().toExtend<Loose<api.ProposalListQuery>>();
  expectTypeOf<Query<V1['items']['list']>>().toExtend<Loose<api.ItemListQuery>>();
  const isList = ({ query }: AppRoute) => 'cursor' in Object(Reflect.get(Object(query), 'shape'));
  expect(called.filter(({ largestPage }) => largestPage !== undefined).map(titleOf)).toEqual(
    routes.filter(isList).map(titleOf),
  );
});
