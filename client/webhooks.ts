/** Receiving webhooks: checks that a request comes from this service and is recent, as Standard Webhooks describes. */
import type { WebhookEvent } from './generated.ts';
import type { FetchResponse } from './platform.ts';
import { isPlainObject } from './url.ts';

/** The request's headers: those of any `fetch`, or an object such as Node's `request.headers`. */
export type WebhookHeaders =
  | Pick<FetchResponse['headers'], 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of {@link unwrapWebhook}. */
export type UnwrapOptions = {
  /** How many seconds the request may be behind or ahead of this clock. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** The current time. Default: the clock of this machine. */
  now?: Date | undefined;
};

/** The request is not from this service, was changed in transit, or is too old. Respond with 400. */
export class WebhookVerificationError extends Error {
  static {
    this.prototype.name = 'WebhookVerificationError';
  }
}

/**
 * Verifies a webhook request and returns its event. Throws WebhookVerificationError if no signature is valid.
 *
 * @param body The body exactly as it was received, as text or bytes: parsing and serializing it again can change it.
 * @param headers The request's headers.
 * @param secret The secret of the endpoint, `whsec_…`; while you replace it, both the old and the new one.
 *
 * @example
 * const event = await unwrapWebhook(await request.text(), request.headers, secret);
 * if (event.type === 'proposal.accepted') await startProject(event.data);
 */
export async function unwrapWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: UnwrapOptions = {},
): Promise<WebhookEvent> {
  // JavaScript callers can pass a body that a framework has parsed, or a property that does not exist.
  if (isPlainObject(body ?? {}))
    throw new TypeError('body must be the text or bytes of the request as received, not parsed JSON');
  if (Object(headers) !== headers) throw new TypeError('headers must be the headers of the request');
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  checkTime(timestamp, toleranceSeconds, now);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = bytesOf(`${id}.${timestamp}.${text}`);
  const secrets: readonly unknown[] = [secret].flat();
  const keys = await Promise.all((secrets.length > 0 ? secrets : [undefined]).map(importSecret));
  const checks = signatures.split(' ').flatMap((signature) => keys.map((key) => isValid(key, signature, signed)));
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookVerificationError('No signature is valid.');
  // Only this service can have signed it, and it sends events.
  return JSON.parse(text) as WebhookEvent;
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = [value].flat().join(' ');
  if (text !== '') return text;
  throw new WebhookVerificationError(`The header ${name} is missing.`);
}

/** Checks for the method, because the class may come from another library. */
const isHeaders = (headers: WebhookHeaders): headers is Pick<FetchResponse['headers'], 'get'> =>
  typeof headers.get === 'function';

function checkTime(timestamp: string, toleranceSeconds: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError('The header webhook-timestamp is not a valid time.');
  const age = now.getTime() / 1000 - Number(timestamp);
  // Negated, so that NaN accepts no time.
  if (!(age <= toleranceSeconds)) throw new WebhookVerificationError('The request is too old.');
  if (age < -toleranceSeconds) throw new WebhookVerificationError('The request is from the future: check the clock.');
}

const hmac = { name: 'HMAC', hash: 'SHA-256' };

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function importSecret(secret: unknown): Promise<Key> {
  const bytes = typeof secret === 'string' ? decodeBase64(secret.replace(/^whsec_/, '')) : undefined;
  // The message must not contain the secret.
  if (!bytes || bytes.length === 0)
    throw new TypeError('The secret must be whsec_ followed by base64, as the settings show it.');
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['verify']);
}

/** In constant time: the comparison is Web Crypto's own. */
async function isValid(key: Key, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : undefined;
  return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, signed);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));
