/**
 * The applications that ask for a key. None of them is stored: a registered one (RFC 7591) carries its registration in its
 * client_id, signed by this service; the client_id of any other is the https URL of its metadata document.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isBlank, unitsOf } from '../../contract/text.ts';
import { jsonOf } from '../text/json.ts';
import { isSigned, sign } from '../text/signatures.ts';
import type { Secret } from '../text/signatures.ts';
import { nameLength } from '../records/name.ts';
import { printable } from '../problems/safe-text.ts';
import type { Destinations } from '../outgoing/addresses.ts';
import { createSender } from '../outgoing/send.ts';
import type { Sender } from '../outgoing/send.ts';
import { OAuthError } from './oauth-error.ts';
import { hostOf, isLoopback, isRedirectUri } from './redirect-uri.ts';

export type ConnectClient = {
  id: string;
  name: string;
  redirectUris: string[];
  /** The host that publishes the name; undefined if anyone could have registered it. */
  publisher: string | undefined;
};

/** A client_id stays short enough for the URLs and cookies that carry it. */
export const longestClientId = 1_000;
const mostRedirectUris = 10;
const mostKiB = 16;
const fetchLimits = { connectMs: 5_000, totalMs: 5_000, readBytes: mostKiB * 1024, keptBytes: mostKiB * 1024 };
const documents = { keptMs: 5 * 60_000, most: 200 };

const metadata = z.object({
  client_name: z
    .string()
    .nullish()
    .transform((name) => name ?? ''),
  redirect_uris: z.array(z.string()).min(1).max(mostRedirectUris),
});
const packed = z.object({ n: z.string(), r: z.array(z.string()) });

/** Registers an application, whose client_id needs no row. */
export function registerClient(secret: Secret, body: unknown): ConnectClient {
  const { name, redirectUris } = readMetadata(body, 'The registration');
  // A website is one application, no matter how often it registers; on people's computers, each installation is one.
  const isLocal = redirectUris.every((uri) => isLoopback(new URL(uri)));
  const installation = isLocal ? randomBytes(9).toString('base64url') : '';
  const text = Buffer.from(JSON.stringify({ n: name, r: redirectUris, i: installation })).toString('base64url');
  const id = `${text}.${sign(secret, signedText(text)).toString('base64url')}`;
  if (id.length > longestClientId)
    throw new OAuthError('invalid_client_metadata', 'The name and the redirect URIs are too long.');
  return { id, name, redirectUris, publisher: undefined };
}

export function createClients({ secret, destinations }: { secret: Secret; destinations: Destinations }) {
  const sender = createSender(destinations, fetchLimits);
  const published = new Map<string, { client: Promise<ConnectClient>; atMs: number }>();
  return {
    /** `admit` throws if no further document may be fetched for the caller. */
    async find(id: string, admit: () => Promise<void>): Promise<ConnectClient> {
      if (!/^https?:/.test(id)) return readRegistered(secret, id);
      const known = published.get(id);
      if (known && performance.now() - known.atMs < documents.keptMs) return known.client;
      await admit();
      if (published.size >= documents.most) published.clear();
      const client = fetchClient(id, sender);
      published.set(id, { client, atMs: performance.now() });
      client.catch(() => published.delete(id));
      return client;
    },
  };
}

const signedText = (text: string) => `oauth client ${text}`;

function readRegistered(secret: Secret, id: string): ConnectClient {
  const [text = '', signature = ''] = id.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  // An application has only one valid spelling of its id.
  const isExact = id === `${text}.${bytes.toString('base64url')}`;
  if (!isExact || !isSigned(secret, signedText(text), bytes))
    throw new OAuthError('invalid_client', 'This application is not registered here. Connect it again from the start.');
  const { n: name, r: redirectUris } = packed.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  return { id, name, redirectUris, publisher: undefined };
}

function readMetadata(body: unknown, what: string): { name: string; redirectUris: string[] } {
  const parsed = metadata.safeParse(body);
  if (!parsed.success)
    throw new OAuthError(
      'invalid_client_metadata',
      `${what} needs redirect_uris, a list of 1 to ${mostRedirectUris} URLs; client_name, if given, is text.`,
    );
  const { client_name: typed, redirect_uris: redirectUris } = parsed.data;
  const wrong = redirectUris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined)
    throw new OAuthError(
      'invalid_redirect_uri',
      'A redirect URI must be an https URL, or an http URL of localhost, 127.0.0.1 or [::1], without a fragment or password.',
    );
  const name = nameOfKey(typed);
  return { name: isBlank(name) ? nameOfKey(hostOf(redirectUris[0] ?? '')) : name, redirectUris };
}

/** Turns the text into a key's name. */
function nameOfKey(text: string): string {
  const start = printable(text).trim().slice(0, unitsOf(nameLength.apiKey));
  return [...start.normalize('NFC')].slice(0, nameLength.apiKey).join('').trim();
}

/** Fetched as webhooks are sent: from public addresses over https, without following redirects. */
async function fetchClient(id: string, sender: Sender): Promise<ConnectClient> {
  const url = URL.parse(id);
  if (url?.href !== id || url.pathname === '/' || id.includes('#') || url.username !== '' || url.password !== '')
    throw new OAuthError(
      'invalid_client',
      'A client_id that is a URL must be in its normalized form, with a path, and without a fragment or password.',
    );
  // Many hosts reject requests that do not say who sends them.
  const headers = { accept: 'application/json', 'user-agent': 'Proposal-API-Connect/1.0' };
  const { status, error, response } = await sender.send({ method: 'GET', url: id, headers, body: '' });
  if (status !== 200) {
    const reason = error ?? `It responded with status ${status}.`;
    throw new OAuthError('invalid_client', `The application's document at ${url.host} could not be read. ${reason}`);
  }
  const document = jsonOf(response ?? '');
  const { client_id: own } = Object(document);
  if (own !== id) {
    const fault =
      own === undefined ? `is not JSON with a client_id, of at most ${mostKiB} KiB` : 'has a different client_id';
    throw new OAuthError('invalid_client', `The application's document at ${url.host} ${fault}.`);
  }
  return { id, ...readMetadata(document, `The application's document at ${url.host}`), publisher: url.host };
}
