/** Runs commands in the test process, which saves starting one each, and collects their output. */
import { Readable } from 'node:stream';
import { runCommandLine } from '../server/commands/command-line.ts';

export type Ran = { status: number; out: string; err: string };

type Typed = { typed: string };

/** Runs a command with these variables and this standard input, which may be typed at a terminal. */
export async function runCommand(
  words: string[],
  variables: NodeJS.ProcessEnv,
  input: string | Typed = '',
): Promise<Ran> {
  const { env, stdin } = process;
  const [out, err]: [string[], string[]] = [[], []];
  const restore = [collecting(process.stdout, out), collecting(process.stderr, err)];
  process.env = { ...env, ...variables };
  const isTTY = typeof input === 'object';
  const value = Object.assign(Readable.from([Buffer.from(isTTY ? input.typed : input)]), { isTTY });
  Object.defineProperty(process, 'stdin', { value, configurable: true });
  try {
    const status = await runCommandLine(words);
    return { status, out: out.join(''), err: err.join('') };
  } finally {
    process.env = env;
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
    for (const undo of restore) undo();
  }
}

/** The help of a command, without line breaks. */
export async function helpOf(...words: string[]): Promise<string> {
  return (await runCommand([...words, '--help'], {})).out.replaceAll(/\s+/g, ' ');
}

function collecting(stream: NodeJS.WriteStream, lines: string[]): () => void {
  const { write } = stream;
  stream.write = (chunk: Uint8Array | string) => {
    lines.push(String(chunk));
    return true;
  };
  return () => {
    stream.write = write;
  };
}
