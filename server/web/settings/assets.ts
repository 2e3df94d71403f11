/** Stylesheets, the script and the icon: read once, served under names that change with what is in them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

const own = (name: string) => new URL(`assets/${name}`, import.meta.url);

const pico = asset('pico', 'css', 'text/css', new URL(import.meta.resolve('@picocss/pico/css/pico.min.css')));
const style = asset('settings', 'css', 'text/css', own('settings.css'));
const script = asset('settings', 'js', 'text/javascript', own('settings.js'));
const icon = asset('icon', 'svg', 'image/svg+xml', own('icon.svg'));
const all = new Map([pico, style, script, icon].map((each) => [each.file, each]));

/** The addresses that a page names. */
export const assetPaths = { pico: pico.path, style: style.path, script: script.path, icon: icon.path };

/** GET /settings/assets/:file; goes on where there is no such file. */
export const serveAsset: RequestHandler<{ file: string }> = (request, response, next) => {
  const found = all.get(request.params.file);
  if (!found) return next();
  response.set({
    'Content-Type': `${found.type}; charset=utf-8`,
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
  });
  if (!request.acceptsEncodings('gzip')) return void response.send(found.bytes);
  response.set('Content-Encoding', 'gzip').send(found.zipped);
};

function asset(name: string, extension: string, type: string, source: URL) {
  const bytes = readFileSync(fileURLToPath(source));
  const file = `${name}-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${extension}`;
  return { file, path: `/settings/assets/${file}`, type, bytes, zipped: gzipSync(bytes) };
}
