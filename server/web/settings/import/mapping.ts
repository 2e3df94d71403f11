/** What the columns of an uploaded file mean: the form, with sample values of each column, and the choices made in it. */
import { trimDecimal } from '../../../../contract/decimal.ts';
import type { Upload, ImportChoices } from '../../../entities/upload.ts';
import { chosenFor, planColumns } from '../../../import/columns.ts';
import { describeFields, metadataFieldOf, metadataProblem } from '../../../import/fields.ts';
import { isHeaderBelow, likelierKind } from '../../../import/guess.ts';
import { kinds } from '../../../import/import-file.ts';
import { reportWidth } from '../../../import/report.ts';
import type { Inspection } from '../../../import/inspect.ts';
import { readDate, readNumber } from '../../../import/values.ts';
import { html } from '../../html.ts';
import { field, printOptions, selectField } from '../fields.ts';
import { postForm, radioField } from '../forms.ts';
import { card, notice } from '../sections.ts';
import { discardForm } from './import-progress.ts';
import type { Visit } from '../visit.ts';

/** The result of the upload's inspection, which is stored as JSON of this type. */
const inspectionOf = ({ inspection }: Upload): Inspection | null => inspection as Inspection | null;

type Plan = ReturnType<typeof planOf>;

/** The plan of an upload whose columns can be chosen; its file has been inspected. */
export function planOf(upload: Upload) {
  const { mapping: choices } = upload;
  const inspection = inspectionOf(upload);
  if (!inspection) throw new Error('The file of the upload was not inspected.');
  const kind = kinds[upload.kind];
  return { inspection, kind, choices, ...planColumns(inspection, kind, choices) };
}

/** The columns that a report of rejected rows adds in front are not imported. */
const firstOf = (columns: readonly { name: string }[]) => reportWidth(columns.map(({ name }) => name));

function optionOf(name: string | undefined, fields: readonly string[]): string {
  if (name === undefined || fields.includes(name)) return name ?? '';
  return name.startsWith('metadata.') ? 'metadata' : 'preset';
}

const readings = {
  decimalPoint: (examples: readonly string[]) => ({
    ',': `With a decimal comma${meaning(examples, (text) => shortNumber(readNumber(text, ',')))}`,
    '.': `With a decimal point${meaning(examples, (text) => shortNumber(readNumber(text, '.')))}`,
  }),
  dateOrder: (examples: readonly string[]) => ({
    'day-month': `Day first${meaning(examples, (text) => readDate(text, 'day-month'))}`,
    'month-day': `Month first${meaning(examples, (text) => readDate(text, 'month-day'))}`,
  }),
};

const shortNumber = (text: string) => (/^-?\d+\.\d+$/.test(text) ? trimDecimal(text) : text);

function meaning(examples: readonly string[], read: (text: string) => string): string {
  const meanings = examples.map((example) => {
    const value = read(example);
    return value.startsWith('"') ? `${example} is rejected` : `${example} is ${value}`;
  });
  return meanings.length > 0 ? `: ${meanings.join(', ')}` : '';
}

/** The kinds whose records have no lines, with the fields that a table can fill. */
export const importTables = () =>
  Object.values(kinds).flatMap((kind) => (kind.isFlat ? { name: kind.name, fields: describeFields(kind) } : []));

/** The choices made in the form. */
export function choicesIn(upload: Upload, body: unknown): ImportChoices {
  const { columns, matches } = kinds[upload.kind];
  const all = inspectionOf(upload)?.columns ?? [];
  const map = new Map<string, string>();
  const taken = new Set(all.map(({ name }) => name));
  const first = firstOf(all);
  for (const [at, { name }] of all.slice(first).entries()) {
    const chosen = field(body, `field-${first + at}`);
    if (chosen === 'preset') continue;
    if (chosen === 'metadata') map.set(name, metadataProblem(name) === undefined ? name : metadataFieldOf(name, taken));
    else map.set(name, columns.includes(chosen) ? chosen : '');
  }
  const oneOf = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find((value) => value === field(body, name));
  return {
    map: Object.fromEntries(map),
    decimalPoint: oneOf('decimalPoint', ['.', ',']),
    dateOrder: oneOf('dateOrder', ['day-month', 'month-day']),
    match: oneOf('match', matches),
    type: oneOf('type', ['product', 'service']),
  };
}

