/** The triggers of custom connectors: lists that a flow polls for changes. */

type Json = Record<string, unknown>;
type Operations = Record<string, Record<string, Json>>;

const polled = [
  { path: '/v1/customers', operationId: 'OnNewCustomer', summary: 'When a customer is created', field: 'created' },
  {
    path: '/v1/proposals',
    operationId: 'OnProposalStatus',
    summary: 'When the status of a proposal changes',
    field: 'statusChanged',
  },
];

export function triggers(operations: Operations): Operations {
  return Object.fromEntries(
    polled.map(({ path, field, ...names }) => {
      const list = operations[path]?.get;
      if (!list) throw new Error(`There is no list at ${path}.`);
      const trigger = {
        ...list,
        ...names,
        description: `Polls for changes, oldest first. For the trigger state, use the parameter \`${field}Since\`, with the newest \`${field}At\` as its value.`,
        'x-ms-trigger': 'batch',
        'x-ms-trigger-metadata': { kind: 'query', mode: 'polling' },
        parameters: [list.parameters].flat().map((parameter) => sortedBy(`${field}At`, Object(parameter))),
      };
      // A path can have only one GET. The server accepts a trailing slash, so this is a separate path.
      return [`${path}/`, { get: trigger }];
    }),
  );
}

/** The order is fixed: the connector sends it without showing it. */
function sortedBy(field: string, parameter: Json): Json {
  if (parameter.name !== 'sort') return parameter;
  const fixed = { required: true, default: field, 'x-example': field, 'x-ms-visibility': 'internal' };
  return { ...parameter, ...fixed };
}
