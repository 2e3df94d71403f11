/** Files that the settings pages write while the browser reads them. */
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

const wholeMs = 10 * 60_000;

/** Reads `pieces` only as fast as the browser does. If that fails, closing the connection marks the file as incomplete. */
export async function sendPieces(response: Response, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    await pipeline(pieces, response, { signal: AbortSignal.timeout(wholeMs) });
  } catch (error) {
    response.locals.failure = error;
  }
}
