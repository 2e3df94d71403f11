/** Two-factor authentication in a real browser: turned on, used, replaced by a recovery code, required and reset. */
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Member } from '../../server/entities/organization.ts';
import { hasChromium } from './chromium.ts';
import { useWorld } from '../world.ts';
import { expectSound, fillSignIn, stopClock, useBrowser } from './browser.ts';
import { password, someone } from '../settings/visiting.ts';

let nowMs = Date.now();
const world = useWorld({ now: () => nowMs });
const screen = useBrowser();

/** What the app shows 30 seconds after the last code. */
const nextCode = (secret: string) => new TOTP({ secret }).generate({ timestamp: (nowMs += 30_000) });

async function givePasswordOf(page: Page, member: Member): Promise<void> {
  await page.goto(`${world.url}/settings/sign-in`);
  await fillSignIn(page, member);
}

/** Goes from the page with the QR code to the recovery codes, and returns these and the key. */
async function setUp(page: Page): Promise<{ secret: string; codes: string[] }> {
  await page.getByRole('heading', { name: 'Turn on two-factor authentication' }).waitFor();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const secret = ((await page.locator('main code').textContent()) ?? '').replaceAll(' ', '');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Code', { exact: true }).fill(nextCode(secret));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  return { secret, codes: ((await page.locator('#codes').textContent()) ?? '').trim().split('\n') };
}

describe.runIf(hasChromium)('in a browser', () => {
  test('an admin turns it on, signs in with a code and with a recovery code, requires it of everyone, and resets a member’s', async () => {
    const tenant = await world.organization({ name: 'Larkmoor Studio' });
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const page = await screen.openFor(admin, world.url);
    await page.getByRole('link', { name: 'Account' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Code', { exact: true }).fill('123456');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Incorrect code.').waitFor();
    await expectSound(page);
    const { secret, codes } = await setUp(page);
    expect(codes).toHaveLength(10);
    await expectSound(page);
    await stopClock(page);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    await page.clock.resume();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('recovery-codes.txt');
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('10 recovery codes are left.').waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Sign out' }).click();

    await givePasswordOf(page, admin);
    await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
    await expectSound(page);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Incorrect code.').waitFor();
    await expectSound(page);
    await page.getByLabel('Code').fill(nextCode(secret));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Latest failed requests' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();

    await givePasswordOf(page, admin);
    await page.getByRole('link', { name: 'Use a recovery code' }).click();
    await expectSound(page);
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('You signed in with a recovery code').waitFor();
    await page.getByText('9 recovery codes are left.').waitFor();
    await expectSound(page);

    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await expectSound(page);

    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Require it for all members' }).click();
    await page.getByText('Two-factor authentication is now required.').waitFor();
    await expectSound(page);

    const member = await someone(world, tenant, 'member', 'Jo Kim');
    const other = await screen.open({ javaScriptEnabled: false });
    await givePasswordOf(other, member);
    await other.getByText('Larkmoor Studio requires two-factor authentication.').waitFor();
    await other.getByRole('link', { name: 'Customers' }).click();
    await setUp(other);
    await other.getByRole('button', { name: 'I have saved them' }).click();
    await other.getByRole('heading', { name: 'Customers' }).waitFor();

    await page.reload();
    await expectSound(page);
    await page.getByRole('link', { name: 'Reset two-factor Jo Kim' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Reset two-factor' }).click();
    await page.getByText('The two-factor authentication of Jo Kim has been reset.').waitFor();
    await other.reload();
    await other.getByText('Larkmoor Studio requires two-factor authentication.').waitFor();
    const third = await screen.open();
    await givePasswordOf(third, member);
    await third.getByText('Larkmoor Studio requires two-factor authentication.').waitFor();
    await expectSound(third);
  });

  test('no page caused a browser error or warning', () => expect(screen.complaints).toEqual([]));
});
