/** The service as separate processes, which a test may stop and kill. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { program } from '../program.ts';

export type Running = {
  child: ChildProcess;
  url: string;
  /** Everything printed so far: standard output and the log. */
  output: { text: string };
  /** Sends the signal, and returns the exit status, or the signal that ended the process. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
};

/** Starts a command of the service; it may end on its own. `log` is where its log goes; `NODE` is the Node that runs it. */
export function start(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  file = program,
  log: number | 'pipe' = 'pipe',
) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(environment.NODE ?? process.execPath, [file, ...words], {
    cwd: tmpdir(),
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', log],
  });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output.text += String(chunk)));
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    return child.exitCode ?? child.signalCode;
  };
  return { child, output, exited, end };
}

/** Starts `serve`, and waits until it serves. */
export async function startServing(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  file = program,
  log: number | 'pipe' = 'pipe',
): Promise<Running> {
  const { child, output, end } = start(['serve', ...words], { PORT: '0', ...environment }, file, log);
  for (;;) {
    const [, url] = /Serving (http\S+)\/v1/.exec(output.text) ?? [];
    if (url) return { child, url, output, end };
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended: ${output.text}`);
    await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  }
}
