/** Static files of the pages, read once at startup and named by content hash, so browsers can cache them forever. */
import { hash as hashOf } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { RequestHandler } from 'express';

export type Asset = {
  /** Name in the URL, such as `settings.3f2a9c0d1e.css`. */
  name: string;
  bytes: Buffer;
};

/** `adapt` changes a file of text. */
export function readAsset(source: URL, adapt?: (text: string) => string): Asset {
  const file = readFileSync(source);
  const bytes = adapt ? Buffer.from(adapt(file.toString())) : file;
  const hash = hashOf('sha256', bytes, 'hex').slice(0, 10);
  const [stem = ''] = basename(source.pathname).split('.');
  return { name: `${stem}.${hash}${extname(source.pathname)}`, bytes };
}

/** Handles `GET …/:file`; calls `next` for unknown names. */
export function serveAssets(assets: Readonly<Record<string, Asset>>): RequestHandler<{ file: string }> {
  const byName = new Map(Object.values(assets).map((asset) => [asset.name, asset]));
  return (request, response, next) => {
    const asset = byName.get(request.params.file);
    if (!asset) return next();
    response.set('Cache-Control', 'public, max-age=31536000, immutable');
    response.type(extname(asset.name)).send(asset.bytes);
  };
}
