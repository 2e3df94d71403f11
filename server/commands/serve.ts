import cluster from 'node:cluster';
import { describedVariables, readConfig, UsageError } from '../config.ts';
import type { Config } from '../config.ts';
import { requireFreePort } from '../http/listen.ts';
import { misspelledVariables } from './misspelled-variables.ts';
import { onStopSignal } from './stop-signal.ts';
import { temporaryFolderWarnings } from './temporary-folder.ts';
import { wholeNumber } from './command.ts';
import type { Declare } from './command.ts';
import { serveProcess } from './serve/process.ts';
import { serveWithWorkers } from './serve/workers.ts';
import { warn } from './terminal.ts';

/** Each name with its meaning below, in lines of at most 90 characters. */
const environment = describedVariables.flatMap(({ name, meaning, fallback }) => {
  const words = `${meaning} (default: ${fallback})`.replaceAll('`', '');
  return [`  ${name}`, ...(words.match(/\S.{0,83}(?= |$)/g) ?? []).map((line) => `      ${line}`)];
});

const notes = `
Environment:
${environment.join('\n')}

Human-readable messages go to standard output; the JSON log goes to standard error.
`;

export const declare: Declare = (command) =>
  command
    .description(
      `Serves the API until it receives SIGINT (Ctrl-C) or SIGTERM, then finishes requests in flight. Idle connections may
send one more request for 3 seconds. A second signal exits immediately. An empty embedded database is filled with a demo
organization, whose API key is shown once.`,
    )
    .addHelpText('after', notes)
    .option('--demo', 'fill an empty database with the demo even with DATABASE_URL or in production')
    .option(
      '--workers <N>',
      'number of processes on one port; more than one requires REDIS_URL, so that they share the rate limit',
      wholeNumber(1, 128),
      1,
    )
    .action(async ({ workers, demo = false }) => {
      const config = readConfig();
      if (cluster.isPrimary) warn(...misspelledVariables(), ...(await temporaryFolderWarnings()));
      if (workers > 1 && !config.REDIS_URL) {
        throw new UsageError(
          '--workers needs REDIS_URL: without a shared store, each worker would admit the full rate limit of every key.',
        );
      }
      const port = cluster.isPrimary ? await requireFreePorts(config) : config.PORT;
      const stop = onStopSignal();
      try {
        if (cluster.isPrimary && workers > 1)
          await serveWithWorkers(workers, { ...config, PORT: port }, stop, { demo });
        else await serveProcess(config, stop, { demo });
      } finally {
        // The channel to its primary would keep a worker alive, even one that could not start.
        cluster.worker?.disconnect();
      }
    });

async function requireFreePorts({ HOST: host, PORT, METRICS_PORT }: Config): Promise<number> {
  const port = await requireFreePort({ host, port: PORT });
  if (METRICS_PORT !== undefined) await requireFreePort({ host, port: METRICS_PORT }, 'METRICS_PORT');
  return port;
}
