/** Problems that only people on a page, or at a shell, meet: no operation of the API has them. */
import type { Row } from '../../contract/problems/row.ts';

const row = <Facts>(wanted: Row<number, Facts>) => wanted;

export const pageProblems = {
  bad_page_request: row({
    status: 400,
    title: 'This request could not be read',
    detail: ({ sentence }: { sentence: string }) => sentence,
  }),
  not_permitted: row({
    status: 403,
    title: 'This is not permitted',
    detail: ({ sentence }: { sentence: string }) => sentence,
  }),
  page_not_found: row({
    status: 404,
    title: 'Page not found',
    detail: ({ sentence = 'There is nothing at this URL, or it is no longer there.' }: { sentence?: string }) =>
      sentence,
  }),
  page_conflict: row({
    status: 409,
    title: 'This was already done',
    detail: ({ sentence }: { sentence: string }) => sentence,
  }),
  rejected_form: row({
    status: 422,
    title: 'This form needs a correction',
    detail: ({ sentence }: { sentence: string }) => sentence,
  }),
  too_many_attempts: row({
    status: 429,
    title: 'Too many attempts',
    detail: ({ sentence }: { sentence: string; retryAfterSeconds: number }) => sentence,
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
  }),
};
