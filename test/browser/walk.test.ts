/** All that someone who does not program does: accept an invitation, import a file, and find and erase a customer. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { password, someone, unknownEmail } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import { expectSound, upload, useBrowser } from './browser.ts';
import { hasChromium } from './chromium.ts';

const world = useWorld();
const screen = useBrowser();

const file = `Kundennummer;Firma;E-Mail;Ort;Land
K-1;Alfreds Futterkiste;maria@alfreds.example;Berlin;Deutschland
K-2;Königlich Essen;philip@essen.example;Brandenburg;Deutschland
`;

describe.runIf(hasChromium)('in a browser', () => {
  test('from an invitation to a customer that is checked, imported, found, downloaded and erased', async () => {
    const tenant = await world.organization({ name: 'Larkmoor Studio' });
    const admin = await screen.openFor(await someone(world, tenant, 'admin', 'Mara Ellison'), world.url);
    await admin.getByRole('link', { name: 'Members', exact: true }).click();
    await admin.getByLabel('Name', { exact: true }).fill('Jo Kim');
    await admin.getByLabel('Email').fill(unknownEmail());
    await admin.getByLabel('Role').selectOption('admin');
    await admin.getByRole('button', { name: 'Invite' }).click();
    await admin.getByRole('heading', { name: 'Password link for Jo Kim' }).waitFor();

    const page = await screen.open();
    await page.goto((await admin.locator('#link').textContent()) ?? '');
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.getByRole('link', { name: 'Import a file' }).first().click();
    await page.getByText('The fields').click();
    await expectSound(page);
    await upload(page, 'kunden.csv', file);
    await page.getByRole('heading', { name: 'What is in kunden.csv?' }).waitFor();
    const chosen = page.locator('form.mapped select');
    expect(await chosen.evaluateAll((all) => all.map((one) => Reflect.get(one, 'value')))).toEqual([
      'externalId',
      'companyName',
      'email',
      'address.city',
      'address.country',
    ]);
    await expectSound(page);
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('button', { name: 'Import 2 rows' }).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByRole('heading', { name: 'kunden.csv was imported' }).waitFor();
    await page.getByRole('link', { name: 'The records that it created and changed' }).click();
    await page.getByRole('table', { name: 'Created' }).getByRole('link', { name: 'Königlich Essen' }).waitFor();

    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByLabel('Search').fill('futterkiste');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the customers of this search' }).click();
    const [, ...rows] = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n');
    expect(rows).toEqual([expect.stringContaining('K-1,company,Alfreds Futterkiste')]);
    await page.getByRole('link', { name: 'Alfreds Futterkiste' }).click();
    await page.getByRole('link', { name: 'Erase personal data' }).click();
    await page.getByRole('button', { name: 'Erase personal data' }).click();
    await page.getByText('The personal data has been erased.').waitFor();
    expect(await page.getByText('Alfreds Futterkiste').count()).toBe(0);
    await page.getByRole('link', { name: 'Activity', exact: true }).click();
    await page.getByText('erased the personal data of customer').waitFor();
    await expectSound(page);
    expect(screen.complaints).toEqual([]);
  });
});
