/** The files that the pages load: read once, and named by their content, so that a browser may keep them for good. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Scalar's standalone viewer, as `@scalar/api-reference` publishes it. Kept here and not installed: this one file of 1.2
 * MiB is all that is served, while the package brings 272 packages and 290 MB along. To renew it, in this folder's
 * `assets`, change `version` and `sha256` after
 *
 *     tar -xzOf $(npm pack --silent @scalar/api-reference@VERSION) package/dist/browser/standalone.js > scalar.js
 *     sha256sum scalar.js && gzip --best --no-name scalar.js
 */
export const scalar = {
  version: '1.72.1',
  file: 'scalar.js.gz',
  sha256: 'bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c',
} as const;

export type Asset = { name: string; type: string; stored: Buffer; gzipped: boolean };
export type Assets = ReturnType<typeof readAssets>;

const script = 'text/javascript; charset=utf-8';
const styleSheet = 'text/css; charset=utf-8';

export function readAssets() {
  return {
    style: readAsset('docs.css', styleSheet),
    copy: readAsset('copy.js', script),
    referenceStyle: readAsset('reference.css', styleSheet),
    reference: readAsset('reference.js', script),
    scalar: readAsset(scalar.file, script),
  };
}

function readAsset(file: string, type: string): Asset {
  const stored = readFileSync(new URL(`assets/${file}`, import.meta.url));
  const mark = createHash('sha256').update(stored).digest('hex').slice(0, 10);
  const [stem = '', extension = ''] = file.split('.');
  return { name: `${stem}.${mark}.${extension}`, type, stored, gzipped: file.endsWith('.gz') };
}
