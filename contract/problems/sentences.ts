/** Sentences built from the errors of a request. */
import type { ProblemError } from '../problem.ts';

/** How many errors `detail` names; the rest are in `errors`. */
const named = 3;

/** `limit must be a whole number from 1 to 100.` for each of the first errors, and how many there are besides. */
export function describeErrors({ errors }: { errors: readonly ProblemError[] }): string {
  const sentences = errors.slice(0, named).map(sentenceOf);
  const more = errors.length - named;
  if (more > 0) sentences.push(`There ${more === 1 ? 'is 1 more problem' : `are ${more} more problems`}; see errors.`);
  return sentences.join(' ') || 'The request is not valid.';
}

function sentenceOf({ in: place, field, code, message, suggestion }: ProblemError): string {
  const didYouMean = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  if (code === 'unknown_parameter' || code === 'unknown_field') {
    const advice = /^[^;]*; (.+)$/.exec(message)?.[1];
    const kind = code === 'unknown_field' ? 'field' : 'parameter';
    return `Unknown ${kind} "${field}".${advice ? ` ${capitalised(advice)}.` : didYouMean}`;
  }
  const subject = field || (place === 'body' ? 'The body' : 'The request');
  return `${subject} ${message}.${didYouMean}`;
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

type Elsewhere = {
  advice: string;
  suggestion?: string;
  /** The advice where the operation does not have the suggested parameter. */
  otherwise?: string;
};
const nextPage: Elsewhere = {
  advice: 'to read the next page, follow pagination.nextUrl or send pagination.nextCursor as cursor',
  suggestion: 'cursor',
};
const pageSize: Elsewhere = { advice: 'to set the page size, send limit', suggestion: 'limit' };
const whole = 'records are always returned whole';
const search: Elsewhere = { advice: 'to search, send q', suggestion: 'q' };

/** What users of other APIs look for → where it is here; the advice continues "is not a parameter of this operation". */
export const otherParameters: ReadonlyMap<string, Elsewhere> = new Map([
  ['page', nextPage],
  ['offset', nextPage],
  ['starting_after', nextPage],
  ['page_token', nextPage],
  ['per_page', pageSize],
  ['page_size', pageSize],
  ['search', search],
  ['query', search],
  ['fields', { advice: whole }],
  [
    'expand',
    {
      advice: 'proposals already contain their customer; to add their lines to a list, send include=lineItems',
      suggestion: 'include',
      otherwise: whole,
    },
  ],
]);
