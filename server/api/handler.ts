/** A handler: a plain function of a request and its caller, independent of Express. */
import type { AppRoute, ServerInferRequest, ServerInferResponseBody } from '@ts-rest/core';
import type { Caller } from '../keys/caller.ts';
import type { Reply } from './reply.ts';

type SuccessStatus = 200 | 201 | 204;

/** A success status of the operation, with the body that the contract's schema describes. */
type ReplyOf<Route extends AppRoute> = {
  [Status in keyof Route['responses'] & SuccessStatus]: Reply<
    Status,
    ServerInferResponseBody<Route, Status>,
    string | readonly string[]
  >;
}[keyof Route['responses'] & SuccessStatus];

type Handler<Route extends AppRoute> = (request: ServerInferRequest<Route>, caller: Caller) => Promise<ReplyOf<Route>>;

/** One handler for each operation of a resource; the compiler rejects a missing or an extra one. */
export type Handlers<Resource> = {
  [Name in keyof Resource]: Resource[Name] extends AppRoute ? Handler<Resource[Name]> : never;
};
