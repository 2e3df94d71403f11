/** What failed, for a person: a sentence and a way on; never JSON, never a stack. */
import type { ErrorRequestHandler, Response } from 'express';
import { Rejection } from '../../problems/rejection.ts';
import { toProblem } from '../../problems/translate.ts';
import { html } from '../html.ts';
import { sendPage } from './page.ts';

const titles: Record<number, string> = {
  400: 'This request could not be read',
  403: 'You cannot do this',
  404: 'Page not found',
  409: 'This was already done',
  413: 'This form is too large',
  429: 'Too many attempts',
  500: 'Something went wrong on our side',
  503: 'The service is temporarily unavailable',
};

export const pageNotFound = () => new Rejection('unknown', 'There is no page at this URL.');

export const sendErrorPage: ErrorRequestHandler = (error: unknown, _, response, next) => {
  if (response.headersSent) return next(error);
  if (error instanceof Rejection) return sendFailure(response, error.status, error.message, error.retryAfterSeconds);
  const unreadable = formError(error);
  if (unreadable) return sendFailure(response, unreadable.status, unreadable.sentence);
  const problem = toProblem(error);
  if (problem.status >= 500) response.locals.failure = problem.cause;
  const sentence =
    problem.status === 500
      ? 'The details are in our log under the request id below. Please try again.'
      : problem.message;
  sendFailure(response, problem.status, sentence, problem.status === 503 ? 5 : undefined);
};

/** What the form parser rejected: it carries a status of its own. */
function formError(error: unknown): { status: number; sentence: string } | undefined {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  if (status === 413) return { status, sentence: 'This form is larger than any form of these pages.' };
  return { status, sentence: 'The browser sent something that is not a form of these pages. Open the page again.' };
}

function sendFailure(response: Response, status: number, sentence: string, retryAfterSeconds?: number): void {
  if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
  const title = titles[status] ?? 'This did not work';
  const main = html`<article class="card">
    <p class="code">Error ${status}</p>
    <h1>${title}</h1>
    <p>${sentence}</p>
    <p class="choices">
      <a href="/settings/api-keys" role="button" class="outline">Go to API Keys</a>
      <a href="/docs" role="button" class="secondary outline">Read the docs</a>
    </p>
    ${status >= 500 && html`<p class="quiet">Request id: <code>${response.locals.requestId}</code></p>`}
  </article>`;
  sendPage(response, { title, main }, status);
}
