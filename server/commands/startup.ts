/** What `serve` prints when it starts: where it listens, and warnings. */
import type { Config } from '../config.ts';
import { connectionsOf, hasOtherProcesses, isReadOnly } from '../database/open.ts';
import type { ConfiguredDatabase } from '../database/open.ts';
import { announceDemo } from './demo-announcement.ts';
import { printLines, warn } from './terminal.ts';

const providerTimeoutMs = 5_000;

type Startup = {
  config: Config;
  database: ConfiguredDatabase;
  url: string;
  demo: boolean;
  metricsUrl?: string | undefined;
  processes?: number;
};

/** Prints the startup messages. Fills an empty database with the demo; DATABASE_URL and production need --demo. */
export async function printStartup({ config, database, url, demo, metricsUrl, processes = 1 }: Startup): Promise<void> {
  if (database.displayUrl) printLines(`Database: ${database.displayUrl}`);
  if (demo || (database.folder !== undefined && config.NODE_ENV !== 'production')) await announceDemo(database, url);
  if (metricsUrl) printLines(`Metrics: ${metricsUrl}`);
  if (!config.PUBLIC_URL && config.NODE_ENV === 'production')
    warn(`Warning: PUBLIC_URL is not set, so every link in a response starts with ${url}.`);
  if (!config.REDIS_URL && (await hasOtherProcesses(database)))
    warn(
      'Warning: another process uses this database. Without REDIS_URL, each process enforces the rate limit separately.',
    );
  if (await isReadOnly(database))
    warn('Warning: the database is read-only, as a standby is: every write is rejected with a 503.');
  const { each, allowed } = await connectionsOf(database, config);
  if (allowed < each * processes)
    warn(
      `Warning: PostgreSQL allows ${allowed} connections, and the service opens up to ${each * processes}. Raise that limit, such as max_connections, or lower DATABASE_CONNECTIONS: requests that get no connection are rejected with a 503.`,
    );
  printLines(`Serving ${url}/v1 (Ctrl-C stops)`);
  if (config.OIDC_ISSUER) void warnOfProvider(config.OIDC_ISSUER);
}

/** Single sign-on fails until the provider responds; everything else works. */
async function warnOfProvider(issuer: string): Promise<void> {
  const document = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = await fetch(document, { signal: AbortSignal.timeout(providerTimeoutMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!found)
    warn(`Warning: the provider at OIDC_ISSUER does not respond at ${document}; single sign-on fails until it does.`);
}
