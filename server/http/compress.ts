/** Compresses responses with gzip or Brotli, for requests that ask for it. */
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Below this, compression saves less than a network packet. */
const threshold = 1024;

const compressResponse: RequestHandler = compression({ threshold });

/** A request that does not ask for it costs one header lookup. The ETag stays: it names a record's version, not bytes. */
export const compress: RequestHandler = (request, response, next) => {
  response.setHeader('Vary', 'Accept-Encoding');
  const accepted = request.headers['accept-encoding'];
  if (accepted !== undefined && /\b(?:br|gzip)\b/.test(accepted)) compressResponse(request, response, next);
  else next();
};
