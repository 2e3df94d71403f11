/** What a list is asked for, as its URL and its forms carry it. */
import { parseQuery } from '../../../text/query.ts';

/** What the form left empty was not asked for. */
export const searchOf = (text: string): URLSearchParams =>
  new URLSearchParams([...new URLSearchParams(text)].filter(([, value]) => value.trim() !== ''));

/** As the API reads the same parameters. */
export const inputOf = (search: URLSearchParams): Record<string, unknown> => parseQuery(search.toString());

/** Where a page begins and its order: an export has every page, in an order of its own. */
const ofPages = ['cursor', 'limit', 'sort', 'include'];

/** The parameters that choose records. */
export const filtersOf = (search: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...search].filter(([name]) => !ofPages.includes(name)));
