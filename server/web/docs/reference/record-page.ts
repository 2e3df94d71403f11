/** The page of a record: an example, and each field with where it can be written, filtered, sorted and imported. */
import type { Document, Operation, Schema } from '../../../../contract/openapi/document.ts';
import { exampleOf } from '../../../../contract/openapi/examples.ts';
import { columnsOf } from '../../../import/fields.ts';
import { customerImport, itemImport, proposalImport } from '../../../import/schemas.ts';
import { fieldsOf, json, kebab, operationsIn, typeText } from './schema-text.ts';
import type { Field } from './schema-text.ts';

/** The schemas that have a page, by their name in the document. */
export const records = ['Customer', 'Proposal', 'Item', 'Me', 'Pagination', 'Problem'] as const;
export type RecordName = (typeof records)[number];

const imports: Partial<Record<RecordName, readonly string[]>> = {
  Customer: columnsOf(customerImport),
  Item: columnsOf(itemImport),
  Proposal: columnsOf(proposalImport),
};

export function recordPage(name: RecordName, title: string, document: Document): string {
  const { schemas } = document.components;
  const schema: Schema = schemas[name] ?? {};
  const uses = usesOf(name, document);
  return [
    `# ${title}`,
    schema.description ?? '',
    ...(uses.list
      ? [`[${uses.list.summary}](/docs/reference/${kebab(uses.list.operationId)}): ${uses.list.description}`]
      : []),
    json(exampleOf({ $ref: `#/components/schemas/${name}` }, schemas)),
    ...fieldsOf(schema, schemas).map((field) => fieldSection(field, name, uses, document)),
  ].join('\n\n');
}

function fieldSection(field: Field, name: RecordName, uses: Uses, { components: { schemas } }: Document): string {
  const depth = field.name.includes('.') ? '###' : '##';
  const notes = uses.list ? ` ${abilitiesOf(field.name, name, uses)}` : '';
  return `${depth} ${field.name}\n\n*${typeText(field.schema, schemas)}.*${notes}\n\n${field.schema.description ?? ''}`;
}

type Uses = { list?: Operation | undefined; created: ReadonlySet<string>; updated: ReadonlySet<string> };

/** The operations that list, create and update the record. */
function usesOf(name: RecordName, document: Document): Uses {
  const { schemas } = document.components;
  const fieldsWritten = (schema: Schema = {}) =>
    new Set(fieldsOf(schema, schemas).flatMap((one) => (one.schema.readOnly ? [] : [one.name])));
  return {
    list: operationsIn(document).find(({ operationId }) => operationId === `list${name}s`),
    created: fieldsWritten(schemas[`${name}Create`]),
    updated: fieldsWritten(schemas[`${name}Update`]),
  };
}

function abilitiesOf(field: string, name: RecordName, { list, created, updated }: Uses): string {
  const settable = [created.has(field) && 'create', updated.has(field) && 'update'].filter((one) => one !== false);
  const parameters = list?.parameters ?? [];
  const filters = parameters.filter((one) => one.in === 'query' && filteredBy(one.name) === field);
  const sorts = parameters.find((one) => one.name === 'sort')?.schema.enum ?? [];
  return [
    settable.length > 0 ? `Set on ${settable.join(' and ')}.` : 'Read-only.',
    filters.length > 0 && `Filtered by ${filters.map((one) => `\`${one.name}\``).join(', ')}.`,
    sorts.includes(field) && 'Sorted by `sort`.',
    imports[name]?.includes(field) && 'Imported and exported as a column.',
  ]
    .filter((one) => typeof one === 'string')
    .join(' ');
}

/** `createdSince` → `createdAt`; `tag` and `ids` → `tags` and `id`. */
function filteredBy(parameter: string): string {
  if (parameter === 'ids') return 'id';
  if (parameter === 'tag') return 'tags';
  if (parameter === 'country') return 'address.country';
  return parameter.replace(/(?:Since|Before)$/, 'At');
}
