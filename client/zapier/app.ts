/** The app for Zapier's CLI, built from the contract: triggers, searches and creates for every resource. */
import type { Resource, Step, Trigger } from '../build/resources.ts';
import { authenticationOf, authorize, explain } from './authentication.ts';
import type { Connection } from './authentication.ts';
import { bodyOf, inputField, isOutput, outputField, queryOf } from './fields.ts';
import type { Bundle, Perform, Values, Z } from './platform.ts';

export type Contract = Connection & { version: string; platformVersion: string; resources: Resource[] };

type Action = { key: string; noun: string; display: { label: string; description: string }; operation: Operation };
type Operation = { perform: Perform<unknown>; sample: Values; [more: string]: unknown };

/** How many records a poll sees, and how many a search returns. */
const page = { poll: 100, search: 10 };

export function createApp(contract: Contract): object {
  const { baseUrl, version, platformVersion, resources } = contract;
  const actions = resources.map((resource) => actionsOf(resource, contract));
  const byKey = (kind: 'triggers' | 'searches' | 'creates') =>
    Object.fromEntries(actions.flatMap((one) => one[kind]).map((action) => [action.key, action]));
  return {
    version,
    platformVersion,
    authentication: authenticationOf(contract),
    beforeRequest: [authorize(baseUrl)],
    afterResponse: [explain],
    triggers: byKey('triggers'),
    searches: byKey('searches'),
    creates: byKey('creates'),
    searchOrCreates: Object.fromEntries(actions.flatMap((one) => one.searchOrCreates)),
  };
}

const keyOf = (text: string) => text.toLowerCase().replaceAll(/\W+/g, '_');

function actionsOf(resource: Resource, { baseUrl, resources }: Contract) {
  const { steps, singular } = resource;
  const dropdownOf = (name: string) => {
    const other = resources.find((one) => one.name === name);
    return other && `${keyOf(`${other.singular} created`)}.id.${other.title}`;
  };
  const parts = { resource, at: (path: string) => baseUrl + path, dropdownOf };
  const searches = [find(parts), get(parts)];
  const creates = [
    ...(steps.create ? [create(parts, steps.create)] : []),
    ...(steps.create && resource.conflicts.length > 0 ? [createUnlessThere(parts, steps.create)] : []),
    ...(steps.update ? [update(parts, steps.update)] : []),
  ];
  const key = keyOf(`find ${singular}`);
  const label = `Find or Create ${singular}`;
  const pair = { key, display: { label, description: `${label}.` }, search: key, create: keyOf(`create ${singular}`) };
  return {
    triggers: resource.triggers.map((trigger) => polled(parts, trigger)),
    searches,
    creates,
    searchOrCreates: steps.create ? [[key, pair] as const] : [],
  };
}

type Parts = {
  resource: Resource;
  at: (path: string) => string;
  dropdownOf: (resource: string) => string | undefined;
};

function actionOf({ resource }: Parts, label: string, description: string, operation: Operation | object): Action {
  const { singular, record, sample } = resource;
  const outputFields = record.filter(isOutput).map((field) => outputField(field));
  return {
    key: keyOf(label),
    noun: singular,
    display: { label, description },
    // `operation` has the properties that are missing here.
    operation: { outputFields, sample, ...operation } as Operation,
  };
}

/** `A customer was created.` → `a customer is created.` */
const inPresent = (summary: string) =>
  (summary.charAt(0).toLowerCase() + summary.slice(1)).replace(' was ', ' is ').replace(' expired ', ' expires ');

/** Newest first, which is what Zapier expects: it remembers the records that it has seen. */
function polled(parts: Parts, { label, summary, type, filter, sort }: Trigger): Action {
  const { steps, record } = parts.resource;
  const include = steps.list.fields.filter(({ name }) => name === 'include');
  const primary = type.endsWith('.updated') ? ['id', 'updatedAt'] : ['id'];
  const perform = async (z: Z, { inputData }: Bundle) => {
    const params = { ...queryOf(include, inputData), ...filter, sort, limit: page.poll };
    return dataOf(await z.request({ url: parts.at(steps.list.path), params }));
  };
  return actionOf(parts, label, `Triggers when ${inPresent(summary)}`, {
    type: 'polling',
    perform,
    inputFields: include.map((field) => inputField(field, parts.dropdownOf)),
    outputFields: record.filter(isOutput).map((field) => outputField(field, primary)),
  });
}

