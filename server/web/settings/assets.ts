/** Stylesheets, the script and the icon of the settings pages. */
import { ownFile } from '../../files.ts';
import { readAsset, serveAssets } from '../assets.ts';

const own = (file: string) => readAsset(ownFile(`web/settings/assets/${file}`));

const assets = {
  pico: readAsset(new URL(import.meta.resolve('@picocss/pico/css/pico.min.css'))),
  style: own('settings.css'),
  script: own('settings.js'),
  icon: own('icon.svg'),
};

const pathOf = (name: keyof typeof assets) => `/settings/assets/${assets[name].name}`;

/** The paths that a page names. */
export const assetPaths = {
  pico: pathOf('pico'),
  style: pathOf('style'),
  script: pathOf('script'),
  icon: pathOf('icon'),
};

/** GET /settings/assets/:file */
export const serveAsset = serveAssets(Object.values(assets));
