import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Page } from 'playwright-core';
import { endSessions } from '../../server/accounts/sessions.ts';
import { uploadBounds } from '../../server/uploads/files.ts';
import { hasChromium } from './chromium.ts';
import { useWorld } from '../world.ts';
import { expectSound, fillSignIn, signInWith, stopClock, useBrowser } from './browser.ts';
import { asking, pathOf, register, scene } from '../connect/scene.ts';
import { keyNames, password, someone, passwordPath } from '../settings/visiting.ts';

const world = useWorld();
const screen = useBrowser();
const rawKey = /ak_live_[0-9a-f]{64}/;

const create = async (page: Page, name: string) => {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('#raw-key').waitFor();
  return (await page.locator('#raw-key').textContent()) ?? '';
};
const me = async (key: string) => fetch(`${world.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

describe.runIf(hasChromium)('in a browser', () => {
  test('an admin signs in, creates a key, copies it, uses it, sees its use, revokes it, and it is rejected', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const page = await screen.openFor(admin, world.url);

    const raw = await create(page, 'Zapier');
    expect(raw).toMatch(rawKey);
    expect(await page.locator('#fresh:focus').textContent()).toBe('Copy your new key “Zapier” now');
    // Confirmations disappear after a while.
    await stopClock(page);
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await page.getByText('Copied to the clipboard.').waitFor();
    await page.clock.runFor(1_500);
    expect(await clipboard(page)).toBe(raw);
    await page.getByRole('button', { name: 'Copy from a shell' }).click();
    await expect
      .poll(() => clipboard(page))
      .toBe(`curl -H "Authorization: Bearer ${raw}" \\\n  "${world.url}/v1/customers"`);
    expect(await page.locator('#client').textContent()).toContain(`apiKey: '${raw}'`);
    // Without a clipboard, as over plain HTTP, the key is selected.
    await page.clock.runFor(1_500);
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await page.getByRole('button', { name: 'Now copy it' }).waitFor();
    // The confirmation of an earlier copy would have ended by now.
    await page.clock.runFor(1_500);
    await page.getByText('Selected: now copy it.').waitFor();
    await page.clock.resume();
    expect(await page.evaluate('getSelection().toString()')).toBe(raw);
    await page.evaluate('getSelection().removeAllRanges()');
    await page.locator('#raw-key').click();
    expect(await page.evaluate('getSelection().toString()')).toBe(raw);

    expect(page.url()).toBe(`${world.url}/settings/api-keys`);
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])',
    );
    expect(kept + JSON.stringify(await page.context().cookies())).not.toContain(raw.slice(12));
    await page.reload();
    expect(await page.content()).not.toMatch(rawKey);
    expect(await keyNames(world, tenant)).toEqual(['test', 'Zapier']);

    const row = page.getByRole('row', { name: 'Zapier' });
    expect(await row.textContent()).toContain('Never');
    expect((await me(raw)).status).toBe(200);
    await expect.poll(async () => (await page.reload()) && row.textContent()).toContain('just now');

    // On paper, links to actions are of no use.
    const revoke = row.getByRole('link', { name: 'Revoke Zapier' });
    await page.emulateMedia({ media: 'print' });
    expect([await row.isVisible(), await revoke.isVisible()]).toEqual([true, false]);
    await page.emulateMedia({ media: 'screen' });
    await revoke.click();
    await page.getByRole('heading', { name: 'Revoke “Zapier”?' }).waitFor();
    expect(await page.getByRole('main').textContent()).toContain('last used just now');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“Zapier” has been revoked').waitFor();
    expect((await me(raw)).status).toBe(401);
    await page.locator('summary', { hasText: 'Revoked and expired keys' }).click();
    const revoked = page.getByRole('table', { name: 'Revoked and expired keys' }).getByRole('row', { name: 'Zapier' });
    expect(await revoked.textContent()).toMatch(/Revoked\s+just now by Mara Ellison/);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a long name leaves the key beside it on one line', async () => {
    const tenant = await world.organization();
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    await create(page, 'W'.repeat(80));
    const key = page.getByRole('row', { name: 'WWW' }).locator('code');
    for (const width of [360, 1000, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect((await key.boundingBox())?.height, `at ${width}`).toBeLessThan(30);
    }
  });

  test('a key does not reappear when going back', async () => {
    const page = await screen.openFor(await someone(world, await world.organization(), 'admin'), world.url);
    await create(page, 'Once');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await page.goBack();
    expect(await page.content()).not.toMatch(rawKey);

    await page.goto(`${world.url}/settings/api-keys`);
    await create(page, 'Twice');
    // The event that a page gets before it enters the back/forward cache.
    await page.evaluate(`dispatchEvent(new Event('pagehide'))`);
    expect(await page.content()).not.toMatch(rawKey);
  });

  test('a file that is too large is not sent, because a proxy may reject it with a page of its own', async () => {
    const page = await screen.openFor(await someone(world, await world.organization(), 'admin'), world.url);
    await page.goto(`${world.url}/settings/imports`);
    const choose = (bytes: number) =>
      page.evaluate<string>(
        `(() => {
          const input = document.querySelector('input[type=file]');
          const chosen = new DataTransfer();
          chosen.items.add(new File([new Uint8Array(${bytes})], 'customers.csv'));
          input.files = chosen.files;
          input.dispatchEvent(new Event('change'));
          return input.validationMessage;
        })()`,
      );
    const { bytes } = uploadBounds;
    expect(await choose(bytes + 1)).toBe('The file is larger than 100 MB. Compress it with gzip, or split it.');
    expect(await choose(bytes)).toBe('');
  });

  test('a form whose upload was stopped can be sent again', async () => {
    const page = await screen.openFor(await someone(world, await world.organization(), 'admin'), world.url);
    await page.goto(`${world.url}/settings/imports`);
    const form = page.locator('form[enctype="multipart/form-data"]');
    await form.evaluate((it) =>
      it.addEventListener('submit', (event: { preventDefault(): void }) => event.preventDefault()),
    );
    const file = page.locator('input[type=file]');
    const choose = () =>
      file.setInputFiles({ name: 'customers.csv', mimeType: 'text/csv', buffer: Buffer.from('name') });
    const again = [
      () => page.evaluate(`dispatchEvent(new Event('pageshow'))`),
      () => page.keyboard.press('Escape'),
      choose,
    ];
    await choose();
    for (const act of again) {
      await page.getByRole('button', { name: 'Upload and check' }).click();
      await expect.poll(() => page.getByRole('button', { name: 'Uploading…' }).isDisabled()).toBe(true);
      await act();
      expect(await page.getByRole('button', { name: 'Upload and check' }).isEnabled()).toBe(true);
    }
  });

  test('the second click of a double-click on another window does not connect an application', async () => {
    const { tenant, clientId } = await scene(world);
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    await stopClock(page);
    await page.goto(world.url + pathOf(asking(clientId)));
    const button = page.getByRole('button', { name: 'Create key and connect' });
    for (const appear of ['', 'window.dispatchEvent(new Event("focus"))']) {
      await page.evaluate(appear);
      expect(await button.isEnabled()).toBe(false);
      await page.clock.runFor(1_000);
      expect(await button.isEnabled()).toBe(true);
    }
  });

  test('the button that connects loses the focus when its window comes up: someone may be holding down Enter', async () => {
    const { tenant, clientId } = await scene(world);
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    await stopClock(page);
    await page.goto(world.url + pathOf(asking(clientId)));
    await page.clock.runFor(1_000);
    const button = page.getByRole('button', { name: 'Create key and connect' });
    await button.focus();
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await page.clock.runFor(1_000);
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(await page.evaluate('document.activeElement.localName')).toBe('body');
  });

  test('an application that connects may redirect the browser to another site', async () => {
    const { tenant } = await scene(world);
    const application = createServer(({ url = '', headers }, response) => {
      const { port } = new URL(`http://${headers.host}`);
      if (url.startsWith('/callback?code=')) response.writeHead(302, { location: `http://localhost:${port}/done` });
      response.end('Connected');
    });
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void application.close());
    const { port } = application.address() as AddressInfo;
    const redirect_uri = `http://127.0.0.1:${port}/callback`;
    const clientId = await register(world, { redirect_uris: [redirect_uri] });
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    await page.goto(world.url + pathOf(asking(clientId, { redirect_uri })));
    await page.getByRole('button', { name: 'Create key and connect' }).click();
    await page.waitForURL(`http://localhost:${port}/done`);
    expect(await page.textContent('body')).toBe('Connected');
  });

  test('a session that ends on the consent page does not change how long the key lives', async () => {
    const { tenant, clientId } = await scene(world);
    const admin = await someone(world, tenant, 'admin');
    const page = await screen.openFor(admin, world.url);
    await page.goto(world.url + pathOf(asking(clientId)));
    await page.getByLabel('Expires').selectOption('30');
    await endSessions(world.database.pool, [admin.id], { except: null });
    await page.getByRole('button', { name: 'Create key and connect' }).click();
    await fillSignIn(page, admin);
    await page.getByRole('button', { name: 'Create key and connect' }).waitFor();
    await page.waitForLoadState();
    expect(await page.getByLabel('Expires').inputValue()).toBe('30');
  });

  test('an admin on the Free plan sees what Team includes', async () => {
    const tenant = await world.organization({ plan: 'free' });
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    await page.getByRole('heading', { name: 'API keys need the Team plan' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    await expectSound(page);
  });

  test('everything works without JavaScript', async () => {
    const tenant = await world.organization();
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url, { javaScriptEnabled: false });
    const raw = await create(page, 'Plain');
    expect((await me(raw)).status).toBe(200);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Rename Plain' }).click();
    await page.getByLabel('Name').fill('Plainer');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('The key is now named “Plainer”.').waitFor();
    await page.getByRole('link', { name: 'Revoke Plainer' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“Plainer” has been revoked').waitFor();
    expect((await me(raw)).status).toBe(401);
  });

  test('the keyboard alone is enough', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin');
    const page = await screen.open();
    await page.goto(`${world.url}/settings/sign-in?next=%2Fsettings%2Fapi-keys`);
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type(admin.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    // The link covers the bar below it.
    const ground = await page.evaluate('getComputedStyle(document.activeElement).backgroundColor');
    expect(ground).toBe('rgb(255, 255, 255)');
    await page.keyboard.press('Enter');
    await page.locator('#main:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('By hand');
    await page.keyboard.press('Enter');
    await page.locator('#fresh:focus').waitFor();
    await page.getByRole('button', { name: 'Copy the key' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Copied to the clipboard.').waitFor();
    expect(await clipboard(page)).toMatch(rawKey);
  });

  test('a password link leads to its form, and then to the overview', async () => {
    const { admin } = await world.organization();
    const page = await screen.open();
    await page.goto(world.url + (await passwordPath(world.database, admin)));
    await expectSound(page);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
    await expectSound(page);
    await page.goto(`${world.url}/settings/password?token=spent`);
    await expectSound(page);
  });

  test('every page is accessible and fits the screen, on mobile and desktop, in light and dark mode', async () => {
    const tenant = await world.organization({
      name: `An organization with a name like ${'those-of-law-firms-'.repeat(4)}`,
    });
    const admin = await someone(world, tenant, 'admin', 'Maximiliane-Theodora Featherstonehaugh-Cholmondeley');
    const page = await screen.open();
    await page.goto(`${world.url}/settings/sign-in`);
    await expectSound(page);
    await page.getByLabel('Email').fill(admin.email);
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await expectSound(page);
    await signInWith(page, world.url, admin);
    await create(page, `${'x'.repeat(70)} <b>&`);
    await expectSound(page);
    await page.goto(`${world.url}/settings/api-keys`);
    await page.getByRole('link', { name: 'Rename test' }).click();
    await expectSound(page);
    await page.getByLabel('Name').evaluate((input) => input.removeAttribute('required'));
    await page.getByLabel('Name').fill(' ');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('alert').waitFor();
    await expectSound(page);
    await page.goto(`${world.url}/settings/api-keys`);
    await page.getByRole('link', { name: 'Revoke test' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“test” has been revoked').waitFor();
    await expectSound(page);
    await page.goto(`${world.url}/settings/nowhere`);
    await expectSound(page);
  });

  test('no page caused a browser error or warning', () => expect(screen.complaints).toEqual([]));
});
