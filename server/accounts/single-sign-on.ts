/** Signing in through an OpenID provider: existing members are matched by the e-mail address that it has verified. */
import { betterAuth } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import type { Database } from '../database/orm.ts';
import { Problem } from '../problems/problem.ts';
import { libraryOptions } from './library.ts';
import type { LibraryParts } from './library.ts';
import { memberWithEmail } from './sign-in-tables.ts';
import { userOf } from './sign-in.ts';

export type Provider = { issuer: string; clientId: string; clientSecret: string };

export const callbackPath = '/settings/oidc/callback';
const providerId = 'oidc';

export type SingleSignOn = {
  /** The URL at which the browser signs in; afterwards it returns to `next`. */
  start(next: string): Promise<{ url: string; cookies: string[] }>;
  /** Finishes with what the provider sent: the query of the callback. Undefined if nobody is signed in. */
  finish(
    query: string,
    cookie: string | undefined,
  ): Promise<{ next: string; email: string; cookies: string[] } | undefined>;
};

type Parts = Omit<LibraryParts, 'pool'> & { database: Database; provider: Provider; baseUrl: () => string };

export function createSingleSignOn({ database, provider, baseUrl, ...parts }: Parts): SingleSignOn {
  // Created when first needed, and again if the provider could not be reached: the library reads its metadata once.
  let cached: ReturnType<typeof makeLibrary> | undefined;

  async function library() {
    cached ??= makeLibrary({ ...parts, pool: database.pool }, provider, baseUrl());
    const { socialProviders } = await cached.$context;
    if (socialProviders.some(({ id }) => id === providerId)) return cached;
    cached = undefined;
    parts.onError(new Error(`The OpenID provider at ${provider.issuer} cannot be reached.`));
    throw new Problem('provider_away', { sentence: 'Sign in with your password, or try again in a minute.' });
  }

  async function start(next: string): ReturnType<SingleSignOn['start']> {
    const auth = await library();
    const body = {
      provider: providerId,
      callbackURL: next,
      errorCallbackURL: '/settings/sign-in',
      disableRedirect: true,
    };
    const { headers, response } = await auth.api.signInSocial({ body, headers: new Headers(), returnHeaders: true });
    if (!('url' in response) || !response.url) throw new Error('The OpenID provider has no sign-in page.');
    return { url: response.url, cookies: headers.getSetCookie() };
  }

  async function finish(query: string, cookie = ''): ReturnType<SingleSignOn['finish']> {
    const auth = await library();
    const url = `${baseUrl()}${callbackPath}/${providerId}${query}`;
    const response = await auth.handler(new Request(url, { headers: { cookie } }));
    const next = response.headers.get('location') ?? '';
    const cookies = response.headers.getSetCookie();
    const session = cookies.find((one) => /settings\.session_token=[^;]/.test(one));
    if (!session || next.includes('error=')) return undefined;
    const [pair = ''] = session.split(';');
    const found = await auth.api.getSession({ headers: new Headers({ cookie: pair }) });
    return found ? { next, email: found.user.email, cookies } : undefined;
  }

  return { start, finish };
}

function makeLibrary(parts: LibraryParts, { issuer, clientId, clientSecret }: Provider, baseUrl: string) {
  const options = libraryOptions(parts);
  const auth = betterAuth({
    ...options,
    baseURL: baseUrl,
    basePath: callbackPath.replace(/\/callback$/, ''),
    plugins: [
      genericOAuth({
        config: [
          {
            providerId,
            discoveryUrl: `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`,
            clientId,
            clientSecret,
            redirectURI: `${baseUrl}${callbackPath}`,
            scopes: ['openid', 'email', 'profile'],
            pkce: true,
            disableSignUp: true,
            mapProfileToUser: admitMember,
          },
        ],
      }),
    ],
  });

  /** A member who never had a password gets a record of the library's own, so that there is something to sign in to. */
  async function admitMember(profile: Record<string, unknown>) {
    const { email, email_verified: verified } = profile;
    if (typeof email !== 'string' || verified !== true) return { emailVerified: false };
    const member = await memberWithEmail(parts.pool, email);
    if (member) await userOf((await auth.$context).internalAdapter, { name: member.name, email });
    return { emailVerified: true };
  }

  return auth;
}
