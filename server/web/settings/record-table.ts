/** A table of records; on a narrow screen each row is a card. Roles are explicit, because a table shown as cards loses them. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';

type Cell = Html | string;
export type Row = {
  /** What names the row. */
  head: Cell;
  /** One for each further column. */
  cells: readonly Cell[];
  actions?: Html | undefined;
};
type Table = {
  label: string;
  heads: readonly string[];
  rows: readonly Row[];
  empty: string;
  /** All cells but the first are numbers. */
  isNumeric?: boolean;
};

export function recordTable({ label, heads, rows, empty, isNumeric = false }: Table): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const withActions = rows.some(({ actions }) => actions !== undefined);
  return html`<table class="records${isNumeric && ' numbers'}" role="table" aria-label="${label}">
    <thead role="rowgroup">
      <tr role="row">
        ${heads.map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}${withActions && html`<th role="columnheader" scope="col"><span class="unseen">Actions</span></th>`}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((row) => printRow(row, heads, withActions))}
    </tbody>
  </table>`;
}

const printRow = ({ head, cells, actions }: Row, heads: readonly string[], withActions: boolean): Html =>
  html` <tr role="row">
    <th role="rowheader" scope="row">${head}</th>
    ${cells.map((cell, index) => html`<td role="cell" data-head="${heads[index + 1]}">${cell}</td>`)}
    ${withActions && html`<td role="cell" class="actions">${actions}</td>`}
  </tr>`;
