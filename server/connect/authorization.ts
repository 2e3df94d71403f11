/** The request with which an application sends a person to the consent page, and the response that takes them back. */
import { plainResource, resourcesOf, responseMode } from './metadata.ts';
import type { ConnectClient } from './clients.ts';
import { longestClientId } from './clients.ts';
import { OAuthError } from './oauth-error.ts';
import { isRegistered } from './redirect-uri.ts';

export type Authorization = {
  client: ConnectClient;
  redirectUri: string;
  /** Returned to the application unchanged. */
  state: string | undefined;
  codeChallenge: string;
  resource: string | undefined;
};

type Returning = Pick<Authorization, 'redirectUri' | 'state'>;

/** The parameters that the consent page sends again with its form. */
const parameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'code_challenge',
  'code_challenge_method',
  'state',
  'resource',
] as const;
type Parameter = (typeof parameters)[number];
type Parameters = Partial<Record<Parameter, string>>;

/** What the application asks for, and the parameters as sent, for the form to send again. */
export type AuthorizationRequest = { authorization: Authorization; sent: Parameters };

/** `state` may be longer, because applications keep their own data in it. */
const longest: Partial<Record<Parameter, number>> = { client_id: longestClientId, state: 2_000 };

/** Throws an OAuthError, with a URL back to the application once the redirect URI is known to be its own. */
export async function readAuthorization(
  fields: object,
  find: (clientId: string) => Promise<ConnectClient>,
  baseUrl: string,
): Promise<AuthorizationRequest> {
  const { client_id: clientId, redirect_uri: redirectUri } = readParameters(fields, ['client_id', 'redirect_uri']);
  if (clientId === undefined) throw new OAuthError('invalid_request', 'The application did not identify itself.');
  const client = await find(clientId);
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirectUris))
    throw new OAuthError('invalid_request', 'The application asks to return to an address that is not its own.');
  try {
    const sent = readParameters(fields, parameters);
    const { state, resource } = sent;
    return { sent, authorization: { client, redirectUri, state, codeChallenge: challengeIn(sent, baseUrl), resource } };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const state: unknown = Reflect.get(fields, 'state');
    const target = { redirectUri, state: typeof state === 'string' && state !== '' ? state : undefined };
    error.returnTo = returnUrl(target, { error: error.code, error_description: error.description }, baseUrl);
    throw error;
  }
}

/** The parameters that were sent; each may be sent only once. */
function readParameters(fields: object, names: readonly Parameter[]): Parameters {
  const found: Parameters = {};
  for (const name of names) {
    const value: unknown = Reflect.get(fields, name);
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter ${name} was sent twice.`);
    if (value.length > (longest[name] ?? 500))
      throw new OAuthError('invalid_request', `The parameter ${name} is too long.`);
    found[name] = value;
  }
  return found;
}

/** Returns the code challenge; rejects what this service does not offer. */
function challengeIn(
  { response_type: type, response_mode: mode = responseMode, resource, ...pkce }: Parameters,
  baseUrl: string,
): string {
  if (type === undefined) throw new OAuthError('invalid_request', 'The application sends no response_type.');
  if (type !== 'code')
    throw new OAuthError('unsupported_response_type', 'The application asks for a response_type other than “code”.');
  if (mode !== responseMode)
    throw new OAuthError('invalid_request', `The application asks for a response_mode other than “${responseMode}”.`);
  // PKCE by S256 only: without it, or with “plain”, anyone who sees the code can use it.
  const { code_challenge: challenge = '', code_challenge_method: method } = pkce;
  if (method !== 'S256' || !/^[\w-]{43}$/.test(challenge))
    throw new OAuthError('invalid_request', 'The application does not protect its request with PKCE (S256).');
  if (resource !== undefined && !resourcesOf(baseUrl).includes(plainResource(resource)))
    throw new OAuthError('invalid_target', 'The application asks for access to another service.');
  return challenge;
}

/** Contains the issuer (RFC 9207), so the application knows which service responds. */
export function returnUrl(
  { redirectUri, state }: Returning,
  response: { code: string } | { error: string; error_description?: string },
  baseUrl: string,
): string {
  const url = new URL(redirectUri);
  const added = { ...response, ...(state !== undefined && { state }), iss: baseUrl };
  // The URI's own query is kept unchanged.
  url.search = `${url.search}&${new URLSearchParams(added).toString()}`.replace(/^&/, '');
  return url.href;
}
