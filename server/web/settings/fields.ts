/** What a form sends, and how its fields are printed. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { passwordLength } from '../../accounts/passwords.ts';
import { Problem } from '../../problems/problem.ts';

/** One field of a posted form or a query; '' if it is missing or repeated. */
export function field(fields: unknown, name: string): string {
  const value: unknown = Object.hasOwn(Object(fields), name) ? Reflect.get(Object(fields), name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** A field whose values are the options of a form. Problem: invalid, with the sentence. */
export function choiceIn<Value extends string>(
  fields: unknown,
  name: string,
  options: Readonly<Record<Value, string>>,
  sentence: string,
): Value {
  const typed = field(fields, name);
  const isOption = (text: string): text is Value => Object.hasOwn(options, text);
  if (!isOption(typed)) throw new Problem('invalid', { sentence });
  return typed;
}

/** How a stored id is written. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

type TextField = {
  id: string;
  label: string;
  type?: 'text' | 'email';
  value?: string | undefined;
  most: number;
  autocomplete?: string;
  inputmode?: 'text' | 'numeric';
  autofocus?: boolean;
  isOptional?: boolean;
  hint?: string;
  /** What is wrong with what was typed. */
  problem?: string | undefined;
};

export function textField({ id, label, type = 'text', value, most, autocomplete = 'off', ...rest }: TextField): Html {
  const { autofocus = false, isOptional = false, inputmode, hint, problem } = rest;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${id}"
      type="${type}"
      maxlength="${most}"
      ${!isOptional && html` required`}
      autocomplete="${autocomplete}"
      ${inputmode && html` inputmode="${inputmode}"`}
      ${type === 'email' && html` autocapitalize="none" spellcheck="false"`}
      value="${value}"
      ${(autofocus || problem !== undefined) && html` autofocus`}
      ${described(id, hint, problem)}
    />
    ${notes(id, hint, problem)}
  </div>`;
}

type SelectField = Pick<TextField, 'id' | 'label' | 'problem'> & {
  /** Where it differs from the id. */
  name?: string;
  /** The label of a first choice without a value; among the options, numbers would come before it. */
  none?: string;
  /** Value → label. */
  options: Readonly<Record<string, string>>;
  chosen?: string | undefined;
};

export const selectField = ({ id, name = id, label, none, options, chosen, problem }: SelectField): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}" ${described(id, undefined, problem)}>
      ${none !== undefined && html`<option value="">${none}</option>`} ${printOptions(options, chosen)}
    </select>
    ${notes(id, undefined, problem)}
  </div>`;

export const printOptions = (options: Readonly<Record<string, string>>, chosen: string | undefined): Html[] =>
  Object.entries(options).map(
    ([value, text]) => html`<option value="${value}" ${value === chosen && html` selected`}>${text}</option>`,
  );

export const exportFormatLabels = {
  csv: 'CSV, for spreadsheets',
  jsonl: 'JSON Lines, with the lines of proposals',
} as const;

type PasswordField = Pick<TextField, 'id' | 'label' | 'autofocus' | 'hint' | 'problem'> & { isNew?: boolean };

export function passwordField({ id, label, autofocus = false, hint, problem, isNew = false }: PasswordField): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <div class="secret">
      <input
        id="${id}"
        name="${id}"
        type="password"
        autocomplete="${isNew ? 'new-password' : 'current-password'}"
        ${isNew && html` minlength="${passwordLength.least}"`}
        maxlength="${passwordLength.most}"
        required
        ${(autofocus || problem !== undefined) && html` autofocus`}
        ${described(id, hint, problem)}
      />
      <button type="button" class="secondary outline" data-show="${id}" aria-pressed="false" hidden>
        Show<span class="unseen"> ${label.toLowerCase()}</span>
      </button>
    </div>
    ${notes(id, hint, problem)}
  </div>`;
}

/** Tells a password manager whose password it is. */
export const ownEmailField = (email: string): Html =>
  html`<input
    class="unseen"
    type="email"
    name="email"
    autocomplete="username"
    value="${email}"
    readonly
    tabindex="-1"
    aria-hidden="true"
  />`;

export const passwordHint = `At least ${passwordLength.least} characters. A few unrelated words work well.`;

function described(id: string, hint: string | undefined, problem: string | undefined): Html | false {
  const ids = [problem !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`].filter(Boolean).join(' ');
  if (ids === '') return false;
  return html` aria-describedby="${ids}"${problem !== undefined && html` aria-invalid="true"`}`;
}

const notes = (id: string, hint: string | undefined, problem: string | undefined): Html =>
  html`${problem !== undefined && html`<p class="problem" id="${id}-problem" role="alert">${problem}</p>`}
  ${hint !== undefined && html`<small id="${id}-hint">${hint}</small>`}`;
