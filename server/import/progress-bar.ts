/** The progress of an import: a bar that redraws itself on a terminal, occasional lines elsewhere. */
import type { Progress } from './import-file.ts';

const width = 24;
const clearLine = '\r\u001B[K';
/** Where lines accumulate, such as in a job's log, one every ten seconds is enough. */
const lineEveryMs = 10_000;

export function drawProgress(progress: Progress, elapsedMs: number): string {
  const share = shareOf(progress);
  const filled = Math.round(share * width);
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${describeProgress(progress, elapsedMs)}`;
}

export function describeProgress(progress: Progress, elapsedMs: number): string {
  const share = shareOf(progress);
  const rate = Math.round(progress.rowsRead / Math.max(elapsedMs / 1000, 0.001));
  const left = share > 0 && share < 1 ? `  ${timeOf((elapsedMs * (1 - share)) / share)} left` : '';
  return `${Math.floor(share * 100)} %  ${progress.rowsRead} rows  ${rate} rows/s${left}`;
}

const shareOf = ({ bytesRead, bytesTotal }: Progress) => (bytesTotal === 0 ? 1 : Math.min(1, bytesRead / bytesTotal));

/** `1:05`, or `2:03:10` from an hour on. */
function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

type Stream = { isTTY?: boolean; write(text: string): unknown };

export function progressBar(stream: Stream, now: () => number = () => performance.now()) {
  const startedMs = now();
  let lastLineMs = startedMs;
  const show = (progress: Progress): void => {
    const elapsedMs = now() - startedMs;
    if (stream.isTTY) {
      stream.write(`${clearLine}${drawProgress(progress, elapsedMs)}`);
    } else if (now() - lastLineMs >= lineEveryMs) {
      lastLineMs = now();
      stream.write(`${describeProgress(progress, elapsedMs)}\n`);
    }
  };
  return { show, clear: (): void => void (stream.isTTY && stream.write(clearLine)) };
}
