/** What a schema says beside its own description, for the published documents or for the client. */
import { z } from 'zod';

/**
 * How HTTP writes a parameter: sentences that follow its description in the published documents. The description itself says
 * what the parameter means, so that it also fits a method of the client and a tool of an agent.
 */
export const inHttp = z.registry<{ inHttp: string }>();

/** The name of a set of values as a type of the client, such as `ProposalStatus`. */
export const typeNames = z.registry<{ typeName: string }>();
