/** Error pages for people: a sentence and a next step; never JSON or a stack trace. */
import type { ErrorRequestHandler } from 'express';
import { Problem } from '../../problems/problem.ts';
import { toProblem } from '../../problems/translate.ts';
import { html } from '../html.ts';
import { sendPage } from './layout.ts';
import { connectingTo, pageNotFound, sectionAt } from './page.ts';

export const sendErrorPage: ErrorRequestHandler = (error: unknown, { originalUrl }, response, next) => {
  if (response.headersSent) return next(error);
  const problem = formProblem(error) ?? toProblem(error);
  if (problem.status >= 500) response.locals.failure = problem.cause;
  const sentence =
    problem.status === 500
      ? 'Something went wrong on our side. The details are in our log under the request id below. Please try again.'
      : problem.message;
  response.set(problem.headers);
  const { requestId, visit } = response.locals;
  const page = errorPage(problem, sentence, requestId);
  sendPage(response, { ...page, current: sectionAt(originalUrl), ...connectingTo(originalUrl) }, visit);
};

/** Errors of the form parser have a `status`; so does the URIError of a path that cannot be decoded. */
function formProblem(error: unknown): Problem | undefined {
  if (error instanceof URIError) return pageNotFound();
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  if (error instanceof Problem || typeof status !== 'number' || status < 400 || status > 499) return undefined;
  if (status === 413)
    return new Problem('too_large', { sentence: 'The form is too large. Reload the page and try again.' });
  return new Problem('unreadable', { sentence: 'The form could not be read. Reload the page and try again.' });
}

function errorPage({ status, title }: Problem, sentence: string, requestId: string) {
  const main = html`<article class="card">
    <p class="code">Error ${status}</p>
    <h1>${title}</h1>
    <p>${sentence}</p>
    <p class="choices">
      <a href="/settings" role="button" class="outline">Go to settings</a>
      <a href="/docs" role="button" class="secondary outline">Read the docs</a>
    </p>
    ${status >= 500 && html`<p class="quiet">Request ID: <code>${requestId}</code></p>`}
  </article>`;
  return { title, main, status };
}
