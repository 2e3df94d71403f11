import { describe, expect, test } from 'vitest';
import { someone } from '../settings/visiting.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { typesOf, until, webhookWorld } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import { expectSound, useBrowser } from './browser.ts';
import { hasChromium } from './chromium.ts';

const world = useWorld(webhookWorld);
const screen = useBrowser();

describe.runIf(hasChromium)('webhooks in a browser', () => {
  test('an admin creates an endpoint, sends a test, reads the delivery and removes the endpoint', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const receiver = await useReceiver();
    const page = await screen.openFor(admin, world.url);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
    await expectSound(page);
    await page.getByLabel('Name').fill('Accounting');
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('customer.created').check();
    const imports = page.getByLabel('import.completed');
    await imports.check();
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    await page.locator('#secret').waitFor();
    await expectSound(page);
    receiver.secrets.push((await page.locator('#secret').textContent()) ?? '');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.locator('.notice:focus', { hasText: 'Sending starts within seconds' }).waitFor();
    // From here on, reloading does not repeat it.
    await page.waitForURL(({ search }) => search === '');
    await until(() => typesOf(receiver), ['endpoint.test']);
    await expect.poll(async () => (await page.reload()) && page.getByText('Delivered').count()).toBe(1);
    expect(await page.getByText('Sending starts within seconds').count()).toBe(0);
    // A reason may name the host.
    const reason = `${'sub.'.repeat(50)}example is not a public address.`;
    await world.database.pool.query('update webhook_deliveries set status = null, error = $1', [reason]);
    await page.reload();
    await page.getByText(reason).waitFor();
    await page.getByText('Show the content').click();
    await page.getByText('This is a test.').waitFor();
    for (const summary of await page.locator('details.fold > summary').all()) await summary.click();
    expect(await imports.isChecked()).toBe(true);
    await expectSound(page);
    await page.getByRole('button', { name: 'Remove endpoint' }).click();
    await page.getByText('The endpoint was removed.').waitFor();
    expect(screen.complaints).toEqual([]);
  });
});