function find(parts: Parts): Action {
  const { singular, plural, steps } = parts.resource;
  // Filters by time come last: people seldom search by them.
  const fields = steps.list.fields.toSorted(
    (one, other) => Number(one.kind === 'time') - Number(other.kind === 'time'),
  );
  const filters = fields.filter(({ name }) => name !== 'include');
  const perform = async (z: Z, { inputData }: Bundle) => {
    // Without a filter, any record would match, and the next step would change the wrong one.
    if (Object.keys(queryOf(filters, inputData)).length === 0) return [];
    const params = { ...queryOf(fields, inputData), limit: page.search };
    return dataOf(await z.request({ url: parts.at(steps.list.path), params }));
  };
  return actionOf(parts, `Find ${singular}`, `Finds ${plural.toLowerCase()} by search and filters.`, {
    perform,
    inputFields: fields.map((field) => inputField(field, parts.dropdownOf)),
  });
}

/** A search that finds nothing returns an empty list. */
function get(parts: Parts): Action {
  const { singular, steps } = parts.resource;
  const perform = async (z: Z, { inputData }: Bundle) => {
    const url = parts.at(withId(steps.get, inputData));
    const { status, data } = await z.request({ url, skipThrowForStatus: true });
    return status === 404 ? [] : [data];
  };
  return actionOf(parts, `Get ${singular}`, steps.get.description, { perform, inputFields: [idField(parts)] });
}

const create = (parts: Parts, step: Step): Action =>
  actionOf(parts, `Create ${parts.resource.singular}`, step.description, {
    perform: sending(parts, step, {}),
    inputFields: step.fields.map((field) => inputField(field, parts.dropdownOf)),
  });

/** A step that runs twice creates one record: the externalId identifies it. */
function createUnlessThere(parts: Parts, step: Step): Action {
  const { singular, conflicts } = parts.resource;
  const updates = conflicts.includes('update');
  const label = updates ? `Create or Update ${singular}` : `Get or Create ${singular}`;
  const outcome = updates ? 'updates the one that has this external ID' : 'returns the one that has this external ID';
  const fields = step.fields.map((field) => (field.name === 'externalId' ? { ...field, required: true } : field));
  return actionOf(parts, label, `Creates a new ${singular.toLowerCase()}, or ${outcome}.`, {
    perform: sending(parts, step, { onConflict: updates ? 'update' : 'return' }),
    inputFields: fields
      .toSorted((one, other) => Number(other.name === 'externalId') - Number(one.name === 'externalId'))
      .map((field) => inputField(field, parts.dropdownOf)),
  });
}

function update(parts: Parts, step: Step): Action {
  const { singular } = parts.resource;
  const clear = {
    key: 'clear',
    label: 'Fields to Clear',
    helpText: 'An empty field stays as it is. Choose the fields to clear.',
    choices: Object.fromEntries(step.fields.filter((field) => field.clearable).map(({ name, label }) => [name, label])),
    list: true,
  };
  const fields = step.fields.map((field) => inputField({ ...field, required: false }, parts.dropdownOf));
  return actionOf(parts, `Update ${singular}`, step.description, {
    perform: sending(parts, step, {}),
    inputFields: [idField(parts), ...fields, clear],
  });
}

const sending =
  ({ at }: Parts, step: Step, params: Values): Perform<unknown> =>
  async (z, { inputData }) => {
    const { method, fields } = step;
    const url = at(withId(step, inputData));
    return (await z.request({ method, url, params, body: bodyOf(fields, inputData) })).data;
  };

const withId = ({ path }: Step, { id }: Values) => path.replace('{id}', encodeURIComponent(String(id)));

function idField({ resource, dropdownOf }: Parts): object {
  const { name, singular } = resource;
  const search = `${keyOf(`find ${singular}`)}.id`;
  return { key: 'id', label: singular, required: true, dynamic: dropdownOf(name), search };
}

const dataOf = ({ data }: { data: unknown }) => (data as { data: unknown[] }).data;
