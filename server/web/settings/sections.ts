/** Parts of pages. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Visit } from './visit.ts';

type Text = Html | string;

/**
 * What was done, or why not. Screen readers announce an alert when the page opens, but not a status: what was done takes
 * the focus, which is also where the Tab key then continues.
 */
export function notice(kind: 'done' | 'plain' | 'failed', text: Text | undefined): Html | false {
  if (text === undefined) return false;
  const role = kind === 'failed' ? 'alert' : 'status';
  const focus = kind === 'done' && html` tabindex="-1" autofocus`;
  return html`<div class="notice ${kind}" role="${role}" ${focus}><p>${text}</p></div>`;
}

/** A collapsible part of a page. */
export const collapsible = (id: string, title: Text, content: Html, open = false): Html =>
  html` <details class="fold" id="${id}" ${open && html` open`}>
    <summary><h2>${title}</h2></summary>
    <div>${content}</div>
  </details>`;

/** A part of a page with a heading. */
export const section = (id: string, title: Text, content: Html, look?: string): Html =>
  html`<section ${look && html`class="${look}"`} aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`;

export const card = (id: string, title: Text, content: Html): Html => section(id, title, content, 'card');

/** A heading with a count. */
export const counted = (title: string, count: number | string): Html =>
  html`${title} <span class="count">${count}</span>`;

export const badge = (look: 'on' | 'warm' | 'off', text: string): Html =>
  html`<span class="badge ${look}">${text}</span>`;

/** A list of terms and their values. */
export const definitionList = (look: string, entries: readonly (readonly [term: Text, value: Text])[]): Html =>
  html`<dl class="${look}">
    ${entries.map(
      ([term, value]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

type Secret = {
  title: string;
  isWholePage?: boolean;
  /** What it is for, and what to do if it is lost. */
  text: string;
  more?: Html;
  id: string;
  value: string;
  /** What the value is, such as `the key`. */
  name: string;
  /** Where `Done` leads. */
  next: string;
};

/** A secret that only this response contains. */
export const secretSection = ({ title, isWholePage = false, text, more, id, value, name, next }: Secret): Html => {
  const level = isWholePage ? 1 : 2;
  return html`<section class="card fresh" aria-labelledby="fresh" data-secret>
    <h${level} id="fresh" tabindex="-1" autofocus>${title}</h${level}>
    <p><strong>This is the only time it is shown.</strong> ${text}</p>
    ${more}
    ${copyable(html`<code id="${id}" class="key" translate="no">${value}</code>`, id, name)}
    <p><a href="${next}">Done</a></p>
  </section>`;
};

/** Text with a button that copies the element with this id; the script shows the button. */
export const copyable = (text: Html, id: string, name: string, look?: string): Html =>
  html`<div class="copyable">
    ${text}
    <button type="button" ${look && html` class="${look}"`} data-copy="${id}" hidden>
      Copy<span class="unseen"> ${name}</span>
    </button>
  </div>`;

type Table<Of> = {
  label: string;
  rows: readonly Of[];
  /** Head → what the cell of a row shows; the first column names the row. */
  columns: Readonly<Record<string, (row: Of) => Text>>;
  actions?: (row: Of) => Html | undefined;
  empty: string;
  /** All cells but the first are numbers. */
  isNumeric?: boolean;
};

/** A table of records; on a narrow screen, each row is a card. Roles are explicit, because the CSS for cards drops them. */
export function responsiveTable<Of>({ label, rows, columns, actions, empty, isNumeric = false }: Table<Of>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const offered = rows.map((row) => actions?.(row));
  const withActions = offered.some((one) => one !== undefined);
  return html`<table class="records${isNumeric && ' numbers'}" role="table" aria-label="${label}">
    <thead role="rowgroup">
      <tr role="row">
        ${Object.keys(columns).map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}${withActions && html`<th role="columnheader" scope="col"><span class="unseen">Actions</span></th>`}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row, index) =>
          html` <tr role="row">
            ${Object.entries(columns).map(([head, cell], at) => (at === 0 ? html`<th role="rowheader" scope="row">${cell(row)}</th> ` : html`<td role="cell" data-head="${head}">${cell(row)}</td>`))}
            ${withActions && html`<td role="cell" class="actions">${offered[index]}</td>`}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** For members who may see a page but not use it. `privilege`: such as `manage members`. */
export const onlyAdmins = (privilege: string): Html =>
  html`<p class="notice plain">Only admins of the organization can ${privilege}.</p>`;

/** The notice on a page that needs the Team plan, and how to upgrade. `need`: such as `Webhooks need`. */
export const teamNotice = (need: string, visit: Visit, more?: Html): Html =>
  html`<div class="notice plain">
    <p>${need} the Team plan. ${visit.organization.name} is on the Free plan. ${howToUpgrade(visit)}</p>
    ${more}
  </div>`;

export const howToUpgrade = ({ organization, context: { planContact } }: Visit): Html => {
  if (planContact === undefined)
    return html`Ask the operator of this service to upgrade <code>${organization.slug}</code>. Changes apply
      immediately.`;
  const isUrl = /^https?:\/\/\S+$/.test(planContact);
  return html`To upgrade: ${isUrl ? html`<a href="${planContact}">${planContact}</a>` : planContact}`;
};
