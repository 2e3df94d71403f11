import { readConfig, UsageError } from '../config.ts';
import type { Config } from '../config.ts';
import type { SettingsOptions } from '../web/settings/routes.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import { ensureDemo } from '../demo/demo.ts';
import { standardLog } from '../http/log.ts';
import { serve } from '../http/server.ts';
import { setPassword } from '../accounts/sign-in.ts';
import { readWords } from './command.ts';
import type { Command } from './command.ts';

export const serveCommand: Command = {
  summary: 'serve the API',
  help: `
Usage: npx proposal-api serve [--demo]

Serves the API until it is told to stop (Ctrl-C or SIGTERM), after the requests in flight are answered.
An empty embedded database is filled with a demo organization, whose API key is printed once; --demo does the same for
an empty database at DATABASE_URL.

Environment:
  PORT          port to listen on (default 3000; 0 takes a free one)
  HOST          address to listen on (default 127.0.0.1; 0.0.0.0 for every interface)
  PUBLIC_URL    address of the service as its callers see it (default: where it listens)
  DATABASE_URL  PostgreSQL 15 to 18, as postgresql://user:password@host:5432/name (default: an embedded one)
  DATA_DIR      folder of the embedded database (default: .data in the program's folder)
  AUTH_SECRET   signs the sessions of the settings pages (default: a random one, kept in the database)
  SMTP_URL      mail server for invitations and password links, as smtp://user:password@host:587 (default: none)
  MAIL_FROM     sender of that mail (default: no-reply at the host of PUBLIC_URL)
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET
                OpenID provider for single sign-on; its redirect URL is PUBLIC_URL/settings/oidc/callback
  TRUSTED_PROXIES  number of own proxies in front that add to X-Forwarded-For, for sign-in limits (default 0)

What people read goes to standard output; the log, one JSON object a line, goes to standard error.
`,
  async run(words) {
    const { values } = readWords(words, { demo: { type: 'boolean' } });
    const config = readConfig();
    const stopped = stopSignal();
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    const database = await openConfiguredDatabase(config, say);
    try {
      const serving = await serve({
        database,
        log: standardLog,
        host: config.HOST,
        port: config.PORT,
        publicUrl: config.PUBLIC_URL,
        authSecret: config.AUTH_SECRET,
        trustedProxies: config.TRUSTED_PROXIES,
        ...settingsOptions(config),
      });
      try {
        if (database.url) say(`Database: ${database.url}`);
        if (database.embedded || values.demo) {
          await ensureDemo(database, serving.url, say, (member, password) => setPassword(database, member, password));
        }
        say(`Serving ${serving.url}/v1 (Ctrl-C stops)`);
        await stopped;
        say('Stopping: answering the requests in flight.');
      } finally {
        await serving.close();
      }
    } finally {
      await database.close();
    }
    return 0;
  },
};

/** Mail and single sign-on, where they are configured. */
function settingsOptions(config: Config): SettingsOptions {
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL, OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = config;
  const host = PUBLIC_URL ? new URL(PUBLIC_URL).hostname : 'localhost';
  const given = [OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET].filter(Boolean).length;
  if (given !== 0 && given !== 3)
    throw new UsageError('Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together, or none of them');
  return {
    ...(SMTP_URL && { mail: { url: SMTP_URL, from: MAIL_FROM ?? `Proposal API <no-reply@${host}>` } }),
    ...(OIDC_ISSUER &&
      OIDC_CLIENT_ID &&
      OIDC_CLIENT_SECRET && {
        singleSignOn: { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET },
      }),
  };
}

/** The first signal asks to stop; a second one does not wait any longer. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        resolve();
      });
    }
  });
}
