/** What failed, for a person: a sentence and a way on; never JSON, never a stack. */
import type { ErrorRequestHandler, Response } from 'express';
import { KeyRefusal } from '../../keys/keys.ts';
import { toProblem } from '../../problems/problem.ts';
import { html } from '../html.ts';
import { sendPage } from './page.ts';

const titles: Record<number, string> = {
  400: 'This request could not be read',
  403: 'This is not possible',
  404: 'There is no such page',
  413: 'That was too much',
  429: 'Too many attempts',
  500: 'Something went wrong on our side',
  503: 'The service is not available at the moment',
};

/** Thrown by a page's handler: `sentence` is what its reader needs. */
export class PageError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: 400 | 403 | 404 | 429, sentence: string, retryAfterSeconds?: number) {
    super(sentence);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const noSuchPage = () => new PageError(404, 'Nothing is at this address, or it is no longer there.');

const refusals: Partial<Record<KeyRefusal['reason'], number>> = {
  role: 403,
  plan: 403,
  forged: 403,
  unknown: 404,
  repeated: 409,
};
export const refusalStatus = ({ reason }: KeyRefusal): number => refusals[reason] ?? 422;

export const answerErrorPage: ErrorRequestHandler = (error: unknown, _, response, next) => {
  if (response.headersSent) return next(error);
  if (error instanceof PageError) return sendErrorPage(response, error.status, error.message, error.retryAfterSeconds);
  if (error instanceof KeyRefusal) return sendErrorPage(response, refusalStatus(error), error.message);
  const problem = toProblem(error);
  if (problem.status >= 500) response.locals.failure = problem.cause;
  const sentence =
    problem.status === 500 ? 'It is in our log, under the number below. Please try again.' : problem.message;
  sendErrorPage(response, problem.status, sentence, problem.status === 503 ? 5 : undefined);
};

function sendErrorPage(response: Response, status: number, sentence: string, retryAfterSeconds?: number): void {
  if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
  const title = titles[status] ?? 'This did not work';
  const main = html`<article class="card">
    <p class="code">Error ${status}</p>
    <h1>${title}</h1>
    <p>${sentence}</p>
    <p><a href="/settings/api-keys" role="button" class="outline">Go to API Keys</a></p>
    ${status >= 500 && html`<p class="quiet">Request <code>${String(response.locals.requestId)}</code></p>`}
  </article>`;
  sendPage(response, { title, main }, status);
}
