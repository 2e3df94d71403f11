/**
 * The contract as a package: the operations, and the schemas of records and of what makes and changes them. They check
 * what is about to be sent, and what was stored of an answer; the client needs none of it.
 *
 * @example
 * const checked = customerCreate.safeParse({ email: 'nobody' });
 * if (!checked.success) console.log(checked.error.issues);
 */
export { v1 } from './v1.ts';
export type { V1 } from './v1.ts';
export { customer, customerCreate, customerUpdate } from './customers.ts';
export type { Customer, CustomerCreate, CustomerUpdate } from './customers.ts';
export { address } from './fields.ts';
export type { Address } from './fields.ts';
export { item, itemCreate } from './items.ts';
export type { Item, ItemCreate } from './items.ts';
export { me } from './me.ts';
export type { Me, Plan } from './me.ts';
export { fieldCodes, problem, problemCodes, problemError } from './problem.ts';
export type { FieldCode, Problem, ProblemCode, ProblemError } from './problem.ts';
export { lineItem, listedProposal, proposal, proposalStatuses } from './proposals.ts';
export type { LineItem, ListedProposal, Proposal, ProposalStatus } from './proposals.ts';
