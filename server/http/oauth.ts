/** OAuth 2.1 for applications that connect: discovery, registration, tokens and revocation. The tokens are API keys. */
import type { IncomingHttpHeaders } from 'node:http';
import express, { Router } from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { registerClient } from '../connect/clients.ts';
import type { ConnectClient } from '../connect/clients.ts';
import { exchangeCode } from '../connect/codes.ts';
import type { Exchange } from '../connect/codes.ts';
import { resourceMetadata, serverMetadata } from '../connect/metadata.ts';
import { OAuthError } from '../connect/oauth-error.ts';
import { forOrganization } from '../database/tenant.ts';
import { hashKey } from '../keys/authenticate.ts';
import type { CallerParts } from '../keys/caller.ts';
import type { KeyDirectory } from '../keys/directory.ts';
import { findKey } from '../keys/list.ts';
import { revokeForClient } from '../keys/revoke.ts';
import { networkOf } from '../limits/network.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { Problem } from '../problems/problem.ts';
import { readBody } from './body.ts';
import { rejectOtherMethods } from '../problems/method-not-allowed.ts';

type Parts = CallerParts & {
  keys: KeyDirectory;
  /** Limits each network, because nobody is signed in here. */
  handshakes: RateLimiter;
};

const maximumAgeSeconds = 300;

export function discoveryRoutes(baseUrl: string): Router {
  const router = Router({ caseSensitive: true });
  const publish =
    (document: object): RequestHandler =>
    (_, response) => {
      response.set({ 'Cache-Control': `public, max-age=${maximumAgeSeconds}`, 'Access-Control-Allow-Origin': '*' });
      response.json(document);
    };
  for (const resource of ['', '/mcp', '/v1'])
    router.get(`/oauth-protected-resource${resource}`, publish(resourceMetadata(baseUrl, resource)));
  router.get('/oauth-authorization-server', publish(serverMetadata(baseUrl)));
  rejectOtherMethods(router);
  return router;
}

export function oauthRoutes({ database, keys, handshakes, shares, secret }: Parts): Router {
  const router = Router({ caseSensitive: true });

  router.use(async ({ ip = '' }, response, next) => {
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const { accepted } = await handshakes.take(`network ${networkOf(ip)}`);
    if (!accepted) throw new Problem('rate_limited');
    next();
  });
  router.post('/register', async (request, response) => {
    response.status(201).json(clientInformation(registerClient(secret, await readBody(request, response, shares))));
  });
  router.post('/token', ...readForm, async ({ headers, body }, response) => {
    // The cache still has the key that this one replaces, without its end, or one revoked because its code was reused.
    const { raw, grant } = await exchangeCode(database, readExchange(headers, body)).finally(() => keys.forget());
    const { expiresInMs } = grant;
    const expiry = expiresInMs === undefined ? {} : { expires_in: Math.floor(expiresInMs / 1000) };
    response.json({ access_token: raw, token_type: 'Bearer', ...expiry });
  });
  router.post('/revoke', ...readForm, async ({ body }, response) => {
    const key = await keys.find(hashKey(required(body, 'token')));
    // RFC 7009: a token that does not exist is as good as revoked.
    if (key && !key.revokedAt) {
      const em = forOrganization(database, key.organization.id).em();
      const { id, clientId } = await findKey(em, key.id);
      if (clientId !== parameter(body, 'client_id'))
        throw new OAuthError('invalid_client', 'Only the application that this key was issued to can revoke it here.');
      await revokeForClient(em, id, 'application');
      keys.forget();
    }
    response.json({});
  });
  router.use(sendOAuthError);
  rejectOtherMethods(router);
  return router;
}

const mediaType = 'application/x-www-form-urlencoded';
const [mostKiB, mostParameters] = [8, 20];
const notAForm = `Send the parameters as ${mediaType}, at most ${mostParameters} and ${mostKiB} KiB.`;

const readForm: RequestHandler[] = [
  (request, _, next) => {
    if (!request.is(mediaType)) throw new OAuthError('invalid_request', notAForm);
    next();
  },
  express.urlencoded({ extended: false, limit: mostKiB * 1024, parameterLimit: mostParameters }),
];

const clientInformation = ({ id, name, redirectUris }: ConnectClient) => ({
  client_id: id,
  client_name: name,
  redirect_uris: redirectUris,
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

function readExchange({ authorization }: IncomingHttpHeaders, body: unknown): Exchange {
  if (required(body, 'grant_type') !== 'authorization_code')
    throw new OAuthError('unsupported_grant_type', 'The grant_type must be authorization_code.');
  if (authorization !== undefined && parameter(body, 'client_id') === '')
    throw new OAuthError(
      'invalid_client',
      'Applications have no client secret here. Send client_id in the body, and no Authorization header.',
    );
  return {
    code: required(body, 'code'),
    clientId: required(body, 'client_id'),
    redirectUri: parameter(body, 'redirect_uri') || undefined,
    codeVerifier: parameter(body, 'code_verifier'),
    resource: parameter(body, 'resource') || undefined,
  };
}

/** '' if it is missing. */
function parameter(body: unknown, name: string): string {
  const value: unknown = Object.hasOwn(Object(body), name) ? Reflect.get(Object(body), name) : '';
  if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter ${name} was sent twice.`);
  return value;
}

function required(body: unknown, name: string): string {
  const value = parameter(body, name);
  if (value === '') throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}

const sendOAuthError: ErrorRequestHandler = (thrown: unknown, _, response, next) => {
  const error = thrown instanceof OAuthError ? thrown : unreadable(thrown);
  if (!error || response.headersSent) return next(thrown);
  // RFC 6749, 5.2: if the client tried to authenticate with the header.
  const status = error.code === 'invalid_client' && response.req.headers.authorization !== undefined ? 401 : 400;
  if (status === 401) response.set('WWW-Authenticate', 'Basic realm="oauth"');
  response.status(status).json({ error: error.code, error_description: error.description });
};

/** The error for a body that cannot be read. A client over its rate limit gets a 429, as in the API. */
function unreadable(error: unknown): OAuthError | undefined {
  const status = Number(Object(error).status);
  if (!(status >= 400 && status < 500) || status === 429) return undefined;
  return new OAuthError('invalid_request', error instanceof Problem ? error.message : notAForm);
}
