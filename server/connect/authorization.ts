/** The request with which an application sends a person to the consent page, and the response that takes them back. */
import { resourcesOf } from './metadata.ts';
import type { ConnectClient } from './clients.ts';
import { longestClientId } from './clients.ts';
import { OAuthError } from './oauth-error.ts';
import { isRegistered } from './redirect-uri.ts';

export type Authorization = {
  client: ConnectClient;
  redirectUri: string;
  /** Returned to the application as it was sent. */
  state: string | undefined;
  codeChallenge: string;
  resource: string | undefined;
};

/** The parameters that the consent page sends again with its form. */
export const parameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'resource',
] as const;
type Parameter = (typeof parameters)[number];
export type Parameters = Partial<Record<Parameter, string>>;

const longest = 500;

/** A wrong request of a known application, to which the person may return; nobody is redirected without a click. */
export class RejectedAuthorization extends OAuthError {
  /** Back to the application, which learns the code. */
  readonly returnTo: string;

  constructor(code: OAuthError['code'], sentence: string, returnTo: string) {
    super(code, sentence);
    this.returnTo = returnTo;
  }
}

/** Those that were sent, each at most once. */
export function readParameters(fields: unknown): Parameters {
  const found: Parameters = {};
  for (const name of parameters) {
    const value: unknown = Object.hasOwn(Object(fields), name) ? Reflect.get(Object(fields), name) : undefined;
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter ${name} was sent twice.`);
    if (value.length > (name === 'client_id' ? longestClientId : longest))
      throw new OAuthError('invalid_request', `The parameter ${name} is too long.`);
    found[name] = value;
  }
  return found;
}

export async function readAuthorization(
  sent: Parameters,
  find: (clientId: string) => Promise<ConnectClient>,
  baseUrl: string,
): Promise<Authorization> {
  const { client_id: clientId, redirect_uri: redirectUri, state, code_challenge: codeChallenge = '', resource } = sent;
  if (clientId === undefined) throw new OAuthError('invalid_request', 'The application did not identify itself.');
  const client = await find(clientId);
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirectUris))
    throw new OAuthError('invalid_request', 'The application asks to return to an address that is not its own.');
  const reject = (code: OAuthError['code'], sentence: string) =>
    new RejectedAuthorization(code, sentence, returnUrl({ redirectUri, state }, { error: code }, baseUrl));
  if (sent.response_type !== 'code')
    throw reject('unsupported_response_type', 'The application asks for a response_type other than “code”.');
  // PKCE by S256 only: without it, or with “plain”, anyone who sees the code can use it.
  if (sent.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge))
    throw reject('invalid_request', 'The application does not protect its request with PKCE (S256).');
  if (resource !== undefined && !resourcesOf(baseUrl).includes(resource.replace(/\/$/, '')))
    throw reject('invalid_target', 'The application asks for access to another service.');
  return { client, redirectUri, state, codeChallenge, resource };
}

/** With the issuer (RFC 9207), so that the application knows which service responds. */
export function returnUrl(
  { redirectUri, state }: Pick<Authorization, 'redirectUri' | 'state'>,
  answer: { code: string } | { error: string },
  baseUrl: string,
): string {
  const url = new URL(redirectUri);
  const added = { ...answer, ...(state !== undefined && { state }), iss: baseUrl };
  // What the URI has already stays as it is.
  url.search = `${url.search}&${new URLSearchParams(added).toString()}`.replace(/^&/, '');
  return url.href;
}
