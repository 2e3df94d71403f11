import cluster from 'node:cluster';
import { readConfig, UsageError } from '../config.ts';
import { onStopSignal } from './stop-signal.ts';
import { readWords } from './command.ts';
import type { Command } from './command.ts';
import { serveProcess } from './serve-process.ts';
import { serveWithWorkers } from './serve-workers.ts';

export const serveCommand: Command = {
  help: `
Usage: npx proposal-api serve [--demo] [--workers N]

Serves the API until it is told to stop (Ctrl-C or SIGTERM): requests in flight are finished, and idle connections may
send one more for 3 seconds. A second signal ends it at once.
An empty embedded database is filled with a demo organization, whose API key is shown once; --demo does the same for
an empty database at DATABASE_URL.

Options:
  --workers N   serve with N processes on one port; more than one needs REDIS_URL, for the rate limit over all of them

Environment:
  PORT          port to listen on (default 3000; 0 takes a free one)
  HOST          address to listen on (default 127.0.0.1; 0.0.0.0 for every interface)
  PUBLIC_URL    URL of the service as its callers see it (default: where it listens)
  NODE_ENV      production makes it warn if PUBLIC_URL is missing
  DATABASE_URL  PostgreSQL 15 to 18, as postgresql://user:password@host:5432/name (default: an embedded one)
  DATABASE_POOLER_URL       PgBouncer in transaction mode before that database, for requests (default: none)
  DATABASE_POOLER_PREPARES  true if it keeps prepared statements: PgBouncer 1.21 with max_prepared_statements
  DATA_DIR      folder of the embedded database (default: .data in the program's folder)
  REDIS_URL     Redis 7 or Valkey, as redis://host:6379, for one rate limit over several processes
  METRICS_PORT  port on which /metrics is served for Prometheus (default: none)
  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_TRACES_EXPORTER,
  OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, OTEL_SDK_DISABLED
                OpenTelemetry traces, exported over OTLP/HTTP if an endpoint or the exporter is set (default: none)
  AUTH_SECRET   signs the sessions of the settings pages (default: a random one, kept in the database)
  SMTP_URL      mail server for invitations and password links, as smtp://user:password@host:587 (default: none)
  MAIL_FROM     sender of that mail (default: no-reply at the host of PUBLIC_URL)
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET
                OpenID provider for single sign-on; its redirect URL is PUBLIC_URL/settings/oidc/callback
  TRUSTED_PROXIES  number of own proxies in front that add to X-Forwarded-For, for sign-in limits (default 0)

What people read goes to standard output; the log, one JSON object a line, goes to standard error.
`,
  async run(words) {
    const { values } = readWords(words, { demo: { type: 'boolean' }, workers: { type: 'string' } });
    const workers = workerCount(values.workers);
    const config = readConfig();
    if (workers > 1 && !config.REDIS_URL) {
      throw new UsageError(
        '--workers needs REDIS_URL: without a shared store, each worker would admit the full rate limit of every key.',
      );
    }
    const stop = onStopSignal();
    if (cluster.isPrimary && workers > 1) await serveWithWorkers(workers, config, stop, { demo: values.demo === true });
    else await serveProcess(config, stop, { demo: values.demo === true });
    // Its channel to the primary would keep a worker alive.
    cluster.worker?.disconnect();
    return 0;
  },
};

const mostWorkers = 128;

function workerCount(word: string | undefined): number {
  const count = word === undefined ? 1 : Number(word);
  if (Number.isInteger(count) && count >= 1 && count <= mostWorkers) return count;
  throw new UsageError(`--workers must be a whole number from 1 to ${mostWorkers}`);
}
