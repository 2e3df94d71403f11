/** The files that the pages of the documentation load. */
import { ownFile } from '../../files.ts';
import { readAsset } from '../assets.ts';

/**
 * Scalar's standalone viewer, as `@scalar/api-reference` publishes it. Kept here and not installed: this one file of 1.2
 * MiB is all that is served, while the package has 272 dependencies and 290 MB. To update it, in this folder's
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

export type Assets = ReturnType<typeof readAssets>;

export function readAssets() {
  const own = (file: string) => readAsset(ownFile(`web/docs/assets/${file}`));
  return {
    style: own('docs.css'),
    script: own('docs.js'),
    referenceStyle: own('reference.css'),
    reference: own('reference.js'),
    scalar: own(scalar.file),
  };
}
