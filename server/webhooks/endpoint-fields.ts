/** Checks what an admin enters for an endpoint. */
import { isRecordEventType } from '../../contract/events.ts';
import { Problem } from '../problems/problem.ts';
import { checkName, nameLength } from '../records/name.ts';
import { ForbiddenAddress } from '../outgoing/addresses.ts';
import type { Destinations } from '../outgoing/addresses.ts';

const longestUrl = 2000;

export type EndpointFields = { name: string; url: string; events: readonly string[] };
/** `shownEvents`: what `events` was before it was changed in a form. */
export type EndpointChanges = Partial<EndpointFields> & { shownEvents?: readonly string[] };

/** Changes only the events that differ from those shown: someone else may have changed others since. */
export const mergeEvents = (
  stored: readonly string[],
  { events = stored, shownEvents = stored }: EndpointChanges,
): string[] =>
  [...new Set([...stored, ...events])].filter((type) =>
    (shownEvents.includes(type) === events.includes(type) ? stored : events).includes(type),
  );

export async function checkFields({ name, url, events }: EndpointFields, destinations: Destinations) {
  const checked = checkName(name, nameLength.webhook);
  const unknown = events.find((type) => !isRecordEventType(type));
  if (unknown !== undefined)
    throw new Problem('invalid', { sentence: `There is no event “${unknown.slice(0, 50)}”.`, field: 'events' });
  if (events.length === 0) throw new Problem('invalid', { sentence: 'Choose at least one event.', field: 'events' });
  return { name: checked, url: await checkUrl(url.trim(), destinations), events: [...new Set(events)] };
}

/** Checked again at every attempt, because the addresses of a host can change. */
async function checkUrl(typed: string, destinations: Destinations): Promise<string> {
  const invalid = (sentence: string) => new Problem('invalid', { sentence, field: 'url' });
  const url = typed.length <= longestUrl ? URL.parse(typed) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid('Enter a URL that starts with https://.');
  if (url.username !== '' || url.password !== '') throw invalid('Remove the user name and password from the URL.');
  url.hash = '';
  const addresses = await destinations.resolve(url.hostname).catch((error: unknown) => {
    if (error instanceof ForbiddenAddress)
      throw invalid(`${error.message} Webhooks are sent to public addresses only.`);
    return [];
  });
  const isAllowed = addresses.length > 0 && addresses.every(({ address }) => destinations.isAllowed(address));
  if (url.protocol === 'http:' && !isAllowed)
    throw invalid('Use https: plain http can be read and changed in transit.');
  return url.href;
}
