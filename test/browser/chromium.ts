/** The browser of the browser tests: Debian's Chromium, or the one that CHROMIUM names. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => place !== undefined && existsSync(place));

const chromiumIsMissing =
  'There is no Chromium here: the browser tests are left out. `apt-get install chromium` brings it; CHROMIUM names another place.';

if (!executablePath && process.env.REQUIRE_CHROMIUM) throw new Error(chromiumIsMissing);
export const hasChromium = executablePath !== undefined;

/** Vitest calls this before a run. */
export function setup(): void {
  if (!hasChromium) process.stdout.write(`${chromiumIsMissing}\n`);
}

/** Ends a hang; Playwright's own 30 seconds would measure how busy the machine is. */
export const patienceMs = 150_000;

export function launchChromium(): Promise<Browser> {
  const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu'].map((what) => `--disable-${what}`);
  return chromium.launch({
    executablePath: executablePath ?? '',
    headless: true,
    timeout: patienceMs,
    args: ['--no-sandbox', '--no-first-run', ...quiet],
  });
}
