/** The files that the pages of the documentation load. */
import { ownFile } from '../../files.ts';
import { readAsset } from '../assets.ts';

export type Assets = ReturnType<typeof readAssets>;

export function readAssets() {
  const own = (file: string) => readAsset(ownFile(`web/docs/assets/${file}`));
  return {
    style: own('docs.css'),
    script: own('docs.js'),
    reference: own('reference.js'),
  };
}
