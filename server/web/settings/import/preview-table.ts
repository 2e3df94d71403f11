/** The first rows of a file, as they will be read; wide tables scroll on their own. */
import type { UploadRow } from '../../../entities/upload.ts';
import { labelOf } from '../../../text/labels.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';

export function previewTable(rows: readonly UploadRow[]): Html | false {
  if (rows.length === 0) return false;
  const fields = [...new Set(rows.flatMap(({ values }) => values.map(([field]) => field)))];
  return html`<h3 id="preview">Preview of the first rows</h3>
    <div class="scroll" role="region" aria-labelledby="preview" tabindex="0">
      <table class="preview">
        <thead>
          <tr>
            <th scope="col">Line</th>
            ${fields.map((field) => html`<th scope="col">${field.startsWith('metadata.') ? field : labelOf(field)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => printRow(row, fields))}
        </tbody>
      </table>
    </div>`;
}

function printRow({ line, values, errors }: UploadRow, fields: readonly string[]): Html {
  const texts = new Map(values);
  const cells =
    errors.length > 0
      ? html`<td colspan="${Math.max(1, fields.length)}" class="problem">${errors.join('; ')}</td>`
      : fields.map((field) => html`<td>${texts.get(field)}</td>`);
  return html`<tr>
    <th scope="row">${line}</th>
    ${cells}
  </tr>`;
}
