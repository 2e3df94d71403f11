/** The browser for the browser tests: Debian's Chromium, or the one at CHROMIUM. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => place !== undefined && existsSync(place));

const chromiumIsMissing =
  'Chromium was not found, so the browser tests are skipped. Run `apt-get install chromium`, or set CHROMIUM to its path.';

if (!executablePath && process.env.REQUIRE_CHROMIUM) throw new Error(chromiumIsMissing);
export const hasChromium = executablePath !== undefined;

/** Vitest calls this before a run. */
export function setup(): void {
  if (!hasChromium) process.stdout.write(`${chromiumIsMissing}\n`);
}

/** Only ends hangs: on a busy machine, Playwright's default of 30 seconds is too short. */
export const longestWaitMs = 150_000;

export function launchChromium(): Promise<Browser> {
  const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu'].map((what) => `--disable-${what}`);
  return chromium.launch({
    executablePath: executablePath ?? '',
    headless: true,
    timeout: longestWaitMs,
    args: ['--no-sandbox', '--no-first-run', ...quiet],
  });
}
