/** Notes on a schema besides its description, for the published documents or for the client. */
import { z } from 'zod';

/**
 * How a parameter is written in HTTP: sentences appended to its description in the published documents. The description
 * itself says only what the parameter means, so it also fits client methods and agent tools.
 */
export const inHttp = z.registry<{ inHttp: string }>();

/** The name of the client's type for a set of values, such as `ProposalStatus`. */
export const typeNames = z.registry<{ typeName: string }>();
