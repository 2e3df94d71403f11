/** How far an import is, drawn over itself in one line of a terminal. */
import type { Progress } from './import-file.ts';

const width = 24;
const clearLine = '\r\u001B[K';

export function drawProgress({ bytesRead, bytesTotal, rowsRead }: Progress, elapsedMs: number): string {
  const share = bytesTotal === 0 ? 1 : Math.min(1, bytesRead / bytesTotal);
  const filled = Math.round(share * width);
  const rate = Math.round(rowsRead / Math.max(elapsedMs / 1000, 0.001));
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
  return `${bar} ${Math.floor(share * 100)} %  ${rowsRead} rows  ${rate} rows/s`;
}

/** Draws on a terminal, and is silent where output goes to a file or another program. */
export function progressBar(stream: NodeJS.WriteStream) {
  const startedMs = performance.now();
  const write = (text: string) => void (stream.isTTY && stream.write(text));
  return {
    show: (progress: Progress): void => write(`${clearLine}${drawProgress(progress, performance.now() - startedMs)}`),
    clear: (): void => write(clearLine),
  };
}
