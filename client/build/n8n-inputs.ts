/** The inputs of n8n's node: the contract's fields, and how their values are sent. */
import { clean, option, sorted, titled, values } from './n8n-words.ts';
import type { Json } from './n8n-words.ts';
import type { Field } from './resource-fields.ts';
import type { Resource, Step } from './resources.ts';

/** The inputs of an operation, `value`. */
export function inputsOf(resource: Resource, { value, step }: { value: string; step: Step }): Json[] {
  if (value === 'getAll') return listInputs(resource);
  if (value === 'get') return [recordId(resource)];
  if (value === 'update') {
    const fields = step.fields.map((field) => inputOf({ ...field, required: false }, 'body'));
    return [recordId(resource), collection('Update Fields', 'updateFields', 'Field', [...fields, clearInput(step)])];
  }
  const isRequired = (field: Field) => field.required || (value !== 'create' && field.name === 'externalId');
  const required = step.fields.filter(isRequired).map((field) => inputOf({ ...field, required: true }, 'body'));
  const others = step.fields.filter((field) => !isRequired(field)).map((field) => inputOf(field, 'body'));
  return [...required, collection('Additional Fields', 'additionalFields', 'Field', others)];
}

function listInputs({ steps, sorts }: Resource): Json[] {
  const isOption = ({ name }: Field) => name === 'include';
  const [search, fields] = [steps.list.fields.filter(isSearch), steps.list.fields.filter((field) => !isSearch(field))];
  const inputs = (of: readonly Field[]) => of.map((field) => inputOf(field, 'query'));
  return [
    ...paging,
    ...inputs(search).map((input) => ({ ...input, routing: searchRouting })),
    collection('Filters', 'filters', 'Filter', inputs(fields.filter((field) => !isOption(field)))),
    collection('Options', 'options', 'Option', [sortInput(sorts), ...inputs(fields.filter(isOption))]),
  ];
}

const isSearch = ({ name }: Field) => name === 'q';
const searchRouting = { send: { type: 'query', property: 'q', value: '={{ $value || undefined }}' } };

const paging: Json[] = [
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    description: 'Whether to return all results or only up to a given limit',
    routing: { send: { paginate: '={{ $value }}', type: 'query', property: 'limit', value: '100' } },
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    displayOptions: { show: { returnAll: [false] } },
    typeOptions: { minValue: 1, maxValue: 100 },
    default: 50,
    description: 'Max number of results to return',
    routing: { send: { type: 'query', property: 'limit' }, output: { maxResults: '={{ $value }}' } },
  },
];

const sortInput = (sorts: readonly string[]): Json => ({
  displayName: 'Sort',
  name: 'sort',
  type: 'options',
  options: sorted(sorts.map((one) => option(sortName(one), one))),
  default: sorts[1],
  routing: { send: { type: 'query', property: 'sort' } },
});

const sortName = (sort: string) =>
  `${titled(sort.replace('-', '').replaceAll(/(?=[A-Z])/g, ' '))} ${sort.startsWith('-') ? 'Descending' : 'Ascending'}`;

const collection = (displayName: string, name: string, what: string, options: Json[]): Json => ({
  displayName,
  name,
  type: 'collection',
  placeholder: `Add ${what}`,
  default: {},
  options: sorted(options),
});

/** A drop-down of the newest records. */
const recordId = ({ singular, steps, title }: Resource): Json => ({
  displayName: `${singular} Name or ID`,
  name: 'recordId',
  type: 'options',
  required: true,
  default: '',
  description:
    'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
  typeOptions: {
    loadOptions: {
      routing: {
        request: { method: 'GET', url: steps.list.path, qs: { limit: 100 } },
        output: {
          postReceive: [
            'code explain',
            { type: 'rootProperty', properties: { property: 'data' } },
            {
              type: 'setKeyValue',
              properties: { name: `={{ $responseItem.${title} }}`, value: '={{ $responseItem.id }}' },
            },
          ],
        },
      },
    },
  },
});

const clearInput = ({ fields }: Step): Json => ({
  displayName: 'Fields to Clear',
  name: 'clear',
  type: 'multiOptions',
  options: sorted(fields.filter((field) => field.clearable).map((field) => option(titled(field.label), field.name))),
  default: [],
  description: 'Fields that you do not add stay as they are; these are cleared',
  routing: { send: { preSend: ['code clearFields'] } },
});

/** As texts between commas. Nothing is sent for an empty value, which would remove every stored one. */
const split =
  '={{ Array.isArray($value) ? $value : $value?.toString().match(/[^,\\s][^,]*/g)?.map((one) => one.trim()) }}';
const commas = '={{ Array.isArray($value) ? $value.join(",") : $value }}';
const sentAs: Partial<Record<Field['kind'], string>> = {
  // A time without a zone is in the time zone of the workflow; the API rejects anything that is not a time.
  time: '={{ DateTime.fromISO(String($value)).toUTC().toISO() ?? $value }}',
  pairs: '={{ Object.fromEntries(($value.pair ?? []).map((pair) => [pair.key, pair.value])) }}',
  choices: commas,
  list: commas,
};

function inputOf(field: Field, place: 'query' | 'body'): Json {
  const { name, kind, required } = field;
  const value = kind === 'list' && place === 'body' ? split : sentAs[kind];
  return {
    displayName: titleOf(field),
    name: name.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    ...shapeOf(field),
    ...(required && { required }),
    ...hintsOf(field),
    routing: { send: { type: place, property: name, ...(value !== undefined && { value }) } },
  };
}

const titleOf = ({ label }: Field) => titled(label.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()));

function hintsOf(field: Field): Json {
  const { kind, help, example } = field;
  const separated = kind === 'list' ? `${help.replace(/\.$/, '')}. Separate several with commas.` : help;
  const description = clean(separated);
  const isText = kind === 'text' || kind === 'longText';
  return {
    ...(kind === 'email' && { placeholder: 'name@email.com' }),
    ...(isText && typeof example === 'string' && { placeholder: `e.g. ${example}` }),
    // n8n omits a description that only repeats the name.
    ...(description.toLowerCase() !== titleOf(field).toLowerCase() && description !== '' && { description }),
  };
}

function shapeOf({ kind, choices, default: fallback }: Field): Json {
  const options = values(choices);
  const shapes: Partial<Record<Field['kind'], Json>> = {
    boolean: { type: 'boolean', default: fallback ?? false },
    integer: { type: 'number', default: fallback ?? 0 },
    time: { type: 'dateTime', default: '' },
    choice: { type: 'options', options, default: fallback ?? options[0]?.value },
    choices: { type: 'multiOptions', options, default: [] },
    longText: { type: 'string', typeOptions: { rows: 4 }, default: '' },
    pairs: { type: 'fixedCollection', typeOptions: { multipleValues: true }, default: {}, options: [pair] },
  };
  return shapes[kind] ?? { type: 'string', default: '' };
}

const pair = {
  displayName: 'Pair',
  name: 'pair',
  values: ['Key', 'Value'].map((name) => ({
    displayName: name,
    name: name.toLowerCase(),
    type: 'string',
    default: '',
  })),
};
