/** Page states that no journey reaches, in a real browser: accessible and sound at every size. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import type { Member } from '../../server/entities/organization.ts';
import { Upload } from '../../server/entities/upload.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { maximumLiveKeys } from '../../server/keys/issue.ts';
import { hasChromium, longestWaitMs } from './chromium.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { expectSound, upload, useBrowser } from './browser.ts';
import { someone } from '../settings/visiting.ts';

const uploadFolder = join(tmpdir(), `uploads-${uuidv7()}`);
const singleSignOn = { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' };
const world = useWorld({ ownDatabase: true, uploadFolder, singleSignOn });
const screen = useBrowser();
afterAll(() => rm(uploadFolder, { recursive: true, force: true }));

/** The part of the browser's types that these tests need. */
type Style = { outlineStyle: string; backgroundColor: string };
type Styled = { ownerDocument: { defaultView: { getComputedStyle(of: object): Style } } };

type Scene = { tenant: Tenant; admin: Member; page: Page };

async function scene(options: Parameters<typeof world.organization>[0] = {}): Promise<Scene> {
  const tenant = await world.organization(options);
  const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
  return { tenant, admin, page: await screen.openFor(admin, world.url) };
}

const show = (page: Page, path: string) => page.goto(`${world.url}/settings/${path}`);
const sql = (text: string, values: unknown[]) => world.database.pool.query(text, values);

