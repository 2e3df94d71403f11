/**
 * The contract as no-code tools see it: resources, their steps and their fields, with labels, help and samples. The
 * packages for n8n and Zapier are built from this, so a new field or operation reaches both.
 */
import type { Document, Operation, Schema } from '../../contract/openapi/document.ts';
import { labelOf } from '../../contract/openapi/label.ts';
import { fieldsOf, filterOf } from './resource-fields.ts';
import type { Field } from './resource-fields.ts';

export type Step = {
  method: string;
  /** Without the base URL; `{id}` stands for the id of the record. */
  path: string;
  summary: string;
  description: string;
  /** Body of a create or update, filters of a list. */
  fields: Field[];
};

export type Trigger = { type: string; label: string; summary: string; filter: Record<string, string>; sort: string };

export type Resource = {
  name: string;
  singular: string;
  plural: string;
  /** The field by which people know a record. */
  title: string;
  steps: { list: Step; get: Step; create?: Step; update?: Step };
  /** How a list may be sorted, and what it may include. */
  sorts: string[];
  /** What a create can do if another record has the externalId: `update`, `return`. */
  conflicts: string[];
  record: Field[];
  sample: Record<string, unknown>;
  triggers: Trigger[];
};

/** Parameters that tools set on their own, to read page by page and choose the order. */
const ofPaging = new Set(['limit', 'cursor', 'sort']);

/** The resources of the document: each path that lists records, and the operations beside it. */
export function resourcesOf(document: Document): Resource[] {
  const names = Object.keys(document.paths).flatMap((path) => /^\/v1\/(\w+)\/\{\w+\}$/.exec(path)?.[1] ?? []);
  return names.map((name) => resourceOf(name, document));
}

function resourceOf(name: string, document: Document): Resource {
  const operations = operationsBelow(`/v1/${name}`, document);
  const steps = Object.fromEntries(
    Object.entries(operations).map(([place, operation]) => {
      const step = stepNames[place];
      if (step === undefined) throw new Error(`No-code tools have no step for ${operation.operationId}.`);
      return [step, stepOf(place, `/v1/${name}`, operation, document)];
    }),
  );
  const { GET: list, POST: create, 'GET /{id}': get } = operations;
  if (!list || !get) throw new Error(`${name} cannot be listed and read.`);
  const singular = get.operationId.replace('get', '');
  const record = fieldsOf(responseOf(get).schema, document);
  return {
    name,
    singular,
    plural: labelOf(name),
    title: record.some((field) => field.name === 'name') ? 'name' : 'title',
    // The steps that every resource has were checked above.
    steps: steps as Resource['steps'],
    sorts: choicesOf(list, 'sort'),
    conflicts: create ? choicesOf(create, 'onConflict').filter((choice) => choice !== 'error') : [],
    record,
    // The example of a record is an object.
    sample: responseOf(get).example as Record<string, unknown>,
    triggers: triggersOf(singular, list, document),
  };
}

const stepNames: Record<string, string> = { GET: 'list', 'GET /{id}': 'get', POST: 'create', 'PATCH /{id}': 'update' };

/** The operations of a resource by method and what follows its path: `GET`, `PATCH /{id}`. */
function operationsBelow(root: string, { paths }: Document): Record<string, Operation> {
  const own = Object.entries(paths).filter(([path]) => `${path}/`.startsWith(`${root}/`));
  const named = own.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path.slice(root.length).replace(/\{\w+\}/, '{id}')}`.trim(),
      operation,
    ]),
  );
  return Object.fromEntries(named);
}

const parameterOf = ({ parameters }: Operation, name: string) => parameters.find((one) => one.name === name);
const choicesOf = (operation: Operation, name: string) => (parameterOf(operation, name)?.schema.enum ?? []).map(String);

function responseOf({ operationId, responses }: Operation): { schema: Schema; example?: unknown } {
  const [content] = Object.values(responses[200]?.content ?? {});
  if (!content) throw new Error(`${operationId} has no response with a body.`);
  return content;
}

function stepOf(place: string, root: string, operation: Operation, document: Document): Step {
  const { summary, description, parameters, requestBody } = operation;
  const [method = '', rest = ''] = place.split(' ');
  const [body] = Object.values(requestBody?.content ?? {});
  const filters = parameters.filter(
    (one) => one.in === 'query' && !ofPaging.has(one.name) && one.name !== 'onConflict',
  );
  return {
    method,
    path: root + rest,
    summary,
    // Details of HTTP follow in later sentences.
    description: firstSentence(description),
    fields: body ? fieldsOf(body.schema, document) : filters.map((one) => filterOf(one, document)),
  };
}

const firstSentence = (text: string) => /^.*?[.;](?= |$)/.exec(text)?.[0].replace(/;$/, '.') ?? text;

/** The triggers of a resource: each event about it, and how a list finds the records. */
function triggersOf(singular: string, list: Operation, { webhooks = {} }: Document): Trigger[] {
  const kind = singular.toLowerCase();
  const statuses = parameterOf(list, 'status')?.schema.items?.enum ?? [];
  const newest = choicesOf(list, 'sort').includes('-statusChangedAt') ? '-statusChangedAt' : '-updatedAt';
  return Object.entries(webhooks).flatMap(([type, { post }]) => {
    const [subject, what = ''] = type.split('.');
    if (subject !== kind || !post) return [];
    const found = { type, label: `${singular} ${labelOf(what)}`, summary: post.summary };
    if (what === 'created') return [{ ...found, filter: {}, sort: '-createdAt' }];
    if (what === 'updated') return [{ ...found, filter: {}, sort: '-updatedAt' }];
    if (!statuses.includes(what)) throw new Error(`No list filter finds the records of ${type}.`);
    return [{ ...found, filter: { status: what }, sort: newest }];
  });
}
