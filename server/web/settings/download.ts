/** Files that the settings pages write while the browser reads them. */
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

const bounds = { idleMs: 30_000, wholeMs: 10 * 60_000 };

/** Reads `pieces` only as fast as the browser does. If that fails, closing the connection marks the file as incomplete. */
export async function sendPieces(response: Response, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  response.setTimeout(bounds.idleMs, () => response.destroy());
  try {
    await pipeline(pieces, response, { signal: AbortSignal.timeout(bounds.wholeMs) });
  } catch (error) {
    response.locals.failure = error;
    response.destroy();
  }
}
