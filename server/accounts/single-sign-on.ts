/**
 * Signing in through an OpenID provider. Each sign-in uses the address that the provider has verified: if it changes
 * there, the person is signed in as the member with the new address; if there is none, the sign-in fails.
 */
import * as openid from 'openid-client';
import { z } from 'zod';
import { email as emailSchema } from '../../contract/fields.ts';
import type { Database } from '../database/orm.ts';
import { Problem } from '../problems/problem.ts';
import type { Secret } from '../text/signatures.ts';
import { userOf } from './credentials.ts';
import { membersWithEmail } from './member-lookup.ts';
import { noteCookie, signedCookie } from './session-cookie.ts';
import type { NoteCookie } from './session-cookie.ts';

export type Provider = { issuer: string; clientId: string; clientSecret: string };

const callbackPath = '/settings/oidc/callback';
/** Limits on a provider that is slow or sends too much, and on the sign-in as a whole. */
const bounds = { requestSeconds: 5, bytes: 1_000_000, loggedCharacters: 200, signInSeconds: 600 };

/** How long its configuration is kept: a provider may move. */
const configurationMs = 5 * 60_000;

type Parts = {
  database: Pick<Database, 'signIns'>;
  provider: Provider;
  baseUrl: string;
  secret: Secret;
  secure: boolean;
};

/** Who signs in, or the reason for the sign-in page; `next` is where to go afterward. */
type Finished = { next: string } & (
  | { email: string; userId: string; credentials: null; after?: never }
  | { after: 'too-late' | 'provider' | 'single-sign-on' }
);

const begun = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });

export class SingleSignOn {
  readonly #parts: Parts;
  readonly #cookie: NoteCookie<z.infer<typeof begun>>;
  // Read when first needed, again after a while, and again if the provider could not be reached.
  #configuration: { read: Promise<openid.Configuration>; atMs: number } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#cookie = noteCookie(signedCookie(parts, 'settings.oidc', '/settings/oidc'), begun);
  }

  /** The URL at which the browser signs in; afterward it returns to `next`. */
  async start(next: string): Promise<{ url: string; cookies: string[] }> {
    const config = await this.#configured();
    const [state, nonce, verifier] = [openid.randomState(), openid.randomNonce(), openid.randomPKCECodeVerifier()];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: this.#parts.baseUrl + callbackPath,
      scope: 'openid email profile',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url: url.href, cookies: [this.#cookie.set({ state, nonce, verifier, next }, bounds.signInSeconds)] };
  }

  /** Finishes the sign-in with the query of the provider's callback. If it fails, `onError` gets the reason. */
  async finish(query: string, header: string | undefined, onError: (error: unknown) => void): Promise<Finished> {
    const note = this.#cookie.read(header);
    // Another tab may have begun later; its sign-in continues.
    if (note?.state !== new URLSearchParams(query).get('state')) return { next: '', after: 'too-late' };
    const { state, nonce, verifier, next } = note;
    const { baseUrl, database } = this.#parts;
    const config = await this.#configured();
    let email: string | undefined;
    try {
      email = await verifiedEmail(config, new URL(baseUrl + callbackPath + query), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
      });
    } catch (error) {
      onError(error);
      // The provider may have moved.
      this.#configuration = undefined;
      return { next, after: 'provider' };
    }
    const [member] = email === undefined ? [] : await membersWithEmail(database.signIns, email);
    if (email !== undefined && member)
      return { next, email, userId: await userOf(database.signIns, { name: member.name, email }), credentials: null };
    onError(new Error(email === undefined ? unverified : unknown));
    return { next, after: 'single-sign-on' };
  }

  /** Clears the cookie of a sign-in in progress. */
  clear(): string {
    return this.#cookie.clear();
  }

  async #configured(): Promise<openid.Configuration> {
    const { provider } = this.#parts;
    const nowMs = performance.now();
    if (this.#configuration && nowMs >= this.#configuration.atMs + configurationMs) this.#configuration = undefined;
    this.#configuration ??= { read: discover(provider), atMs: nowMs };
    try {
      return await this.#configuration.read;
    } catch (error) {
      this.#configuration = undefined;
      const cause = new Error(`The OpenID provider at ${provider.issuer} cannot be used.`, { cause: error });
      const sentence = 'Sign in with your password, or try again in a minute.';
      throw new Problem('provider_away', { sentence }, { cause });
    }
  }
}

async function discover({ issuer, clientId, clientSecret }: Provider): Promise<openid.Configuration> {
  const url = new URL(issuer);
  const config = await openid.discovery(url, clientId, clientSecret, authentication(clientSecret), {
    [openid.customFetch]: boundedFetch,
    timeout: bounds.requestSeconds,
    // The operator chose the address; inside a private network it may have no TLS.
    // oxlint-disable-next-line typescript/no-deprecated -- Not deprecated: the library only wants it to stand out.
    ...(url.protocol === 'http:' && { execute: [openid.allowInsecureRequests] }),
  });
  // Throws if the provider names no page to sign in at.
  openid.buildAuthorizationUrl(config, {});
  return config;
}

/** In the body only if the provider says that it reads it there: all others read the header (RFC 8414, 2). */
const authentication =
  (secret: string): openid.ClientAuth =>
  (server, ...request) => {
    const readsBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
    return (readsBody ? openid.ClientSecretPost : openid.ClientSecretBasic)(secret)(server, ...request);
  };

/** Undefined if the provider has not verified it. Throws if the provider does not confirm who the person is. */
async function verifiedEmail(
  config: openid.Configuration,
  callback: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<string | undefined> {
  const tokens = await openid.authorizationCodeGrant(config, callback, checks);
  const claims = tokens.claims();
  if (!claims) return undefined;
  // The library rejects a response about another subject.
  const person =
    claims.email === undefined ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
  const { email_verified: verified = entraYes.has(person.xms_edov) } = person;
  const { data: email } = emailSchema({ description: '' }).safeParse(person.email);
  // Any other form of the address might be someone else's: a Kelvin sign becomes an ordinary k in lower case.
  if (verified === true && email !== undefined && email === person.email) return email;
  return undefined;
}

const unverified = 'The OpenID provider did not say that it has verified the email address of the person.';
const unknown = 'No member has the email address that the OpenID provider verified.';

/** Instead of `email_verified`, Microsoft Entra ID has `xms_edov`: whether the address's domain is verified. Its form varies. */
const entraYes = new Set<unknown>([true, 1, 'true', '1']);

/** `fetch` with a limit on the size of the response. If the provider rejects the request, throws what it says. */
async function boundedFetch(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > bounds.bytes) throw new Error(`The OpenID provider sent more than ${bounds.bytes} bytes.`);
    chunks.push(chunk);
  }
  const { ok, status, headers } = response;
  const body = Buffer.concat(chunks);
  if (!ok)
    throw new Error(`${url} responded with status ${status}: ${body.toString().slice(0, bounds.loggedCharacters)}`);
  return new Response(body, { status, headers });
}
