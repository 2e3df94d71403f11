/** Changes by which contract, entities, handlers, client and document would drift apart, and who notices each. */

export type Mutation = {
  what: string;
  file: string;
  from: string;
  to: string;
  /** Where the compiler complains, and a part of what it says. */
  caught: [file: string, text: string];
};

const [customers, items, proposals] = ['contract/customers.ts', 'contract/items.ts', 'contract/proposals.ts'];
const client = 'client/generated.ts';
const field = `text(10, { description: 'New.', example: 'New' })`;
const unproved = `to parameter of type 'OrganizationId'`;
const parameter = `textParameter(10, { description: 'New.', examples: ['new'] })`;

/** Each group is compiled at once: its changes are far enough apart to be told by what the compiler says. */
export const groups: Record<string, Mutation[]> = {
  'a promise that nobody implements': [
    {
      what: 'a filter that no handler reads',
      file: customers,
      from: 'email: emailParameter(',
      to: `region: ${parameter}, email: emailParameter(`,
      caught: ['server/api/customers.ts', `'region' is missing`],
    },
    {
      what: 'a sort without an order',
      file: items,
      from: `sortsBy('name')`,
      to: `[...sortsBy('name'), 'price'] as const`,
      caught: ['server/api/items.ts', `'price' is missing`],
    },
    {
      what: 'a field of an update that no entity has',
      file: customers,
      from: '  id: serverSet(',
      to: `  nickname: { update: optional(${field}).update },\n  id: serverSet(`,
      caught: ['server/records/customer.ts', 'nickname'],
    },
    {
      what: 'a field of a create that no entity has: items',
      file: items,
      from: '  unit: optional(',
      to: `  colour: { create: optional(${field}).create }, unit: optional(`,
      caught: ['server/records/item.ts', 'colour'],
    },
    {
      what: 'a filter that no handler reads: proposals',
      file: proposals,
      from: '  number: textParameter(50',
      to: `  title: ${parameter}, number: textParameter(50`,
      caught: ['server/api/proposals.ts', `'title' is missing`],
    },
    {
      what: 'a field that no handler returns: customers',
      file: customers,
      from: '  id: serverSet(',
      to: '  loyalty: { record: z.int() },\n  id: serverSet(',
      caught: ['server/records/customer.ts', 'loyalty'],
    },
    {
      what: 'a field that no handler returns: items',
      file: items,
      from: `  id: { record: fields.id('item') },`,
      to: `  id: { record: fields.id('item') }, weight: { record: z.int() },`,
      caught: ['server/records/item.ts', 'weight'],
    },
    {
      what: 'a field that no handler returns: proposals',
      file: proposals,
      from: `  id: fields.id('proposal'),`,
      to: `  id: fields.id('proposal'), revision: z.int(),`,
      caught: ['server/records/proposal.ts', 'revision'],
    },
    {
      what: 'a field that no handler returns: lines',
      file: 'contract/line-items.ts',
      from: `    id: fields.id('line'),`,
      to: `    id: fields.id('line'), margin: z.int(),`,
      caught: ['server/records/proposal.ts', 'margin'],
    },
    {
      what: 'a field that no handler returns: me',
      file: 'contract/me.ts',
      from: '    label: ',
      to: '    region: z.string(), label: ',
      caught: ['server/api/me.ts', 'region'],
    },
  ],
  'contract and entity disagree': [
    {
      what: 'a field of a create that no entity has: customers',
      file: customers,
      from: '  id: serverSet(',
      to: `  fax: { create: optional(${field}).create },\n  id: serverSet(`,
      caught: ['server/records/customer.ts', 'fax'],
    },
    {
      what: 'a field that can be cleared, and is never null where it is stored',
      file: customers,
      from: '  name: defaulted(name),',
      to: '  name: { ...defaulted(name), update: optional(name).update },',
      caught: ['server/records/customer.ts', `'string | null | undefined' is not assignable`],
    },
    {
      what: 'a value of a closed set that no entity stores',
      file: items,
      from: `itemTypes = ['product', 'service']`,
      to: `itemTypes = ['product', 'service', 'bundle']`,
      caught: ['server/records/item.ts', 'bundle'],
    },
    {
      what: 'a filter that the contract no longer has',
      file: proposals,
      from: '  expiresBefore: beforeParameter(',
      to: '  expiresEarlier: beforeParameter(',
      caught: ['server/api/proposals.ts', 'expiresBefore'],
    },
    {
      what: 'a field that is never null in the contract, and can be where it is stored',
      file: items,
      from: '  unit: optional(',
      to: '  unit: required(',
      caught: ['server/records/item.ts', `| null' is not assignable to type 'string'`],
    },
    {
      what: 'a number that is a text in the contract',
      file: 'contract/me.ts',
      from: `limit: fields.wholeNumber({ min: 0 }, 'Requests allowed per window.', rateLimit.limit)`,
      to: 'limit: z.string()',
      caught: ['server/api/me.ts', `'number' is not assignable to type 'string'`],
    },
    {
      what: 'a property that the entity no longer has',
      file: 'server/entities/customer.ts',
      from: '    taxId: optionalText(),',
      to: '',
      caught: ['server/records/customer.ts', 'taxId'],
    },
    {
      what: 'a property that can be null where it is stored',
      file: 'server/entities/proposal.ts',
      from: '    title: p.text(),',
      to: '    title: optionalText(),',
      caught: ['server/records/proposal.ts', 'title'],
    },
    {
      what: 'an order by a property that is not read',
      file: 'server/api/proposals.ts',
      from: `statusChangedAt: 'statusChangedAt' }`,
      to: `statusChangedAt: 'search' }`,
      caught: ['server/api/proposals.ts', `'"search"' is not assignable`],
    },
  ],
  'an organization that nobody proved': [
    {
      what: 'an id from parsed JSON',
      file: 'server/web/settings/records/record-routes.ts',
      from: `forOrganization(context.database, organization.id)`,
      to: `forOrganization(context.database, JSON.parse(organization.name))`,
      caught: ['server/web/settings/records/record-routes.ts', unproved],
    },
    {
      what: 'an id from a body',
      file: 'server/http/oauth.ts',
      from: `forOrganization(database, key.organization.id)`,
      to: `forOrganization(database, Object(body).organization)`,
      caught: ['server/http/oauth.ts', unproved],
    },
    {
      what: 'an id from a property by its name',
      file: 'server/demo/demo.ts',
      from: `forOrganization(database, found.id)`,
      to: `forOrganization(database, Reflect.get(found, 'organization'))`,
      caught: ['server/demo/demo.ts', unproved],
    },
    {
      what: 'an id from a list',
      file: 'server/webhooks/render.ts',
      from: `forOrganization(database, endpoint.organizationId)`,
      to: `forOrganization(database, Array.isArray(claimed) ? claimed[0] : endpoint)`,
      caught: ['server/webhooks/render.ts', unproved],
    },
  ],
  'an implementation of something else': [
    {
      what: 'an operation without a handler',
      file: items,
      from: '  get: {\n',
      to: `  peek: { method: 'GET', path: '/items/peek', responses: { 200: item } },\n  get: {\n`,
      caught: ['server/api/items.ts', 'peek'],
    },
    {
      what: 'a handler for an operation that the contract does not have',
      file: 'server/api/proposals.ts',
      from: '  async get({ params }, caller) {',
      to: '  async accept({ params }: { params: { proposalId: string } }) { return record(params); },\n  async get({ params }, caller) {',
      caught: ['server/api/proposals.ts', 'accept'],
    },
    {
      what: 'a field that the client’s record lacks',
      file: client,
      from: '  taxId: string | null;',
      to: '',
      caught: ['test/client/drift.test.ts', 'expectTypeOf<ClientBodies>'],
    },
    {
      what: 'a parameter that the client’s query lacks',
      file: client,
      from: '  sku?: string | undefined;',
      to: '',
      caught: ['test/client/drift.test.ts', 'keyof api.ItemListQuery'],
    },
    {
      what: 'a field that the client’s body lacks',
      file: client,
      from: '  unitPrice: string | number;',
      to: '',
      caught: ['test/client/drift.test.ts', 'api.ItemCreate'],
    },
    {
      what: 'a field that the handler leaves out',
      file: 'server/records/customer.ts',
      from: '    website: uriOrNull(customer.website),\n',
      to: '',
      caught: ['server/records/customer.ts', 'website'],
    },
    {
      what: 'a field that the contract does not have',
      file: 'server/records/item.ts',
      from: `    unitPrice: printPrice(item.unitPrice, item.currency),`,
      to: `    unitPrice: printPrice(item.unitPrice, item.currency), nameKey: item.name,`,
      caught: ['server/records/item.ts', 'nameKey'],
    },
    {
      what: 'a filter that the handler leaves out',
      file: 'server/api/items.ts',
      from: `  category: (value) => marked('category', value),`,
      to: '',
      caught: ['server/api/items.ts', `'category' is missing`],
    },
    {
      what: 'a filter that the contract does not have',
      file: 'server/api/proposals.ts',
      from: `  number: (value) => exactly('number', value),`,
      to: `  number: (value) => exactly('number', value), title: (value: string) => exactly('title', value),`,
      caught: ['server/api/proposals.ts', `'title' does not exist`],
    },
    {
      what: 'a condition on a property that the entity does not have',
      file: 'server/api/customers.ts',
      from: `equal('emailKey'`,
      to: `equal('mailKey'`,
      caught: ['server/api/customers.ts', 'mailKey'],
    },
    {
      what: 'a status that the operation does not have',
      file: 'server/api/me.ts',
      from: 'plain(',
      to: `created({ id: 'key' }, '/v1/me') || plain(`,
      caught: ['server/api/me.ts', 'created'],
    },
  ],
};

