/** Parts of pages. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';

/** What was done, or why not; screen readers announce it when the page opens. */
export function notice(kind: 'done' | 'plain' | 'failed', text: string | Html | undefined): Html | false {
  if (text === undefined) return false;
  return html`<div class="notice ${kind}" role="${kind === 'failed' ? 'alert' : 'status'}"><p>${text}</p></div>`;
}

/** A collapsible part of a page. */
export const foldable = (id: string, title: string | Html, content: Html, open = false): Html =>
  html` <details class="fold" id="${id}" ${open && html` open`}>
    <summary><h2>${title}</h2></summary>
    <div>${content}</div>
  </details>`;

/** A part of a page with a heading. */
export const card = (id: string, title: string | Html, content: Html): Html =>
  html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`;

type Secret = {
  title: string;
  isWholePage?: boolean;
  /** What it is for, and what to do without it. */
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
    <div class="copyable">
      <code id="${id}" class="key" translate="no">${value}</code>
      ${copyButton(id, name)}
    </div>
    <p><a href="${next}">Done</a></p>
  </section>`;
};

/** Copies the text of the element with this id; the script shows it. */
export const copyButton = (id: string, name: string, look?: string): Html =>
  html`<button type="button" ${look && html` class="${look}"`} data-copy="${id}" hidden>
    Copy<span class="unseen"> ${name}</span>
  </button>`;
