/** A real mail server and a real OpenID provider, each on a port of this machine. */
import { createServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { promisify } from 'node:util';
import { Provider } from 'oidc-provider';
import { SMTPServer } from 'smtp-server';
import { listen } from '../ports.ts';

type ReceivedMail = { from: string; to: string[]; text: string };

type MailServer = {
  url: string;
  mails: ReceivedMail[];
  reject(address: string): void;
  /** Again, after `reject`. */
  accept(address: string): void;
  close(): Promise<void>;
};

/** Accepts and keeps every mail, except those to addresses that it rejects. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const rejected = new Set<string>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _, done) {
      const unknown = Object.assign(new Error(`<${address}> is nobody here`), { responseCode: 550 });
      done(rejected.has(address) ? unknown : undefined);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const raw = Buffer.concat(chunks).toString('utf8');
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text: decodeQuotedPrintable(raw),
        });
        done();
      });
    },
  });
  return {
    url: `smtp://127.0.0.1:${await listen(server.server)}`,
    mails,
    reject: (address) => void rejected.add(address),
    accept: (address) => void rejected.delete(address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** A mail server that never finishes its response to the client's greeting, of which it sends a line now and then. */
export async function startEndlessMailServer() {
  const server = createNetServer((socket) => {
    const timer = setInterval(() => socket.write('250-more\r\n'), 20);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    socket.write('220 mail\r\n');
  });
  const connections = promisify(server.getConnections.bind(server));
  return { url: `smtp://127.0.0.1:${await listen(server)}`, connections, close: () => server.close() };
}

const decodeQuotedPrintable = (raw: string): string =>
  raw
    .replaceAll('\r\n', '\n')
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));

export type Person = { email: string; verified: boolean };

/** An OpenID provider that signs in anyone by the name they type; `people` maps names to addresses. */
export async function startOpenIdProvider(redirectUri: string): Promise<{
  issuer: string;
  people: Map<string, Person>;
  client: { id: string; secret: string };
  close(): Promise<void>;
}> {
  const people = new Map<string, Person>();
  const client = { id: 'settings', secret: 'a secret of the provider and the service' };
  const server = createServer();
  const issuer = `http://localhost:${await listen(server)}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, id) => {
      const person = people.get(id);
      if (!person) return undefined;
      const claims = { sub: id, name: id, email: person.email, email_verified: person.verified };
      return { accountId: id, claims: () => Promise.resolve(claims) };
    },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the provider'] },
    features: { devInteractions: { enabled: true } },
  });
  const respond = provider.callback();
  server.on('request', (request, response) => void respond(request, response));
  return {
    issuer,
    people,
    client,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