/** Changes that compile: the published document tells. */
export const published: Omit<Mutation, 'caught'>[] = [
  { what: 'a shorter longest text', file: customers, from: 'const name = text(200', to: 'const name = text(150' },
  { what: 'a different default', file: 'contract/list.ts', from: `default: '-createdAt'`, to: `default: 'createdAt'` },
  { what: 'a status less', file: items, from: '...problems(409, 413, 415, 422)', to: '...problems(413, 415, 422)' },
  { what: 'a header less', file: customers, from: '    headers: ifMatch,\n', to: '' },
  {
    what: 'a value less in a closed set',
    file: proposals,
    from: `'expired', 'canceled'] as const`,
    to: `'expired'] as const`,
  },
  { what: 'a parameter less', file: items, from: `  sku: textParameter(100`, to: `  skus: textParameter(100` },
];

/** Changes of the client's generated part that compile: it is compared with what the contract generates. */
export const generatedOtherwise: Omit<Mutation, 'caught' | 'file'>[] = [
  {
    what: 'an operation less',
    from: `    create: { method: 'POST', path: '/v1/items', body: true, headers: ['idempotency-key'] },`,
    to: '',
  },
  { what: 'another path', from: `'/v1/proposals/:proposalId'`, to: `'/v1/proposal/:proposalId'` },
  { what: 'another method', from: `method: 'PATCH'`, to: `method: 'PUT'` },
];
