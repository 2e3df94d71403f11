/** A handler: a plain function of a request and its caller, which sees no Express. */
import type { AppRoute, ServerInferRequest, ServerInferResponseBody } from '@ts-rest/core';
import type { Caller } from '../keys/caller.ts';

export type SuccessStatus = 200 | 201;

/** What a handler returns: a success that its operation promises, with a body that the contract's schema describes. */
export type Answer<Route extends AppRoute> = {
  [Status in keyof Route['responses'] & SuccessStatus]: {
    status: Status;
    body: ServerInferResponseBody<Route, Status>;
    /** Path of the record that was made, for `Location`. */
    location?: string;
    /** An answer given before, for the same Idempotency-Key. */
    replayed?: boolean;
  };
}[keyof Route['responses'] & SuccessStatus];

export type Asked<Route extends AppRoute> = ServerInferRequest<Route> & {
  /** Address of the service as callers see it, without a slash at its end. */
  baseUrl: string;
};

export type Handler<Route extends AppRoute> = (asked: Asked<Route>, caller: Caller) => Promise<Answer<Route>>;

/** One handler for each operation of a resource; the compiler refuses a missing or a further one. */
export type Handlers<Resource> = {
  [Name in keyof Resource]: Resource[Name] extends AppRoute ? Handler<Resource[Name]> : never;
};