export function mappingSection(visit: Visit, upload: Upload) {
  const { id, fileName, mapping, kind } = upload;
  const plan = planOf(upload);
  const { inspection, faults } = plan;
  // Another kind of record whose fields fit the columns better.
  const likelier = likelierKind(inspection, kind);
  const path = `/settings/imports/${id}`;
  const fields = html`${questionFields(plan)} ${plan.kind.matches.length > 1 && matchField(plan)}
    <div class="mapping">${columnFields(plan)}</div>
    ${kind === 'items' && selectField({ id: 'type', label: 'Items without a type are', options: types, chosen: mapping.type })}
    <button type="submit">Check the file</button>`;
  const content = html`<p>
      Nothing has been imported yet. Choose the field of each column; the first values show what it contains. The line
      that names the columns is not imported.
    </p>
    ${likelier && notice('plain', `These columns fit ${likelier} better than ${kind}. If the file contains ${likelier}, discard it and upload it again with that record type.`)}
    ${isHeaderBelow(inspection, kind) && notice('plain', headerBelow)}
    ${faults.length > 0 && notice('failed', faultList(faults))}
    ${postForm(visit, `${path}/columns`, fields, html` class="stack mapped" data-busy="Checking…"`)}
    ${discardForm(visit, upload)}`;
  return card('import', `What is in ${fileName}?`, content);
}

const headerBelow =
  'The names of the columns seem to be below the first line. If they are, delete everything above them, discard this file, and upload the corrected one.';

const types = { '': 'rejected', product: 'products', service: 'services' };

const faultList = (faults: readonly string[]) =>
  html`${faults.map((fault, index) => html`${index > 0 && html`<br />`}${sentence(fault)}`)}`;
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');

/** In the order of the file, with the field that each column fills now. */
function columnFields({ inspection: { columns }, kind, choices, fields, preset }: Plan) {
  const named = describeFields(kind).map(
    ({ name, label, type, isRequired }) => [name, `${label} (${type}${isRequired ? ', required' : ''})`] as const,
  );
  const first = firstOf(columns);
  return columns.slice(first).map(({ name, samples }, at) => {
    const index = at + first;
    const isUsual = preset !== undefined && chosenFor(choices, name) === undefined;
    const chosen = isUsual ? 'preset' : optionOf(fields[index], kind.columns);
    const options = {
      ...(preset && { preset: `Default for ${preset}` }),
      ...(chosen === 'id' && { id: 'ID (text)' }),
      '': 'Do not import',
      ...Object.fromEntries(named),
      metadata: 'Keep in metadata',
    };
    const id = `field-${index}`;
    return html`<div>
      <label for="${id}">${name}</label>
      <p class="quiet" id="${id}-values">${samples.length > 0 ? samples.join(' · ') : 'No values'}</p>
      <select id="${id}" name="${id}" aria-describedby="${id}-values">
        ${printOptions(options, chosen)}
      </select>
    </div>`;
  });
}

const questionTitles = {
  decimalPoint: 'How are numbers written in this file?',
  dateOrder: 'How are dates written in this file?',
};

/** Each reading, with how it interprets the examples. Earlier answers can be changed. */
function questionFields({ questions, choices }: Plan) {
  const answered = (['decimalPoint', 'dateOrder'] as const).filter((about) => choices[about]);
  return [...questions, ...answered.map((about) => ({ about, examples: [] }))].map(({ about, examples }) =>
    radioField({
      name: about,
      legend: questionTitles[about],
      options: readings[about](examples),
      chosen: choices[about],
    }),
  );
}

function matchField({ kind: { matches }, choices: { match = 'externalId' } }: Plan) {
  const known = 'A row changes the record that has its';
  const labels = {
    externalId: `${known} external ID, or creates one. Safe to import again.`,
    email: `${known} email address, or creates one. Every row needs an address.`,
    sku: `${known} SKU, or creates one. Every row needs a SKU.`,
    none: 'Every row creates a record, every time the file is imported.',
  };
  const options = Object.fromEntries(matches.map((value) => [value, labels[value]]));
  return radioField({ name: 'match', legend: 'Which record does a row change?', options, chosen: match });
}
