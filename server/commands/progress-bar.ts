/** The progress of a command: a bar that redraws itself on a terminal, occasional lines elsewhere. */

/** `bytesTotal`: undefined if the total is not known. */
export type Progress = { rowsRead: number; bytesRead?: number; bytesTotal?: number | undefined };

const width = 24;
const redrawEveryMs = 100;
const clearLine = '\r\u001B[K';
/** Where lines accumulate, such as in a job's log, one every ten seconds is enough. */
const lineEveryMs = 10_000;

export function drawProgress(progress: Progress, elapsedMs: number): string {
  const share = shareOf(progress);
  const filled = Math.round((share ?? 0) * width);
  const bar = share === undefined ? '' : `${'█'.repeat(filled)}${'░'.repeat(width - filled)} `;
  return bar + describeProgress(progress, elapsedMs);
}

function describeProgress(progress: Progress, elapsedMs: number): string {
  const share = shareOf(progress);
  const rate = Math.round(progress.rowsRead / Math.max(elapsedMs / 1000, 0.001));
  const rows = `${progress.rowsRead} rows  ${rate} rows/s`;
  if (share === undefined) return rows;
  const left = share > 0 && share < 1 ? `  ${timeOf((elapsedMs * (1 - share)) / share)} left` : '';
  return `${Math.floor(share * 100)} %  ${rows}${left}`;
}

function shareOf({ bytesRead = 0, bytesTotal }: Progress): number | undefined {
  if (bytesTotal === undefined) return undefined;
  return bytesTotal === 0 ? 1 : Math.min(1, bytesRead / bytesTotal);
}

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
  let shownMs = stream.isTTY ? -Infinity : startedMs;
  const show = (progress: Progress): void => {
    const nowMs = now();
    const elapsedMs = nowMs - startedMs;
    if (nowMs - shownMs < (stream.isTTY ? redrawEveryMs : lineEveryMs)) return;
    shownMs = nowMs;
    stream.write(
      stream.isTTY ? `${clearLine}${drawProgress(progress, elapsedMs)}` : `${describeProgress(progress, elapsedMs)}\n`,
    );
  };
  return { show, clear: (): void => void (stream.isTTY && stream.write(clearLine)) };
}

/** Shows the progress of `work` on standard error, and clears it at the end. */
export async function withProgress<T>(work: (bar: ReturnType<typeof progressBar>) => Promise<T>): Promise<T> {
  const bar = progressBar(process.stderr);
  try {
    return await work(bar);
  } finally {
    bar.clear();
  }
}
