/** Compresses responses with gzip or Brotli, for requests that ask for it. */
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Below this, compression saves less than a network packet. */
const threshold = 1024;

const compressResponse: RequestHandler = compression({ threshold });

/** A request that does not ask pays for a look at one header. The ETag stays: it names the version of a record, not bytes. */
export const compress: RequestHandler = (request, response, next) => {
  response.setHeader('Vary', 'Accept-Encoding');
  const accepted = request.headers['accept-encoding'];
  if (accepted !== undefined && /\b(?:br|gzip)\b/.test(accepted)) compressResponse(request, response, next);
  else next();
};
