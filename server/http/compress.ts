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
  if (accepted === undefined || !/\b(?:br|gzip)\b/.test(accepted)) return next();
  if (request.method !== 'HEAD') return compressResponse(request, response, next);
  // The headers of a HEAD are those of a GET. The library would leave it as it is, with the length of the whole body.
  const asGet = Object.create(request, { method: { value: 'GET' } }) as typeof request;
  return compressResponse(asGet, response, next);
};
