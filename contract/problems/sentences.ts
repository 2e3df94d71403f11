/** Sentences built from the errors of a request. */
import { maximumErrors } from '../limits.ts';
import type { ProblemError } from '../problem.ts';

/** How many errors `detail` names; the rest are in `errors`. */
const most = 3;

/** `limit must be a whole number from 1 to 100.` for each of the first errors, and how many more there are. */
export function describeErrors({ errors }: { errors: readonly ProblemError[] }, named = most): string {
  const sentences = errors.slice(0, named).map(sentenceOf);
  const more = errors.length - named;
  // Validation stops at the maximum, so there can be others.
  const count = errors.length < maximumErrors ? String(more) : `at least ${more}`;
  if (more > 0) sentences.push(`There ${more === 1 ? 'is 1 more problem' : `are ${count} more problems`}; see errors.`);
  return sentences.join(' ') || 'The request is not valid.';
}

function sentenceOf({ in: place, field, code, message, suggestion }: ProblemError): string {
  const didYouMean = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  if (code === 'unknown_parameter' || code === 'unknown_field') {
    const advice = /^[^;]*; (.+)$/.exec(message)?.[1];
    const kind = code === 'unknown_field' ? 'field' : 'parameter';
    return `Unknown ${kind} "${field}".${advice ? ` ${capitalized(advice)}.` : didYouMean}`;
  }
  const subject = field || (place === 'body' ? 'The body' : 'The request');
  return `${subject} ${message}.${didYouMean}`;
}

const capitalized = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

type Elsewhere = {
  advice: string;
  suggestion?: string;
  /** The advice if the operation does not have the suggested parameter. */
  otherwise?: string;
};
const nextPage: Elsewhere = {
  advice: 'to read the next page, follow pagination.nextUrl or send pagination.nextCursor as cursor',
  suggestion: 'cursor',
};
const whole = 'records are always returned whole';
const include: Elsewhere = {
  advice:
    'proposals contain a summary of their customer; to add the rest or their lines to a list, send include=customer,lineItems',
  suggestion: 'include',
  otherwise: whole,
};

const to = (purpose: string, suggestion: string): Elsewhere => ({
  advice: `to ${purpose}, send ${suggestion}`,
  suggestion,
});
const changed = to('list what has changed', 'updatedSince');
const since = (what: string) => `get the records that were ${what} at or after a time`;
const before = (what: string) => `get the records that were ${what} before a time`;

const elsewhere: readonly [names: string, Elsewhere][] = [
  ['page offset starting_after page_token', nextPage],
  ['per_page page_size', to('set the page size', 'limit')],
  ['search query name', to('search', 'q')],
  ['since changedSince changed_since updated_at_min updatedAfter updated_after updatedFrom', changed],
  ['modifiedSince modified_since modified_after', changed],
  ['order orderBy order_by sort_by', to('choose the order', 'sort')],
  ['until updated_at_max', to(before('changed'), 'updatedBefore')],
  ['createdAfter created_after created_at_min createdFrom', to(since('created'), 'createdSince')],
  ['created_at_max', to(before('created'), 'createdBefore')],
  ['acceptedAfter accepted_after acceptedFrom', to(since('accepted'), 'acceptedSince')],
  ['id', to('get records by their ids', 'ids')],
  ['country_code', to('choose by country', 'country')],
  ['state archived', to('choose by status', 'status')],
  ['fields', { advice: whole }],
  ['expand', include],
  ['include', { advice: 'only the list of proposals has it' }],
];

/** A parameter of other APIs → its equivalent here; the advice continues "is not a parameter of this operation". */
export const foreignParameters: ReadonlyMap<string, Elsewhere> = new Map(
  elsewhere.flatMap(([names, where]) => names.split(' ').map((name) => [name, where] as const)),
);