/** Sends a form without the browser's own validation. */
async function send(page: Page, button: string): Promise<void> {
  for (const form of await page.locator('form').all())
    await form.evaluate((element: { noValidate: boolean }) => (element.noValidate = true));
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** The contrast (WCAG 1.4.11) of a field's border with the field, or with the card if that is lower. */
const edgeContrast = (field: string) => `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const style = getComputedStyle(document.querySelector('${field}'));
  const edge = light(style.borderTopColor);
  const around = [style, getComputedStyle(document.querySelector('.card'))].map((each) => light(each.backgroundColor));
  return Math.min(...around.map((one) => Math.max(edge, one) / Math.min(edge, one)));
})()`;

describe.runIf(hasChromium)('in a browser', () => {
  test('the sign-in page names what is missing, and says when there were too many attempts', async () => {
    const page = await screen.open();
    await show(page, 'sign-in');
    await page.getByRole('button', { name: 'Continue with single sign-on' }).waitFor();
    await send(page, 'Sign in');
    await page.getByText('Enter your email address.').waitFor();
    await expectSound(page);
    const { most } = attemptLimits.address;
    await sql(
      `insert into sign_in.attempts values ('address 127.0.0.1', $1, now() + interval '15 minutes'),
        ('slow 127.0.0.1', 1, now() + interval '15 minutes')
      on conflict (key) do update set count = excluded.count, ends_at = excluded.ends_at`,
      [most],
    );
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not a password');
    await send(page, 'Sign in');
    await page.getByText('Too many attempts.').waitFor();
    await sql(`delete from sign_in.attempts where key in ('address 127.0.0.1', 'slow 127.0.0.1')`, []);
    await expectSound(page);
  });

  test('the edge of a field stands out from what is around it', async () => {
    const page = await screen.open();
    await show(page, 'sign-in');
    await send(page, 'Sign in');
    await page.getByText('Enter your email address.').waitFor();
    await page.evaluate('document.activeElement.blur()');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const field of ['#email', '#password']) {
        const contrast = () => page.evaluate<number>(edgeContrast(field));
        await expect.poll(contrast, { message: `${field}, ${colorScheme}` }).toBeGreaterThan(3);
      }
    }
  });

  test('a button stays readable in dark mode when hovered', async () => {
    const page = await screen.open({ colorScheme: 'dark' });
    await show(page, 'sign-in');
    const button = page.getByRole('button', { name: 'Sign in', exact: true });
    await button.hover();
    const color = (one: Styled) => one.ownerDocument.defaultView.getComputedStyle(one).backgroundColor;
    // White text has a contrast of 6.9 on it; on the base stylesheet's own color, 4.4.
    await expect.poll(() => button.evaluate(color), { timeout: longestWaitMs }).toBe('rgb(1, 95, 144)');
  });

  test('the list of keys is shown empty, full, and with the name missing', async () => {
    const { tenant, admin, page } = await scene();
    await sql(`update api_keys set revoked_at = now(), revoked_by = $2 where organization_id = $1`, [
      tenant.organization.id,
      admin.id,
    ]);
    await show(page, 'api-keys');
    await page.getByText('There are no keys yet.').waitFor();
    await page.locator('summary', { hasText: 'Revoked and expired keys' }).click();
    await expectSound(page);
    await send(page, 'Create key');
    await page.getByText('Enter a name.').waitFor();
    await expectSound(page);
    for (let count = 0; count < maximumLiveKeys; count += 1) await tenant.anotherKey(`Key ${count}`);
    await show(page, 'api-keys');
    await page.getByText('Revoke one to create another.').waitFor();
    await expectSound(page);
  });

  test('a member can neither rename a key nor import', async () => {
    const { tenant, admin, page } = await scene();
    await show(page, 'api-keys');
    const path = (await page.getByRole('link', { name: 'Rename test' }).getAttribute('href')) ?? '';
    await sql(`update members set role = 'member' where id = $1`, [admin.id]);
    await page.goto(world.url + path);
    await page.getByText('Only admins of the organization can rename').waitFor();
    await expectSound(page);
    await show(page, 'imports');
    await page.getByText('Only admins of the organization can import').waitFor();
    await expectSound(page);
    expect(tenant.organization.plan).toBe('team');
  });

  test('the last admin cannot be removed, and an invitation needs a name', async () => {
    const { tenant, admin, page } = await scene();
    await sql(`update members set role = 'member' where organization_id = $1 and id <> $2`, [
      tenant.organization.id,
      admin.id,
    ]);
    await show(page, 'members');
    await send(page, 'Invite');
    await page.getByText('Enter a name.').waitFor();
    await expectSound(page);
    await show(page, 'members');
    await page.getByRole('link', { name: 'Remove Mara Ellison' }).click();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByRole('alert').waitFor();
    await expectSound(page);
  });

  test('keys that need attention are named, and a focused link is outlined in forced colors', async () => {
    const { tenant, page } = await scene();
    await sql(`update api_keys set created_at = now() - interval '91 days' where organization_id = $1`, [
      tenant.organization.id,
    ]);
    for (const path of ['overview', 'api-keys']) {
      await show(page, path);
      await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
      await expectSound(page);
    }
    await page.emulateMedia({ forcedColors: 'active' });
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect(
      await skip.evaluate((link: Styled) => link.ownerDocument.defaultView.getComputedStyle(link).outlineStyle),
    ).toBe('solid');
    await page.getByRole('link', { name: 'Look at the key' }).click();
    await page.getByText('has not been used for 90 days').waitFor();
    await expectSound(page);
  });

  test('text of twice the size fits on a phone', async () => {
    const { page } = await scene();
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['api-keys', 'members', 'webhooks']) {
      await show(page, path);
      await page.evaluate(`document.documentElement.style.setProperty('font-size', '200%', 'important')`);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(390);
    }
  });

  test('usage is shown empty, and with every outcome', async () => {
    const { tenant, page } = await scene();
    await show(page, 'usage');
    await page.getByText('There were no requests in the last 30 days.').waitFor();
    await expectSound(page);
    await sql(
      `insert into usage_counts select $1, id, current_date - d, o, r, (d * 37 + length(r) * 11) % 90
       from api_keys, generate_series(0, 29) d, unnest(array['listCustomers', 'createCustomer', 'mcp', 'other']) o,
         unnest(array['success', 'client_error', 'rate_limited', 'server_error']) r where organization_id = $1`,
      [tenant.organization.id],
    );
    await page.reload();
    await page.getByRole('heading', { name: 'By operation' }).waitFor();
    await page.getByText('As a table').click();
    await expectSound(page);
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
    const ofLegend = `getComputedStyle(document.querySelector('.key-of.success'), '::before').backgroundColor`;
    const ofChart = `getComputedStyle(document.querySelector('rect.success')).fill`;
    expect(await page.evaluate(ofLegend)).toBe(await page.evaluate(ofChart));
  });

  test('an import is shown in each of its states', async () => {
    const { tenant, page } = await scene();
    const setState = (changes: string) =>
      sql(`update uploads set active_at = now(), ${changes} where organization_id = $1`, [tenant.organization.id]);
    await show(page, 'imports');
    await page.getByText('The fields').click();
    await expectSound(page);
    await send(page, 'Upload and check');
    await page.getByText('Choose a file.').waitFor();
    await expectSound(page);
    await upload(page, 'customers.csv', `externalId,name,email\nC-1,Ana,\nC-2,${'Long name '.repeat(15)},nonsense\n`);
    await page.getByRole('heading', { name: 'Import customers.csv?' }).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Change what the columns mean' }).click();
    await page.getByRole('heading', { name: 'What is in customers.csv?' }).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('heading', { name: 'Import customers.csv?' }).waitFor();
    await setState(`state = 'importing', bytes_read = 61, bytes_total = 100, rows_read = 123456`);
    await page.reload();
    await page.getByText('61%, 123,456 rows').waitFor();
    await expectSound(page);
    // A proxy responds for a server that is restarting.
    const requests: boolean[] = [];
    await page.route('**/settings/imports', (route) =>
      requests.push(route.request().isNavigationRequest()) === 1 ? route.fulfill({ status: 502 }) : route.continue(),
    );
    await setState(`bytes_read = 80`);
    await page.getByText('80%, 123,456 rows').waitFor();
    expect(requests).not.toContain(true);
    await page.unroute('**/settings/imports');
    await setState(`state = 'stopped'`);
    await page.locator('h2:focus', { hasText: 'The import of customers.csv was interrupted' }).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('heading', { name: 'customers.csv was imported' }).waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'The records that it created and changed' }).click();
    await page.getByRole('table', { name: 'Created' }).waitFor();
    await expectSound(page);
    await show(page, 'imports');
    await upload(page, 'sheet.xlsx', 'PK\u0003\u0004');
    await page.getByText('sheet.xlsx is not an Excel workbook').waitFor();
    await expectSound(page);
  });

  test('once a file is uploaded, a page that shows it says that it is being checked', async () => {
    const { tenant, page } = await scene();
    const [{ id: organizationId }, { id: memberId }] = [tenant.organization, tenant.admin];
    const uploaded = { kind: 'customers', fileName: 'customers.csv', mapping: {}, memberId, bytesTotal: 100 } as const;
    const em = tenant.em();
    em.create(Upload, { ...uploaded, state: 'uploading' });
    await em.flush();
    await show(page, 'imports');
    await page.getByText('Keep this page open until the upload finishes.').waitFor();
    await sql(`update uploads set state = 'checking', active_at = now() where organization_id = $1`, [organizationId]);
    await page.getByRole('heading', { name: 'Checking customers.csv' }).waitFor();
    expect(await page.getByText('Keep this page open').count()).toBe(0);
  });

  test('an import works without JavaScript, and an export is a download', async () => {
    const tenant = await world.organization();
    const page = await screen.openFor(await someone(world, tenant, 'admin'), world.url, { javaScriptEnabled: false });
    await show(page, 'imports');
    await upload(page, 'customers.csv', 'externalId,name\nC-1,Ana\n');
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByRole('heading', { name: 'customers.csv was imported' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/-customers-[\d-]+\.csv$/);
  });

  test('no page caused a browser error or warning', () => expect(screen.complaints).toEqual([]));
});
