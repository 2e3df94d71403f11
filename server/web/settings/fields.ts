/** Reads the fields of a sent form, and renders fields. */
import { parseInstant } from '../../../contract/instant.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { passwordLength } from '../../accounts/passwords.ts';
import { fieldOf, Problem } from '../../problems/problem.ts';
import type { SettingsProblem } from '../../problems/problem.ts';

/** One field of a posted form or a query; '' if it is missing or repeated. */
export function field(fields: unknown, name: string): string {
  const value: unknown = Object.hasOwn(Object(fields), name) ? Reflect.get(Object(fields), name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** What a form showed of a stored value. */
export const shown = (name: string, value: string, rejected: Rejected | undefined): Html =>
  hidden(`shown ${name}`, rejected ? field(rejected.body, `shown ${name}`) : value);

/** Undefined if the form showed the same: someone else may have changed the value since, which this must not undo. */
export function changedFrom(body: unknown, name: string): string | undefined {
  const typed = field(body, name);
  return typed !== '' && typed === field(body, `shown ${name}`) ? undefined : typed;
}

/** The option chosen in a field. Problem: invalid, with the sentence. */
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

/** The time in a field. Problem: invalid, with the sentence. */
export function instantIn(fields: unknown, name: string, sentence: string): string {
  const instant = parseInstant(field(fields, name).trim());
  if (instant === undefined) throw new Problem('invalid', { sentence, field: name });
  return instant;
}

/** The format of stored ids. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** A form that was rejected: why, and what it contained. */
export type Rejected = { problem: SettingsProblem; body: unknown };

/** The error message of a field, if any. */
export const problemOf = (rejected: Rejected | undefined, name: string): string | undefined =>
  rejected && fieldOf(rejected.problem) === name ? rejected.problem.message : undefined;

type Field = {
  id: string;
  label: string;
  hint?: string | Html;
  autofocus?: boolean;
  /** The field keeps what was typed, and shows its error message. */
  rejected?: Rejected | undefined;
  /** The error message, if `rejected` has it for a field with another name. */
  problem?: string | undefined;
};

/** A field with its label, error message and hint; `control` gets the attributes that refer to them. */
export function labeled(given: Field, control: (attributes: Html) => Html): Html {
  const { id, label, hint, autofocus = false, rejected, problem = problemOf(rejected, id) } = given;
  const ids = [problem !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`].filter(Boolean).join(' ');
  const attributes = html`${(autofocus || problem !== undefined) && html` autofocus`}${ids !== '' && html` aria-describedby="${ids}"`}${problem !== undefined && html` aria-invalid="true"`}`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${control(attributes)}
    ${problem !== undefined && html`<p class="problem" id="${id}-problem" role="alert">${problem}</p>`}
    ${hint !== undefined && html`<small id="${id}-hint">${hint}</small>`}
  </div>`;
}

type TextField = Field & {
  value?: string | undefined;
  most: number;
  autocomplete?: string;
  /** Not a field of type `email`: browsers rewrite the domain of an address in another script, or reject the address. */
  inputmode?: 'text' | 'numeric' | 'email';
  isOptional?: boolean;
};

export function textField(given: TextField): Html {
  const { id, value, most, autocomplete = 'off', inputmode, isOptional = false, rejected } = given;
  return labeled(
    given,
    (attributes) =>
      html`<input
        id="${id}"
        name="${id}"
        type="text"
        maxlength="${most}"
        ${!isOptional && html` required`}
        autocomplete="${autocomplete}"
        ${inputmode && html` inputmode="${inputmode}"`}
        ${inputmode === 'email' && html` autocapitalize="none" spellcheck="false"`}
        value="${rejected ? field(rejected.body, id) : value}"
        ${attributes}
      />`,
  );
}

type SelectField = Field & {
  /** If it differs from the id. */
  name?: string;
  /** The label of an empty first choice. It is not one of the options, because numeric keys would come before it. */
  none?: string;
  /** Value → label. */
  options: Readonly<Record<string, string>>;
  chosen?: string | undefined;
};

export function selectField(given: SelectField): Html {
  const { id, name = id, none, options, chosen, rejected } = given;
  return labeled(
    given,
    (attributes) =>
      html`<select id="${id}" name="${name}" ${attributes}>
        ${none !== undefined && html`<option value="">${none}</option>`}
        ${printOptions(options, rejected ? field(rejected.body, name) : chosen)}
      </select>`,
  );
}

export const printOptions = (options: Readonly<Record<string, string>>, chosen: string | undefined): Html[] =>
  Object.entries(options).map(
    ([value, text]) => html`<option value="${value}" ${value === chosen && html` selected`}>${text}</option>`,
  );

export const exportFormatLabels = {
  csv: 'CSV, for spreadsheets',
  jsonl: 'JSON Lines, with the lines of proposals',
} as const;

export function passwordField(given: Field & { isNew?: boolean }): Html {
  const { id, label, isNew = false } = given;
  return labeled(
    given,
    (attributes) =>
      html`<div class="secret">
        <input
          id="${id}"
          name="${id}"
          type="password"
          autocomplete="${isNew ? 'new-password' : 'current-password'}"
          ${isNew && html` minlength="${passwordLength.least}"`}
          maxlength="${passwordLength.most}"
          required
          ${attributes}
        />
        <button type="button" class="secondary outline" data-show="${id}" hidden>
          Show<span class="unseen"> ${label.toLowerCase()}</span>
        </button>
      </div>`,
  );
}

/** A two-factor code: from the app or, with a hint, possibly a recovery code. */
export const codeField = (given: Pick<Field, 'autofocus' | 'hint' | 'problem'>) =>
  textField({
    id: 'code',
    label: 'Code',
    most: 40,
    autocomplete: 'one-time-code',
    inputmode: given.hint === undefined ? 'numeric' : 'text',
    ...given,
  });

/** Tells password managers whose password it is. */
export const ownEmailField = (email: string): Html =>
  html`<input
    class="unseen"
    type="text"
    name="email"
    autocomplete="username"
    value="${email}"
    readonly
    tabindex="-1"
    aria-hidden="true"
  />`;

export const passwordHint = `At least ${passwordLength.least} characters. A few unrelated words work well.`;
