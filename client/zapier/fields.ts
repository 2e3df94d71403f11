/** Turns the contract's fields into those of Zapier's editor, and what a person entered into a query or a body. */
import type { Field, FieldKind } from '../build/resource-fields.ts';
import type { Values } from './platform.ts';

const inputTypes: Record<FieldKind, string> = {
  text: 'string',
  longText: 'text',
  email: 'string',
  integer: 'integer',
  boolean: 'boolean',
  time: 'datetime',
  choice: 'string',
  choices: 'string',
  list: 'string',
  pairs: 'string',
};

/** Zapier's keys have two underscores where the API nests: `address__city`. */
const keyOf = ({ name }: Field) => name.replaceAll('.', '__');
const isList = ({ kind }: Field) => kind === 'list' || kind === 'choices';
const longestHelp = 1000;

/** `dropdownOf` names the trigger that lists the records of a resource. */
export function inputField(field: Field, dropdownOf: (resource: string) => string | undefined): object {
  const { label, help, choices, refersTo, kind } = field;
  const dropdown = refersTo === undefined ? undefined : dropdownOf(refersTo);
  const placeholder = typeof field.example === 'string' && kind !== 'time' ? field.example : undefined;
  return {
    key: keyOf(field),
    label,
    type: inputTypes[kind],
    required: field.required,
    ...(help !== '' && { helpText: help.slice(0, longestHelp) }),
    ...(choices.length > 0 && { choices }),
    ...(isList(field) && { list: true }),
    ...(kind === 'pairs' && { dict: true }),
    ...(dropdown !== undefined && { dynamic: dropdown }),
    ...(placeholder !== undefined && choices.length === 0 && dropdown === undefined && { placeholder }),
  };
}

const outputTypes: Partial<Record<FieldKind, string>> = { integer: 'integer', boolean: 'boolean', time: 'datetime' };

/** Zapier recognizes a record that it has seen by the fields in `primary`. */
export const outputField = (field: Field, primary: readonly string[] = []): object => ({
  key: keyOf(field),
  label: field.label,
  type: outputTypes[field.kind] ?? 'string',
  ...(isList(field) && { list: true }),
  ...(primary.includes(field.name) && { primary: true }),
});

/** Pairs are not output fields, because people choose their keys. */
export const isOutput = ({ kind }: Field): boolean => kind !== 'pairs';

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
const withoutEmpty = (value: unknown) => (Array.isArray(value) ? value.filter((one) => !isEmpty(one)) : value);

/** A field that is not mapped arrives empty, or as a list of empty values, and is not sent. */
const given = (fields: readonly Field[], input: Values) =>
  fields.map((field) => ({ field, value: withoutEmpty(input[keyOf(field)]) })).filter(({ value }) => !isEmpty(value));

export function queryOf(fields: readonly Field[], input: Values): Values {
  const entries = given(fields, input).flatMap(({ field, value }) => {
    if (field.kind !== 'pairs') return [[field.name, Array.isArray(value) ? value.join(',') : value]];
    return Object.entries(Object(value)).map(([key, wanted]) => [`${field.name}[${key}]`, wanted]);
  });
  return Object.fromEntries(entries);
}

/** `clear` names the fields that become null. */
export function bodyOf(fields: readonly Field[], input: Values): Values {
  const body: Values = {};
  for (const { field, value } of given(fields, input)) place(body, field.name, value);
  // `clear` is a list of choices.
  for (const name of [input.clear ?? []].flat() as string[]) place(body, name, null);
  return body;
}

function place(body: Values, name: string, value: unknown): void {
  const [first = '', ...rest] = name.split('.');
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = (body[first] ??= {});
  place(Object(inner), rest.join('.'), value);
}
