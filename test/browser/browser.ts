/** A real browser for the settings pages: Debian's Chromium, whose errors and warnings are collected. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFailed } from 'vitest';
import type { Member } from '../../server/entities/organization.ts';
import { violationsOf } from './accessibility.ts';
import { hasChromium, launchChromium, longestWaitMs } from './chromium.ts';
import { password } from '../settings/visiting.ts';

const sizes = [
  // The narrowest at which pages must not scroll sideways (WCAG 1.4.10): 400 % zoom on a screen of 1280 px.
  { width: 320, height: 640 },
  { width: 1280, height: 800 },
];

export type Screen = {
  /** A page in a new profile: no one is signed in, and nothing is cached. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** The same, but the member has signed in and sees the API keys. */
  openFor(member: Member, url: string, options?: BrowserContextOptions): Promise<Page>;
  /** The errors and warnings in the consoles of all its pages. */
  complaints: string[];
};

/** Call at the top of a file; the browser runs during its tests. */
export function useBrowser(): Screen {
  const complaints: string[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (hasChromium) browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  const screen: Screen = {
    complaints,
    async open(options = {}) {
      const context = await (browser as Browser).newContext({
        ...options,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      context.setDefaultTimeout(longestWaitMs);
      onTestFailed(() => showPages(context));
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
      page.on('console', (message) => {
        // Some tests open pages that respond with 4xx.
        const isPage = message.location().url === page.url() && message.text().startsWith('Failed to load resource');
        if (['error', 'warning'].includes(message.type()) && !isPage)
          complaints.push(`${page.url()}: ${message.text()}`);
      });
      return page;
    },
    async openFor(member, url, options) {
      const page = await screen.open(options);
      await signInWith(page, url, member);
      return page;
    },
  };
  return screen;
}

/** Prints what a failed test was looking at. */
async function showPages(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const text = await page.locator('body').innerText().catch(String);
    process.stdout.write(`${page.url()} shows:\n${text.slice(0, 2_000)}\n`);
  }
}

/** From now on, timers of the page fire only when the test says so: `page.clock.runFor(ms)`, `page.clock.resume()`. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

export async function signInWith(page: Page, url: string, member: Member): Promise<void> {
  await page.goto(`${url}/settings/api-keys`);
  await fillSignIn(page, member);
  await page.getByRole('heading', { name: 'API Keys', exact: true }).waitFor();
}

/** Sends the form of the sign-in page. */
export async function fillSignIn(page: Page, { email }: Pick<Member, 'email'>, typed = password): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(typed);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Sends the form of the Imports page. */
export async function upload(page: Page, name: string, content: string): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(content) };
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByRole('button', { name: 'Upload and check' }).click();
}

/** Where the layout changes: tables and forms are at their widest. */
const breakpoints = [768, 1120];

let shots = 0;

/**
 * Nothing is wider than the screen and, in both sizes and both color schemes, there are no accessibility violations. If
 * SHOTS is set to a folder, screenshots are saved there.
 */
export async function expectSound(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  // The page's CSP would block such a script, but does not apply to DevTools.
  const evaluate = async (expression: string) =>
    (await devtools.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result
      .value as unknown;
  const name = page.url().replace(/^https?:\/\/[^/]+/, '');
  shots += 1;
  const expectToFit = async (width: number) => {
    const tooWide = await evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(tooWide, `${name} at ${width} px scrolls sideways`).toBe(0);
  };
  for (const width of breakpoints) {
    await page.setViewportSize({ width, height: 800 });
    await expectToFit(width);
  }
  for (const size of sizes) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Colors change gradually, and earlier changes may still be in progress.
      await evaluate(twoFrames);
      await evaluate('Promise.all(document.getAnimations().map((each) => each.finish()))');
      if (process.env.SHOTS) {
        const file = `${String(shots).padStart(3, '0')}-${name.replaceAll(/\W+/g, '-').slice(1, 60)}`;
        await page.screenshot({
          path: `${process.env.SHOTS}/${file}-${size.width}-${colorScheme}.png`,
          fullPage: true,
        });
      }
      const violations = await violationsOf(evaluate, { onlyColors: colorScheme === 'dark' });
      expect(violations, `${name} at ${size.width} px, ${colorScheme}`).toEqual([]);
      await expectToFit(size.width);
      expect(await evaluate(coveredLabels), `${name} at ${size.width} px: text over its box`).toEqual([]);
    }
  }
  expect(await evaluate(unclaimedPasswords), `${name}: passwords without an account`).toEqual([]);
  await devtools.detach();
}

/** On a busy machine, the browser may stop drawing: then the wait has an end, too. */
const twoFrames = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(resolve));
  setTimeout(resolve, 10_000);
})`;

/** Forms with a password that do not tell password managers whose it is. An API key is not a password. */
const unclaimedPasswords = `[...document.querySelectorAll('form:has([autocomplete$=-password]):not(:has([autocomplete=username]))')]
  .map((form) => form.action)`;

/** Labels whose text lies over their radio button or checkbox. */
const coveredLabels = `[...document.querySelectorAll('label > :is([type=radio], [type=checkbox])')].filter((box) => {
  const text = document.createRange();
  text.selectNodeContents(box.parentElement);
  text.setStartAfter(box);
  const { right, bottom, width } = box.getBoundingClientRect();
  return width > 0 && [...text.getClientRects()].some((rect) => rect.width > 0 && rect.left < right - 1 && rect.top < bottom - 4);
}).map((box) => box.parentElement.textContent)`;
