/** The tools that read: every filter of a list is an argument, and results have a maximum size. */
import type { AppRoute } from '@ts-rest/core';
import { chosenFields, idIn, positionIn } from './arguments.ts';
import { mostBytes, selected, sizeOf, withoutLongest } from './result.ts';
import { fieldsOf, inputsOf, schemaOf } from './schema.ts';
import { readAnnotations, untrustedNotice } from './tool.ts';
import type { Arguments, Calling, Tool } from './tool.ts';

const defaultLimit = 10;
/** More would hardly ever fit. */
const mostWithLines = 10;

/** List parameters that are not arguments under their own names. */
export const notFilters: Readonly<Record<string, string>> = {
  limit: 'has a default of its own',
  cursor: 'is described by the tool',
  include: 'is includeLineItems and includeCustomer, so that records are short unless an agent needs more',
};

const times = '…Since means at or after, …Before means before: RFC 3339 with a zone, or a date (UTC).';

type FindOptions = { usual: readonly string[]; looksIn: string };

export function findTool(name: string, route: AppRoute & { query: unknown }, { usual, looksIn }: FindOptions): Tool {
  const { properties } = inputsOf(schemaOf(route.query), { whole: true });
  const filters = Object.fromEntries(Object.entries(properties).filter(([filter]) => !(filter in notFilters)));
  const known = fieldsOf(route);
  const lines = known.includes('lineItems');
  return {
    name,
    title: route.summary ?? name,
    description: `Find or list ${looksIn}. Newest first unless sorted. ${times} ${untrustedNotice}`,
    properties: {
      ...filters,
      limit: { type: 'integer', description: `1 to 100, default ${defaultLimit}` },
      cursor: { type: 'string', description: 'nextCursor from the previous page' },
      fields: fieldsArgument(known, usual),
      ...(lines && {
        includeLineItems: { type: 'boolean' },
        includeCustomer: { type: 'boolean', description: 'The whole customer, with addresses and tax id' },
      }),
    },
    annotations: readAnnotations,
    run: ({ fields, ...input }, calling) =>
      readPage({ route, shown: chosenFields(fields, known, usual), input }, calling),
  };
}

type Reading = { route: AppRoute; shown: readonly string[]; input: Arguments };

async function readPage({ route, shown: chosen, input }: Reading, { call, pause }: Calling) {
  const { includeLineItems, includeCustomer, limit = defaultLimit, ...filters } = input;
  const withLines = includeLineItems === true || chosen.includes('lineItems');
  const included = [...(withLines ? ['lineItems'] : []), ...(includeCustomer === true ? ['customer'] : [])];
  const shown = [...chosen, ...included];
  const page = async (size: unknown) => {
    const query = texts({ ...filters, limit: size, ...(included.length > 0 && { include: included }) });
    const { body, records: found = [] } = await call(route, { query });
    return { found, next: Object(Object(body).pagination).nextCursor };
  };
  // An object with its own `toString` cannot be converted to a number.
  const isLong = withLines && typeof limit !== 'object' && Number(limit) > mostWithLines && Number(limit) <= 100;
  const whole = await page(isLong ? mostWithLines : limit);
  const fitting = await howManyFit(whole.found, shown, pause);
  // A shorter page is read again, to get its own cursor.
  const { found, next } = fitting < whole.found.length ? await page(fitting) : whole;
  const records = found.map((text) => withinBounds(selected(JSON.parse(text), shown)));
  return { records, ...(next !== null && { nextCursor: next }) };
}

/** The `fields` argument, which names the fields that are returned only on request. */
const fieldsArgument = (known: readonly string[], usual: readonly string[]) => {
  const others = known.filter((field) => !usual.includes(field) && field !== 'lineItems');
  const more = others.length > 0 ? `; further ones: ${others.join(', ')}` : '';
  return { type: 'array', items: { type: 'string' }, description: `Return only these fields${more}` };
};

/** Query parameters are strings, as in a URL. */
function texts(query: Arguments): Arguments {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

/** At least one: a single record is cut down to fewer lines. Records after the first that does not fit are not parsed. */
async function howManyFit(found: readonly string[], shown: readonly string[], pause: Calling['pause']) {
  let bytes = 0;
  for (const [index, text] of found.entries()) {
    const turn = pause();
    if (turn) await turn;
    bytes += sizeOf(selected(JSON.parse(text), shown));
    if (bytes > mostBytes) return Math.max(index, 1);
  }
  return found.length;
}

/** A record with as many of its lines as fit, and the position after which the rest begins. */
function withinBounds(record: Record<string, unknown>): Record<string, unknown> {
  const { lineItems, ...head } = record;
  if (!Array.isArray(lineItems) || sizeOf(record) <= mostBytes) return withoutLongest(record);
  let bytes = sizeOf({ ...head, lineItems: [] });
  // With the comma between two lines.
  const over = lineItems.findIndex((line) => (bytes += sizeOf(line) + 1) > mostBytes);
  const shown = lineItems.slice(0, Math.max(over, 1));
  return withoutLongest({ ...head, lineItems: shown, nextLineItemsAfter: Object(shown.at(-1)).position });
}

export function getTool(name: string, route: AppRoute, { idName, hint }: { idName: string; hint: string }): Tool {
  const known = fieldsOf(route);
  const lines = known.includes('lineItems');
  const usual = known.filter((field) => field !== 'lineItems');
  const lineArguments = {
    includeLineItems: { type: 'boolean' },
    lineItemsAfter: { type: 'integer', description: 'nextLineItemsAfter from the previous call' },
  };
  return {
    name,
    title: route.summary ?? name,
    description: `${lines ? route.description?.replace(/\.$/, ' if includeLineItems is true.') : route.description} ${untrustedNotice}`,
    properties: { [idName]: { type: 'string' }, fields: fieldsArgument(usual, usual), ...(lines && lineArguments) },
    required: [idName],
    annotations: readAnnotations,
    async run({ fields, includeLineItems, lineItemsAfter, ...input }, { call }) {
      const chosen = chosenFields(fields, known, usual);
      const after = positionIn(lineItemsAfter);
      const { body } = await call(route, { params: { [idName]: idIn(input, idName, hint) } });
      const withLines = includeLineItems === true || lineItemsAfter !== undefined;
      const shown = selected(body, withLines ? [...chosen, 'lineItems'] : chosen);
      if (!Array.isArray(shown.lineItems)) return withoutLongest(shown);
      const rest = shown.lineItems.filter((line) => Number(Object(line).position) > after);
      return withinBounds({ ...shown, lineItems: rest });
    },
  };
}
