/** Forms for signed-in members, and pages that consist of one form. */
import { fieldOf } from '../../problems/problem.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { hidden } from './fields.ts';
import type { Rejected } from './fields.ts';
import { cardPage } from './page.ts';
import type { Page, Section } from './page.ts';
import { notice } from './sections.ts';
import type { Visit } from './visit.ts';

type Tokens = Pick<Visit, 'csrfToken'>;

/** A form with its CSRF token. */
export const postForm = ({ csrfToken }: Tokens, action: string, content: Html, attributes?: Html): Html =>
  html`<form method="post" action="${action}" ${attributes}>${hidden('csrfToken', csrfToken())} ${content}</form>`;

/** A form that is only a button. */
export const buttonForm = (tokens: Tokens, action: string, label: string | Html): Html =>
  postForm(tokens, action, html`<button type="submit" class="secondary outline">${label}</button>`);

/** Why a form was rejected, if the reason is not about one of its fields. */
export const reasonOf = (rejected: Rejected | undefined): string | undefined =>
  rejected && fieldOf(rejected.problem) === undefined ? rejected.problem.message : undefined;

export const failedNotice = (rejected: Rejected | undefined): Html | false => notice('failed', reasonOf(rejected));

type Choices = { name: string; legend: string; options: Readonly<Record<string, string>>; chosen?: string | undefined };

export const radioField = ({ name, legend, options, chosen }: Choices): Html =>
  html`<fieldset>
    <legend>${legend}</legend>
    ${Object.entries(options).map(
      ([value, label]) =>
        html`<label
          ><input
            type="radio"
            name="${name}"
            value="${value}"
            required
            ${value === chosen && html` checked`}
          />${label}</label
        >`,
    )}
  </fieldset>`;

type Question = {
  title: string;
  /** The subject, shown below the title. */
  about?: string | Html;
  text?: string | Html;
  fields?: Html;
  button: string;
  isDestructive?: boolean;
  action: string;
  current: Section;
  /** Where `Cancel` leads; by default, to the page of the section. */
  back?: string;
};

/** A page with one form, or one that asks for confirmation. */
export function questionPage(tokens: Tokens, question: Question): Page {
  const { title, about, text, fields, button, isDestructive = false, action, current, back = current } = question;
  const content = html`${fields}
    <div class="choices">
      <button${isDestructive && html` class="destroy"`} type="submit">${button}</button>
      <a href="${back}" role="button" class="secondary outline">Cancel</a>
    </div>`;
  const main = html`${about !== undefined && html`<p class="quiet">${about}</p>`}
  ${typeof text === 'string' ? html`<p>${text}</p>` : text} ${postForm(tokens, action, content)}`;
  return cardPage(title, main, { current });
}
