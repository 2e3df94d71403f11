/** What happened since the last poll, found among the records that were updated since then. */
import { NodeApiError } from 'n8n-workflow';
import type { IDataObject, IN8nHttpFullResponse, IPollFunctions, JsonObject } from 'n8n-workflow';
import type { Poll } from '../../contract';
import { failure } from '../Proposal/requests';

type Page = {
  data: IDataObject[];
  pagination: { hasMore: boolean; nextCursor: string | null };
  syncedThrough: string | null;
};
/** What the workflow remembers: the time to read from, the records already seen, and where the next poll continues. */
export type Memory = { since: string; seen: string[]; cursor: string };

const start = '1970-01-01T00:00:00.000Z';
const mostRemembered = 1000;
/** A key is limited to 100 requests a minute, which several triggers may share: a poll makes at most 20. */
const mostAtOnce = 2000;

/** Every page of a list, until `most` records; `cursor` is that of the next page. */
async function list(context: IPollFunctions, { path, filter }: Poll, query: IDataObject, most: number) {
  const records: IDataObject[] = [];
  let { cursor } = query;
  let syncedThrough: string | null;
  do {
    const page = await get(context, path, { limit: Math.min(most, 100), ...filter, ...query, cursor });
    records.push(...page.data);
    ({ syncedThrough } = page);
    cursor = page.pagination.nextCursor ?? '';
  } while (cursor !== '' && records.length < most);
  return { records, syncedThrough, cursor };
}

async function get(context: IPollFunctions, url: string, qs: IDataObject): Promise<Page> {
  const credential = context.getNodeParameter('authentication') === 'apiKey' ? 'proposalApi' : 'proposalOAuth2Api';
  const { serverUrl } = await context.getCredentials<{ serverUrl: string }>(credential);
  const baseURL = serverUrl.replace(/(?:\/v1)?\/*$/, '');
  const options = { baseURL, url, qs, json: true, ignoreHttpStatusErrors: true, returnFullResponse: true };
  const response = (await context.helpers.httpRequestWithAuthentication
    .call(context, credential, options)
    .catch((error: JsonObject) => {
      throw new NodeApiError(context.getNode(), error);
    })) as IN8nHttpFullResponse;
  if (response.statusCode >= 400) throw failure(context.getNode(), response);
  return response.body as unknown as Page;
}

const keyOf = ({ time }: Poll, record: IDataObject) => `${record.id} ${record[time]}`;

/** The latest record, as an example while a workflow is built. */
export async function latest(context: IPollFunctions, poll: Poll): Promise<IDataObject[]> {
  return (await list(context, poll, { sort: `-${poll.time}` }, 1)).records;
}

/** Where a new trigger starts: everything up to now counts as seen. */
export async function begin(context: IPollFunctions, poll: Poll): Promise<Memory> {
  const all = { ...poll, filter: {} };
  const since = (await list(context, all, { sort: '-updatedAt' }, 1)).syncedThrough ?? start;
  const { records } = poll.hasStatus
    ? await list(context, poll, { sort: `-${poll.time}` }, mostRemembered)
    : await list(context, all, { sort: '-updatedAt', updatedSince: since }, mostRemembered);
  return { since, seen: keysOf(poll, records).reverse(), cursor: '' };
}

/**
 * Oldest change first. The service repeats the changes of the last moment, in case another one was stored in it, and
 * `seen` filters them out. An imported proposal can have been accepted long ago, so for a status only `seen` decides
 * what is new. Changes that are too many for one poll are left to the next.
 */
export async function changesSince(context: IPollFunctions, poll: Poll, { since, seen, cursor }: Memory) {
  const read = (after: string) =>
    list(context, poll, { sort: 'updatedAt', updatedSince: since, cursor: after }, mostAtOnce);
  const found = await read(cursor).catch((error: unknown) => {
    // The service no longer accepts the cursor, for example after its secret was replaced.
    if (cursor !== '' && error instanceof NodeApiError && error.httpCode === '400') return read('');
    throw error;
  });
  const { records, syncedThrough, cursor: next } = found;
  const through = syncedThrough ?? since;
  const known = new Set(seen);
  const happened = records.filter(
    (record) => !known.has(keyOf(poll, record)) && (poll.hasStatus || String(record[poll.time]) >= since),
  );
  const repeated = records.filter(({ updatedAt }) => String(updatedAt) >= through);
  const remembered = [...seen, ...keysOf(poll, poll.hasStatus ? happened : repeated)].slice(-mostRemembered);
  return { happened, memory: { since: next === '' ? through : since, seen: remembered, cursor: next } };
}

const keysOf = (poll: Poll, records: IDataObject[]) => records.map((record) => keyOf(poll, record));
