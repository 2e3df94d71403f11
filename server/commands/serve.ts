import { readConfig } from '../config.ts';
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
Usage: node server/main.ts serve [--demo]

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
