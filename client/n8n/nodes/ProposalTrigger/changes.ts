/** What happened since the last poll, found among the records that were updated since then. */
import { NodeApiError } from 'n8n-workflow';
import type { IDataObject, IPollFunctions, JsonObject } from 'n8n-workflow';
import type { Poll } from '../../contract';

type Page = {
  data: IDataObject[];
  pagination: { hasMore: boolean; nextCursor: string | null };
  syncedThrough: string | null;
};
/** What the workflow remembers: the time from which to ask, and the records that it has seen. */
export type Memory = { since: string; seen: string[] };

const start = '1970-01-01T00:00:00.000Z';
const mostRemembered = 1000;

/** Every page of a list, until `most` records. */
async function list(context: IPollFunctions, { path, filter }: Poll, query: IDataObject, most = Infinity) {
  const records: IDataObject[] = [];
  let page: Page | undefined;
  while (page === undefined || (page.pagination.hasMore && records.length < most)) {
    const cursor = page?.pagination.nextCursor ?? '';
    page = await get(context, path, { limit: Math.min(most, 100), ...filter, ...query, cursor });
    records.push(...page.data);
  }
  return { records, syncedThrough: page.syncedThrough };
}

async function get(context: IPollFunctions, url: string, qs: IDataObject): Promise<Page> {
  const credential = context.getNodeParameter('authentication') === 'apiKey' ? 'proposalApi' : 'proposalOAuth2Api';
  const { serverUrl } = await context.getCredentials<{ serverUrl: string }>(credential);
  const baseURL = serverUrl.replace(/\/+$/, '');
  try {
    return await context.helpers.httpRequestWithAuthentication.call(context, credential, {
      baseURL,
      url,
      qs,
      json: true,
    });
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject);
  }
}

const keyOf = ({ time }: Poll, record: IDataObject) => `${record.id} ${record[time]}`;

/** The latest record, as an example while a workflow is built. */
export async function latest(context: IPollFunctions, poll: Poll): Promise<IDataObject[]> {
  return (await list(context, poll, { sort: `-${poll.time}` }, 1)).records;
}

/** Where a new trigger starts: everything up to now counts as seen. */
export async function begin(context: IPollFunctions, poll: Poll): Promise<Memory> {
  const { records } = await list(context, { ...poll, filter: {} }, { sort: '-updatedAt' }, 1);
  const since = String(records[0]?.updatedAt ?? start);
  const known = poll.hasStatus ? await list(context, poll, { sort: `-${poll.time}` }, mostRemembered) : { records };
  return { since, seen: known.records.map((record) => keyOf(poll, record)).reverse() };
}

/**
 * Oldest change first. The service repeats the changes of the last moment, in case another one was stored in it, and
 * `seen` filters them out. An imported proposal can have been accepted long ago, so for a status only `seen` decides
 * what is new.
 */
export async function changesSince(context: IPollFunctions, poll: Poll, { since, seen }: Memory) {
  const { records, syncedThrough } = await list(context, poll, { sort: 'updatedAt', updatedSince: since });
  const through = syncedThrough ?? since;
  const known = new Set(seen);
  const happened = records.filter(
    (record) => !known.has(keyOf(poll, record)) && (poll.hasStatus || String(record[poll.time]) >= since),
  );
  const repeated = records.filter(({ updatedAt }) => String(updatedAt) >= through);
  const remembered = poll.hasStatus ? [...seen, ...keysOf(poll, happened)] : keysOf(poll, repeated);
  return { happened, memory: { since: through, seen: remembered.slice(-mostRemembered) } };
}

const keysOf = (poll: Poll, records: IDataObject[]) => records.map((record) => keyOf(poll, record));
