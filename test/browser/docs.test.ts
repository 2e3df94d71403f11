/** The docs in a real browser: what people see and do there, and what the browser complains about. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectSound, stopClock, useBrowser } from './browser.ts';
import { hasChromium } from './chromium.ts';
import { useWorld } from '../world.ts';
import { pagePaths } from '../docs/reading.ts';

const world = useWorld();
const screen = useBrowser();
const phone = { width: 360, height: 800 };
const desktop = { width: 1280, height: 900 };

/** How many pieces of code are wider than their room. */
const cutOff = "[...document.querySelectorAll('pre')].filter((pre) => pre.scrollWidth > pre.clientWidth).length";

/** Values that are broken after their hyphen, such as -createdAt. */
const broken =
  "[...document.querySelectorAll('td code')].filter((code) => code.textContent.startsWith('-') && code.getClientRects().length > 1).map((code) => code.textContent)";

describe.runIf(hasChromium)('in a browser', () => {
  /** A page whose requests to other origins are complaints. */
  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await screen.open(options);
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (!['data:', 'blob:'].includes(protocol) && origin !== world.url)
        screen.complaints.push(`asked for ${request.url()}`);
    });
    return page;
  }

  test('the pages fit and are accessible', async () => {
    const page = await open();
    for (const path of [...pagePaths, '/docs/search?q=retry']) {
      await page.goto(world.url + path);
      await expectSound(page);
    }
  });

  test('at 1280 pixels no line of code is cut off, and no value in a table is broken', async () => {
    const page = await open({ viewport: desktop });
    for (const path of pagePaths) {
      await page.goto(world.url + path);
      expect(await page.evaluate(cutOff), path).toBe(0);
      expect(await page.evaluate(broken), path).toEqual([]);
    }
  });

  test('on a phone, the navigation is collapsed, and can be opened', async () => {
    const page = await open({ viewport: phone });
    await page.goto(`${world.url}/docs/errors`);
    const link = page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Rate limit' });
    expect(await link.count()).toBe(0);
    await page.getByText('Menu').click();
    await link.click();
    await page.getByRole('heading', { name: 'Rate limit', level: 1 }).waitFor();
  });

  test('code in several languages is in tabs, and a choice applies to all pages', async () => {
    const page = await open();
    await page.goto(`${world.url}/docs/first-call`);
    const groups = page.locator('.tabs');
    expect(await groups.count()).toBeGreaterThan(3);
    expect(await page.getByText('await client.me.get()').isVisible()).toBe(false);
    await page.getByRole('tab', { name: 'TypeScript' }).first().click();
    await page.getByText('await client.me.get()').waitFor();
    expect(await page.getByText('curl -X PATCH').isVisible()).toBe(false);
    await page.keyboard.press('ArrowLeft');
    await page.getByText('curl -X PATCH').waitFor();
    const chosen = () => groups.first().locator('[aria-selected="true"]').innerText();
    const tabs = await groups.first().getByRole('tab').allInnerTexts();
    for (const [key, tab] of [
      ['End', tabs.at(-1)],
      ['ArrowRight', tabs[0]],
      ['ArrowRight', tabs[1]],
      ['Home', tabs[0]],
    ] as const) {
      await page.keyboard.press(key);
      expect([key, await chosen()]).toEqual([key, tab]);
    }
    await page.keyboard.press('ArrowLeft');
    expect(await groups.first().getByRole('tab').last().getAttribute('aria-selected')).toBe('true');
    await page.goto(`${world.url}/docs/pagination-and-sync`);
    await page.getByText('for customer in page["data"]').waitFor();
    await page.getByText('fresh.replace(file)').waitFor();
    expect(await page.getByText('for await (const { id, name, email }').isVisible()).toBe(false);
  });

  test('in high contrast mode, the chosen tab looks different from the others', async () => {
    const page = await open();
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(`${world.url}/docs/first-call`);
    const lineOf = (tab: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${tab}')).borderBottomColor`);
    expect(await lineOf('[aria-selected="true"]')).not.toBe(await lineOf('[aria-selected="false"]'));
  });

  test('the guides are complete without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false });
    await page.goto(`${world.url}/docs`);
    await page.getByRole('navigation').getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('heading', { name: 'rate_limited' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });

  test('the keyboard can skip to the content, and scroll code that is wider than the screen', async () => {
    const page = await open({ viewport: phone });
    await page.goto(`${world.url}/docs/first-call`);
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate('document.activeElement.textContent');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.locator('pre').nth(1).focus();
    const scrolled = async () => {
      // On a busy machine, Chromium can ignore a single key.
      await page.keyboard.press('ArrowRight');
      return page.evaluate('document.activeElement.scrollLeft');
    };
    await expect.poll(scrolled).toBeGreaterThan(0);
  });

  test('on paper, a guide has no navigation and no buttons, and no line of code is cut off', async () => {
    const page = await open({ viewport: phone });
    await page.goto(`${world.url}/docs`);
    await page.getByRole('button', { name: 'Copy' }).first().waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
    for (const control of await page.locator('button, input, nav, summary').all())
      expect(await control.isVisible(), String(await control.textContent())).toBe(false);
    expect(await page.evaluate(cutOff)).toBe(0);
  });

  test('a piece of code is copied unchanged', async () => {
    const page = await open();
    await page.goto(`${world.url}/docs`);
    await stopClock(page);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.clock.runFor(2_000);
    await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `export API_KEY=ak_live_your_key\ncurl ${world.url}/v1/me -H "Authorization: Bearer $API_KEY"`,
    );
  });

  test('a piece of code is selected if the browser does not let pages use the clipboard', async () => {
    const page = await open();
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.goto(`${world.url}/docs`);
    await stopClock(page);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Now copy it' }).waitFor();
    expect(await page.evaluate('getSelection().toString()')).toMatch(/^export API_KEY=ak_live_your_key\n/);
  });

  test('a request can be tried with one’s own key, which is not stored', async () => {
    const { key } = await world.organization({ name: 'Northwind Traders' });
    const page = await open();
    const sent = async (path: string, label: string) => {
      await page.goto(world.url + path);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: label }).click();
      return page.getByRole('status', { name: 'Response' }).filter({ hasNotText: 'Sending…' }).innerText();
    };
    expect(await sent('/docs/reference/get-me', 'Send GET request')).toMatch(/^200 OK\n+\{[\s\S]*Northwind Traders/);
    expect(await sent('/docs/reference/create-customer', 'Send POST request')).toMatch(/^201 Created\n/);
    expect(await sent('/docs/reference/list-customers', 'Send GET request')).toContain('Alfreds Futterkiste');
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).not.toContain(key);
  });

  test('sending a request with the keyboard keeps the focus on the button, and the wait is announced', async () => {
    const page = await open();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/v1/me', async (route) => {
      await answered;
      await route.fulfill({ json: {} });
    });
    await page.goto(`${world.url}/docs/reference/get-me`);
    await page.getByLabel('API key').fill('ak_live_any');
    const button = page.getByRole('button', { name: 'Send GET request' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status', { name: 'Response' }).getByText('Sending…').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.localName')).toBe('body');
    answer();
    await page.getByText('200 OK').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Send GET request');
  });

  test('no page caused a browser error or warning', () => expect(screen.complaints).toEqual([]));
});
