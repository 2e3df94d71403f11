/** Customers, proposals and items, as someone who does not program uses them. */
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { someone } from '../settings/visiting.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { expectSound, useBrowser } from './browser.ts';
import { hasChromium } from './chromium.ts';

const world = useWorld();
const screen = useBrowser();

describe.runIf(hasChromium)('records in a browser', () => {
  test('lead from the overview to a customer, its proposal and the item in it, and the customer can be erased', async () => {
    const tenant = await world.organization({ name: 'Larkmoor Studio' });
    const { body: customer } = await tenant.call('POST', '/v1/customers', {
      name: 'Alfreds Futterkiste',
      firstName: 'Maria',
      email: 'maria@alfreds.example',
      phone: '030-0074321',
      address: { line1: 'Obere Str. 57', city: 'Berlin', country: 'DE' },
      tags: ['wholesale', 'north'],
      metadata: { segment: 'food' },
      externalId: 'ALFKI',
    });
    const lines = [
      { name: 'Queso Cabrales', quantity: '12', unit: 'kg', unitPrice: '14', taxRate: '8.25', description: '1 kg' },
      { name: 'Delivery', unitPrice: '20', optional: true, selected: false },
    ];
    await proposal(tenant, { customer: customer.id, title: 'Spring assortment', lines });
    await tenant.call('POST', '/v1/items', {
      type: 'product',
      name: 'Queso Cabrales',
      unitPrice: '14.00',
      sku: 'NW-11',
    });
    const page = await screen.openFor(await someone(world, tenant, 'admin', 'Mara Ellison'), world.url);
    await page.goto(`${world.url}/settings`);
    await page.getByRole('heading', { name: 'Larkmoor Studio' }).waitFor();
    await expectSound(page);

    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByLabel('Search').fill('futterkiste berlin');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: 'Clear' }).waitFor();
    await expectSound(page);
    for (let times = 0; times < 2; times += 1) {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download the customers of this search' }).click();
      expect(await readFile(await (await downloading).path(), 'utf8')).toContain('Alfreds Futterkiste');
    }
    await page.getByRole('link', { name: 'Alfreds Futterkiste' }).click();
    await page.getByText('Obere Str. 57').first().waitFor();
    await expectSound(page);

    await page.getByRole('link', { name: 'Proposals of this customer' }).click();
    await page.getByText('Proposals of Alfreds Futterkiste').waitFor();
    await page.getByRole('rowheader').getByRole('link').click();
    await page.getByText('Optional, not chosen').waitFor();
    expect(await page.getByText('181.86').count()).toBeGreaterThan(0);
    await expectSound(page);
    await page.getByRole('link', { name: 'Items', exact: true }).click();
    await page.getByRole('link', { name: 'Queso Cabrales' }).click();
    await page.getByText('NW-11').first().waitFor();
    await expectSound(page);

    await page.goto(`${world.url}/settings/customers/${customer.id}`);
    await page.getByRole('link', { name: 'Erase personal data' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Erase personal data' }).click();
    await page.getByText('The personal data has been erased.').waitFor();
    expect(await page.getByText('Alfreds Futterkiste').count()).toBe(0);
    await expectSound(page);
    await page.getByRole('button', { name: 'Release the external ID' }).click();
    await page.getByText('The external ID can be used again.').waitFor();
    await expectSound(page);
    await page.goto(`${world.url}/`);
    await expectSound(page);
    expect(screen.complaints).toEqual([]);
  });

  test('keep to the width of the page, however long their words are', async () => {
    const tenant = await world.organization();
    const word = 'W'.repeat(100);
    const { body: customer } = await tenant.call('POST', '/v1/customers', {
      name: word,
      email: `${word.slice(0, 60)}@example.com`,
      phone: '1'.repeat(40),
      address: { city: word },
    });
    await proposal(tenant, { customer: customer.id, title: word, number: word.slice(0, 50), lines: [{ name: word }] });
    await tenant.call('POST', '/v1/items', { type: 'product', name: word, unitPrice: '999999999.9999', sku: word });
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url);
    for (const list of ['customers', 'proposals', 'items']) {
      await page.goto(`${world.url}/settings/${list}`);
      await expectSound(page);
      await page.getByRole('rowheader').getByRole('link').click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectSound(page);
    }
    const endOf = async (one: Locator) => {
      const { x = 0, width = 0 } = (await one.boundingBox()) ?? {};
      return x + width;
    };
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(`${world.url}/settings/items`);
    expect(await endOf(page.getByText('999999999.9999'))).toBeLessThan(await endOf(page.getByRole('row').last()));
    await someone(world, tenant, 'member', word);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${world.url}/settings/members`);
    const emailColumn = await page.getByRole('columnheader', { name: 'Email' }).boundingBox();
    expect(emailColumn?.width).toBeGreaterThan(200);
  });
});
