/**
 * Signing in through an OpenID provider. Each sign-in goes by the address that the provider has verified: if it changes
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
const bounds = { requestSeconds: 5, bytes: 1_000_000, signInSeconds: 600 };

/** How long a provider that has moved may be missed. */
const configurationMs = 5 * 60_000;

type Parts = {
  database: Pick<Database, 'signIns'>;
  provider: Provider;
  baseUrl: () => string;
  secret: Secret;
  secure: boolean;
};

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
      redirect_uri: this.#parts.baseUrl() + callbackPath,
      scope: 'openid email profile',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url: url.href, cookies: [this.#cookie.set({ state, nonce, verifier, next }, bounds.signInSeconds)] };
  }

  /** Finishes the sign-in with the query of the provider's callback. Undefined if it failed; `onError` learns why. */
  async finish(query: string, header: string | undefined, onError: (error: unknown) => void) {
    const note = this.#cookie.read(header);
    if (note === undefined) return undefined;
    const { state, nonce, verifier, next } = note;
    const { baseUrl, database } = this.#parts;
    const config = await this.#configured();
    const email = await verifiedEmail(config, new URL(baseUrl() + callbackPath + query), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
    }).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    if (email === undefined) return undefined;
    const [member] = await membersWithEmail(database.signIns, email);
    if (!member) {
      onError(new Error('No member has the email address that the OpenID provider verified.'));
      return undefined;
    }
    return { next, email, userId: await userOf(database.signIns, { name: member.name, email }), credentials: null };
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
  return openid.discovery(url, clientId, clientSecret, undefined, {
    [openid.customFetch]: boundedFetch,
    timeout: bounds.requestSeconds,
    // The operator chose the address; inside a private network it may have no TLS.
    // oxlint-disable-next-line typescript/no-deprecated -- Not deprecated: the library only wants it to stand out.
    ...(url.protocol === 'http:' && { execute: [openid.allowInsecureRequests] }),
  });
}

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
  throw new Error('The OpenID provider did not say that it has verified the email address of the person.');
}

/** Instead of `email_verified`, Microsoft Entra ID has `xms_edov`: whether the address's domain is verified. Its form varies. */
const entraYes = new Set<unknown>([true, 1, 'true', '1']);

/** `fetch` with a limit on the size of the response. */
async function boundedFetch(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > bounds.bytes) throw new Error(`The OpenID provider sent more than ${bounds.bytes} bytes.`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(chunks.length > 0 ? Buffer.concat(chunks) : null, { status, headers });
}
