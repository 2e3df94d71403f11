/** The triggers of custom connectors: lists that a flow polls for changes. */
import type { Json } from './swagger-schemas.ts';

type Operations = Record<string, Record<string, Json>>;

const polled = [
  {
    path: '/v1/customers',
    operationId: 'OnNewCustomer',
    summary: 'When a customer is created',
    since: 'createdSince',
    // Imported customers share one `createdAt`: that of the last one on a page would lead to the same page again.
    value: '`syncedThrough`',
    sort: 'updatedAt',
  },
  {
    path: '/v1/proposals',
    operationId: 'OnProposalStatus',
    summary: 'When the status of a proposal changes',
    since: 'statusChangedSince',
    value: 'the newest `statusChangedAt`',
    sort: 'statusChangedAt',
  },
];

export function triggers(operations: Operations): Operations {
  return Object.fromEntries(
    polled.map(({ path, since, value, sort, ...names }) => {
      const list = operations[path]?.get;
      if (!list) throw new Error(`There is no list at ${path}.`);
      const trigger = {
        ...list,
        ...names,
        description: `Polls for changes, oldest first. For the trigger state, use the parameter \`${since}\`, with ${value} as its value.`,
        'x-ms-trigger': 'batch',
        'x-ms-trigger-metadata': { kind: 'query', mode: 'polling' },
        parameters: [list.parameters].flat().map((parameter) => fixed({ sort, limit: 100 }, Object(parameter))),
      };
      // A path can have only one GET. The server accepts a trailing slash, so this is a separate path.
      return [`${path}/`, { get: trigger }];
    }),
  );
}

/** The connector sends these values without showing them. */
function fixed(values: Json, parameter: Json): Json {
  const value = values[String(parameter.name)];
  if (value === undefined) return parameter;
  return { ...parameter, required: true, default: value, 'x-example': value, 'x-ms-visibility': 'internal' };
}
