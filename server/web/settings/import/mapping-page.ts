/** What the columns of an uploaded file mean: each with its first values beside the field that it fills. */
import type { Upload, ImportChoices } from '../../../entities/upload.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { printOptions, selectField } from '../fields.ts';
import { buttonForm, postForm, radioField } from '../forms.ts';
import { card, notice } from '../sections.ts';
import type { Visit } from '../visit.ts';
import type { MappingForm } from './mapping.ts';

const kept = { preset: 'preset', metadata: 'metadata', nothing: '' };

export function mappingSection(visit: Visit, { id, fileName, mapping, kind }: Upload, form: MappingForm): Html {
  const path = `/settings/imports/${id}`;
  const fields = html`${form.questions.map((question) => questionField(question, mapping))}
    <div class="mapping">${form.columns.map((column) => columnField(column, form))}</div>
    ${kind === 'items' && selectField({ id: 'type', label: 'Items without a type are', options: types, chosen: mapping.type })}
    ${form.matches.length > 1 && matchField(form, mapping.match ?? 'externalId')}
    <button type="submit">Check the file</button>`;
  const content = html`<p>
      Nothing has been imported yet. Choose the field of each column; the first values show what it contains.
    </p>
    ${form.likelierKind && notice('plain', `These columns fit ${form.likelierKind} better than ${kind}. If the file contains ${form.likelierKind}, discard it and upload it again with that record type.`)}
    ${form.faults.length > 0 && notice('failed', faultList(form.faults))}
    ${postForm(visit, `${path}/columns`, fields, html` class="stack mapped" data-busy="Checking…"`)}
    ${buttonForm(visit, `${path}/discard`, 'Discard the file')}`;
  return card('import', `What is in ${fileName}?`, content);
}

const types = { '': 'rejected', product: 'products', service: 'services' };

const faultList = (faults: readonly string[]): Html =>
  html`${faults.map((fault, index) => html`${index > 0 && html`<br />`}${sentence(fault)}`)}`;
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');

function columnField({ index, name, samples, chosen }: MappingForm['columns'][number], form: MappingForm): Html {
  const id = `field-${index}`;
  const fields = form.fields.map(({ name: field, label, type, isRequired }) => [
    field,
    `${label} (${type}${isRequired ? ', required' : ''})`,
  ]);
  const options = {
    ...(form.preset && { [kept.preset]: `As usual for ${form.preset}` }),
    [kept.nothing]: 'Do not import',
    ...Object.fromEntries(fields),
    [kept.metadata]: 'Keep in metadata',
  };
  return html`<div>
    <label for="${id}">${name}</label>
    <p class="quiet" id="${id}-values">${samples.length > 0 ? samples.join(' · ') : 'No values'}</p>
    <select id="${id}" name="${id}" aria-describedby="${id}-values">
      ${printOptions(options, chosen)}
    </select>
  </div>`;
}

const questionTitles = {
  decimalPoint: 'How are numbers written in this file?',
  dateOrder: 'How are dates written in this file?',
};

const questionField = ({ about, readings }: MappingForm['questions'][number], mapping: ImportChoices): Html =>
  radioField({ name: about, legend: questionTitles[about], options: readings, chosen: mapping[about] });

function matchField({ matches }: MappingForm, chosen: string): Html {
  const known = 'A row changes the record that has its';
  const labels = {
    externalId: `${known} external ID, or creates one. Safe to import again.`,
    email: `${known} email address, or creates one. Every row needs an address.`,
    sku: `${known} SKU, or creates one. Every row needs a SKU.`,
    none: 'Every row creates a record, again each time that the file is imported.',
  };
  const options = Object.fromEntries(matches.map((value) => [value, labels[value]]));
  return radioField({ name: 'match', legend: 'Which record does a row change?', options, chosen });
}
