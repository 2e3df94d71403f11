/** An OpenID provider that misbehaves on request: it lies about the user, never responds, or responds endlessly. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../ports.ts';

export type Lies = {
  /** Merged into the ID token. */
  token?: Record<string, unknown>;
  /** The response of the userinfo endpoint. */
  userinfo?: Record<string, unknown>;
  /** The path that never responds, and the one that responds endlessly. */
  silent?: string;
  endless?: string;
  /** The path that responds that it does not know the client. */
  denied?: string;
  /** Merged into its configuration. */
  metadata?: Record<string, unknown>;
};

export async function startHostileProvider(): Promise<{
  issuer: string;
  lies: Lies;
  nonce(of: string): void;
  close(): void;
}> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const state: { lies: Lies; nonce: string } = { lies: {}, nonce: '' };
  const server = createServer((request, response) => answer(request, response));
  const issuer = `http://localhost:${await listen(server)}`;

  function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { lies } = state;
    const path = url.split('?')[0] ?? '';
    const method = headers.authorization?.startsWith('Basic ') ? 'client_secret_basic' : 'client_secret_post';
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = lies.metadata ?? {};
    const isDenied = path === '/token' && ![methods].flat().includes(method);
    if (path === lies.silent) return;
    response.setHeader('Content-Type', 'application/json');
    if (path === lies.endless) return flood(response);
    if (path === lies.denied || isDenied) return void response.writeHead(401).end('{"error":"invalid_client"}');
    const bodies: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...lies.metadata,
      }),
      '/jwks': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }),
      '/token': () => ({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: idToken() }),
      '/me': () => ({ sub: 'someone', ...lies.userinfo }),
    };
    response.end(JSON.stringify(bodies[path]?.() ?? {}));
  }

  function idToken(): string {
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: 'settings',
      sub: 'someone',
      nonce: state.nonce,
      iat: seconds,
      exp: seconds + 60,
    };
    const parts = [
      { alg: 'RS256', kid: 'one' },
      { ...claims, ...state.lies.token },
    ];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }

  return {
    issuer,
    get lies() {
      return state.lies;
    },
    set lies(lies) {
      state.lies = lies;
    },
    nonce: (of) => (state.nonce = of),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function flood(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}
