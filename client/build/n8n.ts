/** The generated sources of the package for n8n: what its node shows, and what its triggers wait for. */
import { events, recordEventTypes } from '../../contract/events.ts';
import { labelOf } from '../../contract/openapi/label.ts';
import { inputsOf } from './n8n-inputs.ts';
import { clean, option, sorted, titled } from './n8n-words.ts';
import type { Json } from './n8n-words.ts';
import type { Resource, Step } from './resources.ts';

/** The text of `properties.ts`: resource, operation, and the fields of each operation. */
export function propertiesText(resources: readonly Resource[]): string {
  const properties = [choice('Resource', 'resource', resources.map(resourceOption)), ...resources.flatMap(fieldsOf)];
  return [
    '/** Generated from the API’s contract. */',
    "import type { INodeProperties } from 'n8n-workflow';",
    "import { clearFields, explain, nextPage } from './requests';",
    `\nexport const properties: INodeProperties[] = ${literal(properties)};\n`,
  ].join('\n');
}

/** The text of `contract.ts`: what all parts of the package need. */
export function contractText(resources: readonly Resource[], baseUrl: string): string {
  const triggers = resources.flatMap(({ steps, triggers: own }) =>
    own.map((trigger) => ({ ...trigger, path: steps.list.path })),
  );
  const polled = triggers.map(({ type, label, summary }) => eventOption(type, label, summary));
  // Some events are not about one record, so no list finds them.
  const others = recordEventTypes
    .filter((type) => triggers.every((trigger) => trigger.type !== type))
    .map((type) => eventOption(type, type.replace('.', ' '), events[type].summary));
  const polls = triggers.map(({ type, path, filter, sort }) => {
    const hasStatus = Object.keys(filter).length > 0;
    return [type, { path, filter, time: sort.replace('-', ''), hasStatus }];
  });
  return [
    '/** Generated from the API’s contract. */',
    "import type { IDataObject, INodePropertyOptions } from 'n8n-workflow';",
    `\nexport const defaultUrl = ${JSON.stringify(baseUrl)};\n`,
    '/** How a list finds the records that an event is about. */',
    'export type Poll = { path: string; filter: IDataObject; time: string; hasStatus: boolean };\n',
    `export const polls: Record<string, Poll> = ${literal(Object.fromEntries(polls))};\n`,
    `export const polledEvents: INodePropertyOptions[] = ${literal(sorted(polled))};\n`,
    `export const events: INodePropertyOptions[] = ${literal(sorted([...polled, ...others]))};\n`,
  ].join('\n');
}

const eventOption = (type: string, label: string, summary: string) =>
  option(titled(label), type, { description: clean(summary) });

/** n8n's linter needs unquoted keys in object literals. `code clearFields` becomes an identifier, not a string. */
const literal = (value: unknown) =>
  JSON.stringify(value, undefined, 2)
    .replaceAll(/^(\s*)"([A-Za-z]\w*)":/gm, '$1$2:')
    .replaceAll(/"code (\w+)"/g, '$1');

const choice = (displayName: string, name: string, options: Json[], more: Json = {}): Json => ({
  displayName,
  name,
  type: 'options',
  noDataExpression: true,
  ...more,
  options: sorted(options),
  default: options[0]?.value,
});

const valueOf = ({ singular }: Resource) => singular.charAt(0).toLowerCase() + singular.slice(1);
const resourceOption = (resource: Resource) => option(resource.singular, valueOf(resource));

type Action = { name: string; value: string; action: string; description: string; step: Step; qs: Json };

const article = (noun: string) => (/^[AEIOU]/.test(noun) ? 'an' : 'a');

function actionsOf(resource: Resource): Action[] {
  const { singular, plural, steps, conflicts } = resource;
  const [one, many] = [`${article(singular)} ${singular.toLowerCase()}`, plural.toLowerCase()];
  const { list, get, create, update } = steps;
  const conflict = conflicts.includes('update') ? 'update' : conflicts[0];
  const [unless, value, outcome] =
    conflict === 'update'
      ? ['Create or Update', 'upsert', 'Create a new record, or update the current one if it already exists (upsert)']
      : ['Get or Create', 'getOrCreate', `Create ${one}, or return the one that has this external ID`];
  const action = (name: string, id: string, step: Step | undefined, more: Json = {}): Action[] =>
    step
      ? [{ name, value: id, step, qs: {}, action: `${name} ${one}`, description: clean(step.description), ...more }]
      : [];
  return [
    ...action('Get', 'get', get),
    ...action('Get Many', 'getAll', list, { action: `Get many ${many}`, description: `Get or search many ${many}` }),
    ...action('Create', 'create', create),
    ...(conflict === undefined
      ? []
      : action(unless, value, create, {
          action: `${labelOf(unless)} ${one}`,
          description: outcome,
          qs: { onConflict: conflict },
        })),
    ...action('Update', 'update', update),
  ];
}

function fieldsOf(resource: Resource): Json[] {
  const actions = actionsOf(resource);
  const show = { resource: [valueOf(resource)] };
  const options = actions.map(({ name, value, action, description, step, qs }) => {
    const url = step.path.replace('{id}', '{{ encodeURIComponent($parameter.recordId) }}');
    const request = { method: step.method, url: url === step.path ? url : `=${url}`, ...(qs.onConflict ? { qs } : {}) };
    const routing = { request, ...(value === 'getAll' ? paged : { output: { postReceive: ['code explain'] } }) };
    return option(name, value, { action, description, routing });
  });
  const shown = (action: Action) => ({ show: { ...show, operation: [action.value] } });
  return [
    choice('Operation', 'operation', options, { displayOptions: { show } }),
    ...actions.flatMap((action) =>
      inputsOf(resource, action).map((input) => {
        const { displayOptions, ...field } = input;
        const own = Object(Object(displayOptions).show);
        return { ...field, displayOptions: { show: { ...shown(action).show, ...own } } };
      }),
    ),
  ];
}

/** The records of a page become items; further pages follow for Return All. */
const paged = {
  operations: {
    pagination: {
      type: 'generic',
      properties: { continue: '={{ $response.body.pagination.hasMore }}', request: { qs: 'code nextPage' } },
    },
  },
  output: { postReceive: ['code explain', { type: 'rootProperty', properties: { property: 'data' } }] },
};
