/** One kind of problem, with all of its texts: those of responses and those of the documentation. */
import type { Problem, ProblemError } from '../problem.ts';

/** What a response contains. */
export type Row<Status extends number = number, Facts = never> = {
  status: Status;
  title: string;
  /** The sentence: what is wrong, then what to do. */
  detail: (facts: Facts) => string;
  /** What is wrong with individual fields or parameters. */
  errors?: (facts: Facts) => ProblemError[];
  /** Members that only this problem has. */
  members?: (facts: Facts) => Pick<Problem, 'existingId' | 'currentEtag'>;
  headers?: (facts: Facts) => Record<string, string>;
};

/** What a response contains and what the documentation publishes. */
export type PublishedRow<Status extends number, Facts> = Row<Status, Facts> & {
  /** For the documentation, as Markdown: what the code means, and what to do about it. */
  meaning: string;
  remedy: string;
  /** The facts of the published example. */
  example: NoInfer<Facts>;
};

/** A row whose sentence depends on facts. */
export const row = <const Status extends number, Facts>(wanted: PublishedRow<Status, Facts>) => wanted;

/** A row with a fixed sentence. */
export function plainRow<const Status extends number>({
  detail,
  ...rest
}: Omit<PublishedRow<Status, undefined>, 'detail' | 'example'> & { detail: string }): PublishedRow<Status, undefined> {
  return { ...rest, detail: () => detail, example: undefined };
}

/** The body of a response with this problem. `publicUrl` has no trailing slash. */
export function problemBody<Facts>(
  { status, title, detail, errors, members }: Row<number, Facts>,
  { code, facts, requestId, publicUrl }: { code: string; facts: Facts; requestId: string; publicUrl: string },
): Problem {
  return {
    type: `${publicUrl}/docs/errors#${code}`,
    title,
    status,
    detail: detail(facts),
    code,
    requestId,
    errors: errors?.(facts) ?? [],
    ...members?.(facts),
  };
}
