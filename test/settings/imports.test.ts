/** Import and export on the settings pages. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { response as expressResponse } from 'express';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Upload } from '../../server/entities/upload.ts';
import { earlierCharacters, remember, rememberedChoices } from '../../server/uploads/stored.ts';
import { Uploads } from '../../server/uploads/uploads.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { publicId, storedId } from '../../server/records/public-id.ts';
import { exportRoutes } from '../../server/web/settings/export/export-routes.ts';
import { setPlan } from '../../server/accounts/organizations.ts';
import { serveAnHour } from '../an-hour.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { auditLog, signIn, someone } from './visiting.ts';
import type { Reply, Visit } from './visiting.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';

const uploadFolder = await mkdtemp(join(tmpdir(), 'uploads-test-'));
const world = useWorld({ ownDatabase: true, uploadFolder, timeouts: { request: 5000, headers: 5000, check: 100 } });
const closing = useWorld({ ownDatabase: true, timeouts: { grace: 0, drain: 600_000 } });
afterAll(() => rm(uploadFolder, { recursive: true }));
beforeEach(() => world.database.pool.query('delete from sign_in.attempts'));

type Form = { kind?: string; name?: string };

async function formWith(
  visiting: Visit,
  content: string | Uint8Array<ArrayBuffer>,
  form: Form = {},
): Promise<FormData> {
  const { kind = 'customers', name = 'customers.csv' } = form;
  const data = new FormData();
  for (const [field, value] of Object.entries({ csrfToken: await visiting.csrfToken(), kind })) data.set(field, value);
  data.set('file', new File([content], name));
  return data;
}

async function upload(visiting: Visit, content: string | Uint8Array<ArrayBuffer>, form?: Form): Promise<Reply> {
  return visiting.post('/settings/imports', await formWith(visiting, content, form));
}

/** The page, once nothing is running. A check takes a process about a second, which frequent requests would prolong. */
async function settled(visiting: Visit): Promise<string> {
  let text = '';
  const shown = async () => ({ text } = await visiting.get('/settings/imports')).text;
  await expect.poll(shown, { interval: 200 }).not.toContain('data-live');
  return text;
}

async function press(visiting: Visit, deed: 'start' | 'discard', tenant: Tenant): Promise<Reply> {
  const { id, activeAt = '' } = (await rowOf(tenant)) ?? {};
  return visiting.submit(`/settings/imports/${id}/${deed}`, { checkedAt: activeAt });
}

/** Uploads a file, and returns the page once it is checked. */
async function check(visiting: Visit, ...file: [string | Uint8Array<ArrayBuffer>, Form?]): Promise<string> {
  await upload(visiting, ...file);
  return settled(visiting);
}

/** Starts the import, and returns the page once it has ended. */
async function finish(visiting: Visit, tenant: Tenant): Promise<string> {
  await press(visiting, 'start', tenant);
  return settled(visiting);
}

const rowOf = async (tenant: Tenant): Promise<Upload | undefined> =>
  (await tenant.em().find(Upload, {}, { orderBy: { id: 'desc' } }))[0];
/** The fields selected in the form that maps a file's columns. */
const selected = (page: string) =>
  [...page.matchAll(/<select id="field-\d+"[\s\S]*?<\/select>/g)].map(
    ([select]) => /value="([^"]*)"\s+selected/.exec(select)?.[1],
  );

async function columnsOf(visiting: Visit, tenant: Tenant): Promise<Record<string, string | undefined>> {
  const { text } = await visiting.get(`/settings/imports/${(await rowOf(tenant))?.id}/columns`);
  const names = [...text.matchAll(/<label for="field-\d+"\s*>([^<]*)</g)].map(([, name = '']) => name);
  const fields = selected(text);
  return Object.fromEntries(names.map((name, index) => [name, fields[index]]));
}

async function choose(
  visiting: Visit,
  tenant: Tenant,
  fields: readonly (string | undefined)[],
  more: Record<string, string> = {},
): Promise<Reply> {
  const chosen = fields.map((field, index) => [`field-${index}`, field ?? '']);
  const path = `/settings/imports/${(await rowOf(tenant))?.id}/columns`;
  return visiting.submit(path, { ...Object.fromEntries(chosen), ...more });
}

/** Holds the import lock, as a command or an earlier run of the same import would. */
async function whileAnotherRuns<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
  const client = await patientConnection(world.database.pool);
  const lock = `hashtextextended('import ' || $1, 0)`;
  await client.query(`select pg_advisory_lock(${lock})`, [tenant.organization.id]);
  try {
    return await work();
  } finally {
    await client.query(`select pg_advisory_unlock(${lock})`, [tenant.organization.id]);
    client.release();
  }
}

/** The process that was started last to check or import a file. */
const latestProcess = () =>
  Number(spawnSync('pgrep', ['-n', '-P', `${process.pid}`, '-f', 'uploads/worker'], { encoding: 'utf8' }).stdout);
const words = (page: string) => page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const figures = (page: string) => words(/<dl class="figures">[\s\S]*?<\/dl>/.exec(page)?.[0] ?? '');
const admin = async (tenant: Tenant) => signIn(world, await someone(world, tenant, 'admin', 'Mara Ellison'));
async function start() {
  const tenant = await world.organization();
  return { tenant, visiting: await admin(tenant) };
}

const filesWith = async (id: string) => (await readdir(uploadFolder)).filter((name) => name.startsWith(id));
const filesOf = async (tenant: Tenant) => {
  const { id = 'none' } = (await rowOf(tenant)) ?? {};
  return (await filesWith(id)).map((name) => name.slice(id.length));
};

describe('an import', () => {
  test('says so if rejected rows are left out because others have many errors', async () => {
    const { visiting } = await start();
    const header = 'externalId,name,email,phone,website,address.country,createdAt\n';
    const row = 'C-1,Ana,a,1,b,XX,c\n';
    expect(words(await check(visiting, header + row.repeat(2)))).not.toContain('Showing the first ones.');
    const cut = words(await check(visiting, header + row.repeat(3)));
    expect(cut).toMatch(/rejected 3 .*Line 3: .*Showing the first ones\./);
    expect(cut).not.toContain('Line 4: ');
  });

  test('of JSON shows lists, numbers, cleared fields and the beginning of long texts before it starts', async () => {
    const { tenant, visiting } = await start();
    const row = { externalId: 'C-1', name: 'Ana', tags: ['vip', 'new'], phone: null, metadata: { size: 7 } };
    await check(visiting, JSON.stringify({ ...row, notes: 'x'.repeat(101) }), { name: 'a.jsonl' });
    expect(Object.fromEntries((await rowOf(tenant))?.rows[0]?.values ?? [])).toEqual({
      externalId: 'C-1',
      name: 'Ana',
      tags: 'vip, new',
      phone: 'cleared',
      'metadata.size': '7',
      notes: `${'x'.repeat(100)}…`,
    });
  });

  test('is uploaded, checked, started, and reported with its rejected rows', async () => {
    const { tenant, visiting } = await start();
    await tenant.client.customers.create({ externalId: 'C-1', name: 'Old' });
    const file = 'externalId;name;email\nC-1;Ana;\nC-2;Bo;bo@example.com\nC-3;Cy;nonsense\n';
    expect(await upload(visiting, file)).toMatchObject({ status: 303, location: '/settings/imports' });
    const checked = await settled(visiting);
    expect(figures(checked)).toBe(' new 1 changed 1 unchanged 0 rejected 1 ');
    expect(words(checked)).toContain('Columns are separated by semicolons');
    expect(words(checked)).toMatch(/Line 4: email must be .*Download the rejected rows/);
    expect(words(checked)).toMatch(/Line Name External ID Email 2 Ana C-1 3 Bo C-2 bo@example.com 4 email must/);
    expect(await tenant.client.customers.list()).toMatchObject({ data: [{ name: 'Old' }] });
    const { id = 'none' } = (await rowOf(tenant)) ?? {};
    for (const name of await filesOf(tenant))
      expect((await stat(join(uploadFolder, id + name))).mode & 0o777).toBe(0o600);

    const checking = latestProcess();
    expect(await press(visiting, 'start', tenant)).toMatchObject({ status: 303, location: '/settings/imports' });
    const ended = await settled(visiting);
    // Starting another would take longer than the import.
    expect(latestProcess()).toBe(checking);
    expect(words(ended)).toContain('customers.csv was imported');
    expect(figures(ended)).toBe(' created 1 updated 1 unchanged 0 rejected 1 ');
    expect(await tenant.client.customers.list({ sort: 'name' })).toMatchObject({
      data: [{ name: 'Ana' }, { name: 'Bo' }],
    });
    const path = /href="(\S+\/rejected)"/.exec(ended)?.[1] ?? '';
    const rejected = await visiting.get(path);
    expect(rejected.headers.get('content-disposition')).toBe('attachment; filename=rejected-rows.csv');
    expect(rejected.headers.get('cache-control')).toBe('no-store');
    expect(rejected.text).toMatch(
      /^\uFEFF?line;field;code;message;externalId;name;email\r\n4;email;invalid_email;.*;C-3;Cy;nonsense\r\n$/,
    );
    // Neither the file nor the rows that the page showed are kept.
    expect(await filesOf(tenant)).toEqual(['.rejected.csv']);
    expect((await rowOf(tenant))?.rows).toEqual([]);
    expect(await auditLog(world, tenant)).toContain('records_imported customers from customers.csv');
  });

  test('shows the file’s name without marks that change the direction of text', async () => {
    const { tenant, visiting } = await start();
    const page = await check(visiting, 'externalId,name\nC-1,Ana\n', { name: 'a\u202Evsc.exe\u2066.csv' });
    expect(words(page)).toContain('Import a\uFFFDvsc.exe\uFFFD.csv?');
    expect(await rowOf(tenant)).toMatchObject({ fileName: 'a\uFFFDvsc.exe\uFFFD.csv' });
  });

  test('recognizes exports from other tools, compressed or not, without asking', async () => {
    const { tenant, visiting } = await start();
    const hubspot = 'Record ID,First Name,Last Name,Email,Lead Status\n7,Ana,Roy,a@b.example,new\n';
    const recognized = words(await check(visiting, new Uint8Array(gzipSync(hubspot)), { name: 'contacts.csv.gz' }));
    expect(recognized).toContain('Recognized as an export from HubSpot (contacts).');
    expect(recognized).toContain('Columns not imported: Lead Status.');
    expect(await columnsOf(visiting, tenant)).toMatchObject({ 'Lead Status': 'preset' });
  });

  test('proposes a mapping for columns with other names, asks, and remembers the answer', async () => {
    const { tenant, visiting } = await start();
    const own =
      'Kd.-Nr.;Firma;Straße;PLZ;Ort;Land;Schuhgröße;metadata.Alte Nr.\n1;Acme;Hauptstr. 1;01067;Dresden;Deutschland;42;7\n';
    const asked = await check(visiting, own);
    expect(words(asked)).toContain('What is in customers.csv?');
    expect(words(asked)).toContain('The line that names the columns is not imported.');
    expect(words(asked)).toMatch(/Schuhgröße 42 Do not import/);
    const proposed = await columnsOf(visiting, tenant);
    expect(proposed).toEqual({
      'Kd.-Nr.': 'externalId',
      Firma: 'companyName',
      Straße: 'address.line1',
      PLZ: 'address.postalCode',
      Ort: 'address.city',
      Land: 'address.country',
      Schuhgröße: '',
      'metadata.Alte Nr.': '',
    });
    const chosen = { ...proposed, Schuhgröße: 'metadata', 'metadata.Alte Nr.': 'metadata' };
    expect((await choose(visiting, tenant, Object.values(chosen))).location).toBe('/settings/imports');
    expect(words(await settled(visiting))).toContain('metadata.Schuhgr_e metadata.Alte_Nr. 2 Acme Hauptstr. 1');
    // The mapping can still be changed after the check.
    expect(await columnsOf(visiting, tenant)).toEqual(chosen);
    await finish(visiting, tenant);
    expect(await tenant.client.customers.list()).toMatchObject({
      data: [
        {
          companyName: 'Acme',
          address: { postalCode: '01067', country: 'DE' },
          metadata: { Schuhgr_e: '42', 'Alte_Nr.': '7' },
        },
      ],
    });
    expect(figures(await check(visiting, own.replace('Acme', 'Acme AG')))).toBe(
      ' new 0 changed 1 unchanged 0 rejected 0 ',
    );
    // A report of rejected rows has the same columns after its own.
    const [header = '', row = ''] = own.replace('Acme', 'Acme KG').split('\n');
    expect(figures(await check(visiting, `\uFEFFline;field;code;message;${header}\r\n2;x;y;z;${row}\r\n`))).toBe(
      ' new 0 changed 1 unchanged 0 rejected 0 ',
    );
  });

  test('keeps the ids of an export with one more column, and takes those of another system for externalIds', async () => {
    const { tenant, visiting } = await start();
    const { id } = await tenant.client.customers.create({ name: 'Ana' });
    await check(visiting, `id,name,Rating\n${id},Anna,5\n`);
    const asked = await columnsOf(visiting, tenant);
    expect(asked).toEqual({ id: 'id', name: 'name', Rating: '' });
    await choose(visiting, tenant, Object.values(asked));
    expect(figures(await settled(visiting))).toBe(' new 0 changed 1 unchanged 0 rejected 0 ');
    await check(visiting, 'id,name\n17,Bo\n');
    expect(await columnsOf(visiting, tenant)).toEqual({ id: 'externalId', name: 'name' });
  });

  test('remembers unnamed columns only for files with the same columns', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'Nr;;Mail;\n1;Acme;a@b.example;Dresden\n');
    await choose(visiting, tenant, ['externalId', 'companyName', 'email', 'address.city']);
    expect(figures(await settled(visiting))).toBe(' new 1 changed 0 unchanged 0 rejected 0 ');
    await finish(visiting, tenant);
    // In a report of rejected rows, the last column may be empty in every row.
    expect(
      figures(
        await check(visiting, 'line;field;code;message;Nr;column 2;Mail;column 4\n2;x;y;z;1;Acme AG;a@b.example;\n'),
      ),
    ).toBe(' new 0 changed 1 unchanged 0 rejected 0 ');
    await check(visiting, 'Nr;;Mail;;Ort\n1;Ana;a@b.example;Roy;Dresden\n');
    expect(Object.values(await columnsOf(visiting, tenant))).toEqual(['externalId', '', 'email', '', 'address.city']);
  });

  test('imports a column called __proto__ into the field that was chosen for it', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'Nr;__proto__\n1;Acme\n');
    await choose(visiting, tenant, ['externalId', 'companyName']);
    expect(figures(await settled(visiting))).toBe(' new 1 changed 0 unchanged 0 rejected 0 ');
  });

  test('remembers the latest answer for each column', async () => {
    const em = (await world.organization()).em();
    const answers: Record<string, string>[] = [{ A: 'name', B: 'notes' }, { A: 'companyName' }];
    for (const map of answers) {
      await remember(em, { kind: 'customers', mapping: { map } });
      await em.flush();
    }
    expect(await rememberedChoices(em, 'customers')).toEqual({ map: { A: 'companyName', B: 'notes' }, columns: ['A'] });
  });

  test('remembers the columns of the latest file, and a limited number of others', async () => {
    const em = (await world.organization()).em();
    const namesIn = (file: number) =>
      Array.from({ length: 10 }, (_, column) => `${file} ${column} ${'x'.repeat(4_000)}`);
    for (let file = 0; file < 6; file += 1) {
      const map = Object.fromEntries(namesIn(file).map((name) => [name, 'notes']));
      await remember(em, { kind: 'customers', mapping: { map } });
      await em.flush();
    }
    const names = Object.keys((await rememberedChoices(em, 'customers'))?.map ?? {});
    expect(names).toEqual(expect.arrayContaining(namesIn(5)));
    const others = names.filter((name) => !namesIn(5).includes(name)).join('');
    expect(others.length).toBeLessThanOrEqual(earlierCharacters);
    // There is room for those of two files.
    expect(others.length).toBeGreaterThan(80_000);
  });

  test('reports every mapping error at once, and keeps what was chosen', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'Name;Mail;Mail 2;Fax\nAna;a@b.example;c@d.example;1\n');
    const wrong = await choose(visiting, tenant, ['name', 'email', 'email', '']);
    expect(wrong.status).toBe(422);
    expect(words(wrong.text)).toContain('The columns Mail and Mail 2 are both mapped to email.');
    expect(words(wrong.text)).toContain('The externalId column is missing');
    expect(selected(wrong.text)).toEqual(['name', 'email', 'email', '']);
    expect((await rowOf(tenant))?.state).toBe('mapping');
    expect((await choose(visiting, tenant, ['name', 'email', '', ''], { match: 'email' })).status).toBe(303);
    const checked = await settled(visiting);
    expect(figures(checked)).toBe(' new 1 changed 0 unchanged 0 rejected 0 ');
    expect(words(checked)).toContain('Columns not imported: Mail 2, Fax.');
    await finish(visiting, tenant);
    expect(figures(await check(visiting, 'Name;Mail;Mail 2;Fax\nAnna;A@b.example;;\nBo;;;\n'))).toBe(
      ' new 0 changed 1 unchanged 0 rejected 1 ',
    );
  });

  test('does not start if the columns have been mapped differently since, and shows the new result', async () => {
    const { tenant, visiting } = await start();
    const seen = await check(visiting, 'externalId,name,notes\nC-1,Ana,Bo\n');
    await choose(visiting, tenant, ['externalId', 'notes', 'name']);
    await settled(visiting);
    const checkedAt = /name="checkedAt" value="([^"]+)"/.exec(seen)?.[1] ?? '';
    const path = `/settings/imports/${(await rowOf(tenant))?.id}/start`;
    const late = await visiting.submit(path, { checkedAt });
    expect(late.status).toBe(409);
    expect(words(late.text)).toMatch(/has been checked again since.* 2 Bo Ana C-1 /);
    expect(words(await finish(visiting, tenant))).toContain('customers.csv was imported');
    expect(await tenant.client.customers.list()).toMatchObject({ data: [{ name: 'Bo', notes: 'Ana' }] });
  });

  test('is shown even if the process that received an earlier one had a clock that was ahead', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    await finish(visiting, tenant);
    // Ids begin with the time.
    const ahead = `update uploads set id = overlay(id::text placing 'ff' from 1)::uuid where organization_id = $1`;
    await world.database.pool.query(ahead, [tenant.organization.id]);
    const page = await check(visiting, 'externalId,name\nC-2,Bo\n', { name: 'later.csv' });
    expect(words(page)).toContain('Import later.csv?');
  });

  test('asks once how numbers are written, and shows how each answer would read them', async () => {
    const { tenant, visiting } = await start();
    const text = 'externalId;name;unitPrice\nI-1;Chair;1.200\nI-2;Table;2.500\n';
    const asked = words(await check(visiting, text, { kind: 'items', name: 'items.csv' }));
    expect(asked).toContain('With a decimal comma: 1.200 is 1200 With a decimal point: 1.200 is 1.2');
    const columns = ['externalId', 'name', 'unitPrice'];
    expect((await choose(visiting, tenant, columns)).status).toBe(422);
    await choose(visiting, tenant, columns, { decimalPoint: ',', type: 'product' });
    expect(figures(await settled(visiting))).toBe(' new 2 changed 0 unchanged 0 rejected 0 ');
    await finish(visiting, tenant);
    expect(await tenant.client.items.list({ sort: 'name' })).toMatchObject({
      data: [{ unitPrice: '1200.00' }, { unitPrice: '2500.00' }],
    });
  });

  test('says when the columns fit another kind of record better', async () => {
    const visiting = await admin(await world.organization());
    const asked = words(await check(visiting, 'Artikelnummer;Bezeichnung;Preis\nA-1;Schrank;12,50\n'));
    expect(asked).toContain('These columns fit items better than customers.');
  });

  test('says that the names of the columns are below a title', async () => {
    const visiting = await admin(await world.organization());
    const asked = words(await check(visiting, 'Kundenliste\nNr;Name;Ort\n1;Acme;Dresden\n'));
    expect(asked).toContain('delete everything above them');
  });

  test('asks which record a row changes before it asks about the columns, of which none may be the externalId', async () => {
    const visiting = await admin(await world.organization());
    const asked = words(await check(visiting, 'Firma;E-Mail\nAcme;a@acme.example\n'));
    expect(asked).toMatch(/externalId column is missing.*Which record does a row change\?.*Firma.*E-Mail/);
  });

  test('does not take a row for the names of the columns, or one kind for another', async () => {
    const visiting = await admin(await world.organization());
    const asked = words(await check(visiting, 'Kd.-Nr.;Firma;Ort\n1;Name;Stadt\n'));
    expect(asked).toContain('What is in customers.csv?');
    expect(asked).not.toMatch(/delete everything above them|better than/);
  });

  test('remembers that every row creates a record, and says so', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'Firma;Ort\nAcme;Dresden\n');
    await choose(visiting, tenant, ['companyName', 'address.city'], { match: 'none' });
    await settled(visiting);
    await finish(visiting, tenant);
    const checked = await check(visiting, 'Firma;Ort\nAcme;Dresden\n');
    expect(figures(checked)).toBe(' new 1 changed 0 unchanged 0 rejected 0 ');
    expect(words(checked)).toContain('Every row creates a record.');
    // That choice does not apply to other columns.
    const asked = await check(visiting, 'Kd.-Nr.;Firma\n1;Acme\n');
    expect(words(asked)).toContain('What is in customers.csv?');
    expect(asked).toMatch(/value="externalId"\s+required\s+checked/);
  });

  test('does not ask again about a corrected report of rejected rows, whatever its columns are named', async () => {
    const { tenant, visiting } = await start();
    // The first has the name of one of the report's own columns, and the third looks like a formula.
    const text = `code;Name;-Preis-;Angelegt am\n1;Stuhl;1.200;03/04/2026\n2;Tisch;2.500;05/06/2026;x\n3;;3.500;07/08/2026\n`;
    await check(visiting, text, { kind: 'items', name: 'items.csv' });
    const readings = { decimalPoint: ',', dateOrder: 'day-month', type: 'product' };
    await choose(visiting, tenant, ['externalId', 'name', 'unitPrice', 'createdAt'], readings);
    expect(words(await settled(visiting))).toContain('Dates are read with the day first.');
    const path =
      /href="(\/settings\/imports\/[0-9a-f-]{36}\/rejected)"/.exec(await finish(visiting, tenant))?.[1] ?? '';
    const report = (await visiting.get(path)).text;
    expect(report).toContain(`line;field;code;message;numbers like;dates like;code;Name;'-Preis-;Angelegt am`);
    const corrected = report.replace(';x\r', '\r').replace(';3;;', ';3;Bank;');
    const checked = await check(visiting, corrected, { kind: 'items', name: 'rejected.csv' });
    expect(figures(checked)).toBe(' new 2 changed 0 unchanged 0 rejected 0 ');
    await finish(visiting, tenant);
    expect(await tenant.client.items.list({ sort: 'name' })).toMatchObject({
      data: [
        { name: 'Bank', unitPrice: '3500.00', createdAt: '2026-08-07T00:00:00.000Z' },
        { name: 'Stuhl', unitPrice: '1200.00', createdAt: '2026-04-03T00:00:00.000Z' },
        { name: 'Tisch', unitPrice: '2500.00', createdAt: '2026-06-05T00:00:00.000Z' },
      ],
    });
  });

  test('lists the records that it created and changed', async () => {
    const { tenant, visiting } = await start();
    const { id } = await tenant.client.customers.create({ externalId: 'C-1', name: 'Old' });
    await check(visiting, 'externalId,name\nC-1,Ana\nC-2,Bo\n');
    const path = /href="(\/settings\/imports\/[0-9a-f-]{36})"/.exec(await finish(visiting, tenant))?.[1] ?? '';
    const { text } = await visiting.get(path);
    expect(words(text)).toMatch(/Created Name ID Bo cus_\w+ Changed Name ID Ana/);
    expect(text).toContain(`href="/settings/customers/${id}"`);
    // The list is kept when the next file is uploaded.
    expect(words(await check(visiting, 'externalId,name\nC-3,Cy\n'))).toContain('Import customers.csv?');
    expect(words((await visiting.get(path)).text)).toContain('Created');
    await setPlan(world.database, tenant.organization, 'free');
    expect((await visiting.get(path)).location).toBe('/settings/imports');
  });

  test('offers templates to fill in, and accepts them without questions', async () => {
    const { visiting } = await start();
    for (const kind of ['customers', 'items']) {
      const template = await visiting.get(`/settings/import-templates/${kind}.csv`);
      expect(template.headers.get('content-disposition')).toBe(`attachment; filename=${kind}.csv`);
      await upload(visiting, template.text, { kind });
      expect(words(await settled(visiting))).toContain('The file has no rows.');
    }
    expect((await visiting.get('/settings/import-templates/proposals.csv')).status).toBe(404);
  });

  test('needs the Team plan, and says so', async () => {
    const tenant = await world.organization({ plan: 'free' });
    const visiting = await admin(tenant);
    const page = words((await visiting.get('/settings/imports')).text);
    expect(page).toContain('Import and export need the Team plan.');
    expect(page).not.toContain('Upload and check');
    const refused = await upload(visiting, 'externalId,name\nC-1,Ana\n');
    expect([refused.status, await rowOf(tenant)]).toEqual([403, undefined]);
    const form = { since: '', kind: 'customers', format: 'csv' };
    expect((await visiting.submit('/settings/exports', form)).status).toBe(403);
    expect(await auditLog(world, tenant)).toEqual(
      expect.arrayContaining(['records_imported rejected: plan', 'records_exported customers as CSV rejected: plan']),
    );
  });

  test('of proposals as JSON shows their fields', async () => {
    const { tenant, visiting } = await start();
    const line = { type: 'product', name: 'Chai', quantity: '2', unitPrice: '18.00' };
    const proposal = { externalId: 'P-1', number: 'P-1', title: 'Spring', status: 'draft', lineItems: [line, line] };
    const unsent = { ...proposal, externalId: 'P-2', number: 'P-2', status: 'sent' };
    const text = JSON.stringify([proposal, unsent]);
    expect(words(await check(visiting, text, { kind: 'proposals', name: 'proposals.json' }))).toMatch(
      /Number Title Status Line items 1 P-1 P-1 Spring draft 2 lines 1 sentAt is required if status is sent;/,
    );
    await finish(visiting, tenant);
    expect(await tenant.client.proposals.list()).toMatchObject({ data: [{ total: '72.00' }] });
  });

  test('shows the stored values from which a spreadsheet has dropped zeros', async () => {
    const { tenant, visiting } = await start();
    await tenant.client.customers.create({ externalId: 'C-1', name: 'Ann', address: { postalCode: '01067' } });
    const page = words(await check(visiting, 'externalId,name,address.postalCode\nC-1,Ann,1067\n'));
    expect(page).toContain('1 (address.postalCode). The stored values are kept.');
    expect(page).toMatch(/2 Ann 01067 C-1/);
  });

  test('names the invalid field, and the file by the name its owner gave it', async () => {
    const { tenant, visiting } = await start();
    const csrfToken = await visiting.csrfToken();
    const missing = await visiting.post('/settings/imports', { csrfToken, kind: 'customers' });
    expect([missing.status, words(missing.text)]).toEqual([422, expect.stringContaining('Choose a file.')]);
    expect(missing.text).toMatch(/id="file-problem" role="alert"/);
    const wrong = await upload(visiting, 'x', { kind: 'everything' });
    expect([wrong.status, words(wrong.text)]).toEqual([422, expect.stringContaining('Choose what the file contains.')]);
    expect(await rowOf(tenant)).toBeUndefined();
    const failed = words(await check(visiting, 'PK\u0003\u0004rest', { name: 'sheet.xlsx' }));
    expect(failed).toContain(
      'sheet.xlsx is not an Excel workbook that can be read. Save it as an Excel workbook (.xlsx), or its sheet as CSV in',
    );
    expect(failed).not.toContain(uploadFolder);
  });

  test('is rejected before the body is received if it is too large or not a form', async () => {
    const { tenant, visiting } = await start();
    const sending = await slowUpload(visiting, { 'content-length': '100200000' });
    sending.write('externalId,name\n');
    const { status, text } = await sending.reply;
    expect([status, words(text)]).toEqual([413, expect.stringContaining('The file is larger than 100 MB.')]);
    sending.abort();
    expect(await rowOf(tenant)).toBeUndefined();
    const broken = await fetch(`${world.url}/settings/imports`, {
      method: 'POST',
      headers: { cookie: visiting.cookie(), 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data' },
      body: 'x',
    });
    expect(broken.status).toBe(400);
  });

  test('of more parts than any form has is rejected before the rest is read, even if nobody is signed in', async () => {
    const part = '--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n';
    const sendParts = async (count: number) => {
      const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=x' };
      const body = `${part.repeat(count)}--x--\r\n`;
      const sent = fetch(`${world.url}/settings/imports`, { method: 'POST', headers, body, redirect: 'manual' });
      return (await sent).status;
    };
    expect([await sendParts(30), await sendParts(31), await sendParts(20_000)]).toEqual([303, 400, 400]);
  });

  test('whose file turns out to be too large is not imported in part', async () => {
    const { tenant } = await start();
    const uploads = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
    const who = { organization: tenant.organization, actor: tenant.admin };
    const file = { kind: 'customers', fileName: 'a.csv', size: 1 } as const;
    const received = {
      bytes: Readable.from([Buffer.from('name\nAna\n')]),
      isTooLarge: () => true,
      stop: () => undefined,
    };
    await expect(uploads.receive(who, file, received)).rejects.toThrow('The file is larger than 100 MB.');
    expect([(await rowOf(tenant))?.state, await filesOf(tenant)]).toEqual(['failed', []]);
    await uploads.close();
  });

  test('whose small file unpacks to more than a gigabyte is rejected', async () => {
    const { visiting } = await start();
    const megabyte = gzipSync('x'.repeat(1_000_000));
    const file = Buffer.concat(Array.from({ length: 1_001 }, () => megabyte));
    const page = await check(visiting, new Uint8Array(file), { name: 'customers.jsonl.gz' });
    expect(words(page)).toContain('customers.jsonl.gz unpacks to more than 1,000,000,000 bytes.');
  });

  test('keeps the rejected rows of only the five latest, so no organization can fill the folder', async () => {
    const { tenant, visiting } = await start();
    const { id: memberId } = await someone(world, tenant, 'admin');
    const em = tenant.em();
    const ended = Array.from({ length: 8 }, () =>
      em.create(Upload, { memberId, kind: 'items', fileName: 'a.csv', mapping: {}, state: 'imported', bytesTotal: 1 }),
    );
    await em.flush();
    const ids = ended.map(({ id }) => id).toSorted();
    for (const id of ids) await writeFile(join(uploadFolder, `${id}.rejected.csv`), '');
    await upload(visiting, 'externalId,name\nC-1,Ana\n');
    const left = (await readdir(uploadFolder)).map((name) => name.slice(0, 36));
    expect(ids.filter((id) => left.includes(id))).toEqual(ids.slice(-4));
    await settled(visiting);
  });

  test('is checked even if it contains characters that the database cannot store', async () => {
    const { tenant, visiting } = await start();
    const ended = async (...given: Parameters<typeof formWith>) => {
      expect((await visiting.post('/settings/imports', await formWith(...given))).status).toBe(303);
      await settled(visiting);
      return (await rowOf(tenant))?.state;
    };
    const odd = 'a\0b';
    expect(await ended(visiting, `externalId,name,${odd}\nC-1,${odd},${odd}\n`)).toBe('mapping');
    expect(await ended(visiting, `externalId,name\nC-1,${odd}\n${odd}`)).toBe('checked');
    const rows = [{ externalId: 'C-1', name: '\uD800', [odd]: odd }, { [`${odd}\uD800`]: 1 }];
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(await ended(visiting, lines, { name: 'a.jsonl' })).toBe('checked');
  });

  test('is rejected while another one is running', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    await setState(tenant, `state = 'checking', active_at = now()`);
    const checking = words((await visiting.get('/settings/imports')).text);
    expect(checking).toContain('You can close this page; the check continues.');
    await setState(
      tenant,
      `state = 'importing', active_at = now(), bytes_read = 12, bytes_total = 24, rows_read = 3000`,
    );
    expect(words((await visiting.get('/settings/imports')).text)).toMatch(
      /Importing customers.csv 50%, 3,000 rows You can close this page; the import continues\. If you cancel it, the rows that it has imported are kept\./,
    );
    for (const late of [await upload(visiting, 'externalId,name\nC-2,Bo\n'), await press(visiting, 'start', tenant)]) {
      expect(late.status).toBe(409);
      expect(words(late.text)).toMatch(/Another import is running.*Importing customers.csv 50%, 3,000 rows/);
    }
    // The same while a command is importing.
    await setState(tenant, `state = 'checked'`);
    const busy = await whileAnotherRuns(tenant, async () => {
      return words(await finish(visiting, tenant));
    });
    expect(busy).toContain('Another import into this organization is running.');
    // The other import may have been an earlier run of this one.
    expect(busy).not.toContain('Nothing has been imported yet');
    expect(words(await finish(visiting, tenant))).toContain('customers.csv was imported');
    const again = await press(visiting, 'start', tenant);
    expect([again.status, words(again.text)]).toEqual([
      409,
      expect.stringMatching(/This import has already been started\..*customers.csv was imported/),
    ]);
  });

  test('that was killed is shown as interrupted, and can be started again', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\nC-2,Bo\n');
    await setState(tenant, `state = 'importing', active_at = now() - interval '1 minute', rows_read = 1`);
    const page = words(await settled(visiting));
    expect(page).toContain('The import of customers.csv was interrupted It stopped after at least 1 row.');
    // The rows already stored were read with this mapping.
    expect(page).not.toContain('Change what the columns mean');
    const late = await choose(visiting, tenant, ['externalId', 'companyName']);
    expect([late.status, words(late.text)]).toEqual([
      409,
      expect.stringMatching(
        /started after .* your choices were not used\. The import of customers.csv was interrupted/,
      ),
    ]);
    const uploads = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
    const { id = '' } = (await rowOf(tenant)) ?? {};
    const chosen = uploads.choose({ organization: tenant.organization, actor: tenant.admin }, id, { match: 'none' });
    await expect(chosen).rejects.toThrow('This import has already been started.');
    await uploads.close();
    const { state, mapping } = (await rowOf(tenant)) ?? {};
    expect({ state, mapping }).toEqual({ state: 'importing', mapping: {} });
    const busy = await whileAnotherRuns(tenant, async () => {
      return words(await finish(visiting, tenant));
    });
    expect(busy).toMatch(/was interrupted Another import into this organization is running\./);
    expect(busy).not.toContain('Change what the columns mean');
    expect(figures(await finish(visiting, tenant))).toBe(' created 2 updated 0 unchanged 0 rejected 0 ');
  });

  test('that was killed before the clock of the database was set back can be started again', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    await setState(tenant, `state = 'importing', active_at = now() + interval '2 hours'`);
    expect(words(await settled(visiting))).toContain('The import of customers.csv was interrupted');
    expect(figures(await finish(visiting, tenant))).toBe(' created 1 updated 0 unchanged 0 rejected 0 ');
  });

  test('is shown if the one before it has a later time, from before the clock of the database was set back', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    await finish(visiting, tenant);
    await setState(tenant, `created_at = now() + interval '2 days'`);
    expect(await check(visiting, 'externalId,name\nC-2,Bo\n', { name: 'second.csv' })).toContain('second.csv');
    expect(figures(await finish(visiting, tenant))).toBe(' created 1 updated 0 unchanged 0 rejected 0 ');
  });

  test('whose check ends while the database is unavailable gets its result afterward', async () => {
    const { visiting } = await start();
    const other = await start();
    await check(other.visiting, 'externalId,name\nC-1,Ana\n');
    const { id = '' } = (await rowOf(other.tenant)) ?? {};
    const { pool } = world.database;
    const before = world.log.length;
    await pool.query(`create function is_there(state text) returns boolean language plpgsql as
      $$ begin if state = 'checked' then raise too_many_connections; end if; return true; end $$`);
    await pool.query('alter table uploads add check (is_there(state)) not valid');
    const failures: unknown[] = [];
    const report = () => (error: unknown) => void failures.push(error);
    const stopping = new Uploads({ database: world.database, folder: uploadFolder, report });
    await stopping.choose({ organization: other.tenant.organization, actor: other.tenant.admin }, id, {});
    await expect.poll(() => failures.length).toBeGreaterThan(0);
    // A shutdown does not wait for the database.
    await stopping.close();
    await upload(visiting, 'externalId,name\nC-1,Ana\n');
    const logged = () => world.log.slice(before).filter(({ message }) => message === 'an upload failed');
    await expect.poll(logged).toMatchObject([{ error: { sqlState: '53300' } }]);
    await pool.query('drop function is_there cascade');
    expect(words(await settled(visiting))).toContain('Import customers.csv?');
  });

  test('whose check loses its connection is checked again', async () => {
    const { visiting } = await start();
    const { pool } = world.database;
    const blocker = await patientConnection(pool);
    await blocker.query('begin; lock table customers in access exclusive mode');
    await upload(visiting, 'externalId,name\nC-1,Ana\n');
    const terminated = async () =>
      (
        await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%planned_customers%' and datname = current_database()`)
      ).rowCount;
    await expect.poll(terminated).toBe(1);
    await blocker.query('rollback');
    blocker.release();
    expect(words(await settled(visiting))).toContain('Import customers.csv?');
  });

  test('stops between two chunks on shutdown, while requests are finished, and keeps what is stored', async () => {
    const { database, serving, organization } = closing;
    const [tenant, other] = [await organization(), await organization()];
    const visiting = await signIn(closing, await someone(closing, tenant, 'admin'));
    const neighbor = await signIn(closing, await someone(closing, other, 'admin'));
    const many = Array.from({ length: 4000 }, (_, index) => `C-${index},Customer ${index}\n`).join('');
    await check(visiting, `externalId,name\n${many}`);
    const sending = await slowUpload(neighbor, {}, closing);
    sending.write('externalId,name\n');
    await expect.poll(async () => (await rowOf(other))?.state).toBe('uploading');
    const client = await patientConnection(database.pool);
    await client.query('begin');
    await client.query('lock table customers in share mode');
    await press(visiting, 'start', tenant);
    await expect.poll(() => waitingStatements(database)).not.toEqual([]);
    // Sent to all processes of a terminal or a service, but the service decides.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(latestProcess(), signal);
    const closed = serving.close();
    await client.query('commit');
    client.release();
    await expect.poll(async () => (await rowOf(tenant))?.state).toBe('stopped');
    expect((await rowOf(tenant))?.failure).toBe('The import was stopped.');
    sending.end('C-1,Ana\n');
    expect((await sending.reply).status).toBe(303);
    await closed;
    expect((await rowOf(other))?.state).toBe('stopped');
    const uploads = new Uploads({ database, folder: closing.uploadFolder, report: () => () => undefined });
    await uploads.start({ organization: tenant.organization, actor: tenant.admin }, (await rowOf(tenant))?.id ?? '');
    await expect.poll(async () => (await rowOf(tenant))?.state).toBe('imported');
    await uploads.close();
    const count = 'select count(*)::int as n from customers where organization_id = $1';
    expect((await database.pool.query(count, [tenant.organization.id])).rows).toEqual([{ n: 4000 }]);
  });

  test('is ended after 15 minutes, even while it waits for a lock, and keeps what is stored', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    const client = await patientConnection(world.database.pool);
    onTestFinished(() => client.release());
    await client.query('begin; lock table customers in share mode');
    const uploads = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
    const { id = '' } = (await rowOf(tenant)) ?? {};
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await uploads.start({ organization: tenant.organization, actor: tenant.admin }, id);
    await expect.poll(() => waitingStatements(world.database)).not.toEqual([]);
    // It is told to stop, and is killed if it does not.
    for (const ms of [15 * 60_000, 10_000]) vi.advanceTimersByTime(ms);
    const ended = async () => ({ ...(await rowOf(tenant)) });
    const failure = 'The import was stopped, because it took longer than 15 minutes.';
    await expect.poll(ended).toMatchObject({ state: 'stopped', failure });
    vi.useRealTimers();
    await client.query('commit');
    await uploads.close();
    // PostgreSQL takes a moment to end the killed process's transaction.
    const again = async () => figures(await finish(visiting, tenant));
    await expect.poll(again).toBe(' created 1 updated 0 unchanged 0 rejected 0 ');
  });

  test('can be started again after its process dies without storing a row twice, even if every row creates a record', async () => {
    const { tenant, visiting } = await start();
    const { pool } = world.database;
    await tenant.call('POST', '/v1/customers', { name: 'Ana', externalId: 'C-1' });
    await check(visiting, `externalId,name\n${',Bo\n'.repeat(1500)}C-1,Ana\n`);
    await choose(visiting, tenant, ['externalId', 'name'], { match: 'none' });
    await settled(visiting);
    const before = world.log.length;
    const client = await patientConnection(pool);
    await client.query('begin');
    // The import's last row waits for this lock.
    await client.query(`delete from customers where organization_id = $1`, [tenant.organization.id]);
    await press(visiting, 'start', tenant);
    const stored = async () =>
      (await pool.query(`select from customers where organization_id = $1 and name = 'Bo'`, [tenant.organization.id]))
        .rowCount;
    await expect.poll(stored).toBe(1000);
    const importing = latestProcess();
    if (process.platform === 'linux')
      // If memory ran out, Linux would end this process, and not the service.
      expect(await readFile(`/proc/${importing}/oom_score_adj`, 'utf8')).toBe('1000\n');
    process.kill(importing, 'SIGKILL');
    await client.query('commit');
    client.release();
    const page = words(await settled(visiting));
    expect(page).toMatch(
      /was interrupted Something went wrong on our side.* Try again\. It stopped after at least (0|1,000) rows/,
    );
    const logged = world.log.slice(before).filter(({ message }) => message === 'an upload failed');
    expect(logged).toMatchObject([{ error: { message: 'The process of an import ended with SIGKILL.' } }]);
    // PostgreSQL takes a moment to end the killed process's transaction.
    const again = async () => {
      return figures(await finish(visiting, tenant));
    };
    await expect.poll(again).toBe(' created 501 updated 0 unchanged 1,000 rejected 0 ');
    expect((await visiting.get('/settings/imports')).text).toContain(
      'The first 1,000 rows were processed before the import was interrupted. They count as unchanged, even if they were rejected.',
    );
    expect(await stored()).toBe(1500);
  });

  test.each([
    ['refuses a row', `raise exception '%', $1`, { sqlState: 'P0001', routine: 'exec_stmt_raise' }],
    ['has no space left', `raise disk_full using message = 'disk full'`, { sqlState: '53100', message: 'disk full' }],
  ])('into a database that %s is logged without the file’s contents', async (_, raise, expected) => {
    const { tenant, visiting } = await start();
    const { pool } = world.database;
    await pool.query(`create function refuse(text) returns boolean language plpgsql as $$ begin ${raise}; end $$`);
    await pool.query('alter table customers add check (refuse(name)) not valid');
    const before = world.log.length;
    await check(visiting, 'externalId,name,email\nQ-1,Maria Quax,maria@quax.example\n');
    await finish(visiting, tenant);
    await pool.query('drop function refuse cascade');
    const logged = world.log.slice(before).filter(({ message }) => message === 'an upload failed');
    // When a COPY fails on a worker, a cluster's coordinator passes on only the message.
    const error = world.database.isDistributed ? { sqlState: 'XX000', routine: 'ReportCopyError' } : expected;
    expect(logged[0]).toMatchObject({ error });
    expect(JSON.stringify(logged)).not.toMatch(/quax\.example|Maria/);
  });

  test('that is too old and cannot be removed is logged as such', async () => {
    const logged: string[] = [];
    const report = (message: string) => () => void logged.push(message);
    await new Uploads({ database: world.database, folder: '/dev/null/uploads', report }).close();
    expect(logged).toEqual(['old uploads were not removed']);
  });

  test('can be replaced by another upload, or discarded, along with its file', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    const { id: replaced = '' } = (await rowOf(tenant)) ?? {};
    await check(visiting, 'externalId,name\nC-1,Bo\n');
    const { id = '' } = (await rowOf(tenant)) ?? {};
    expect([replaced === id, await filesWith(replaced)]).toEqual([false, []]);
    // Also if the process that worked on it has just been killed.
    await setState(tenant, `state = 'checking', active_at = now()`);
    const { location } = await press(visiting, 'discard', tenant);
    expect(words((await visiting.get(location ?? '')).text)).toContain(
      'The file was discarded. Rows that had already been imported are kept. Import a file',
    );
    expect(await rowOf(tenant)).toBeUndefined();
    expect(await filesWith(id)).toEqual([]);
    for (const deed of ['start', 'columns']) {
      const again = await visiting.submit(`/settings/imports/${id}/${deed}`);
      expect([again.status, words(again.text)]).toEqual([
        404,
        expect.stringMatching(/no longer exists\. Upload the file again\. Import a file/),
      ]);
    }
  });

  test('is neither ended nor forgotten by a page that was opened before it started', async () => {
    const { tenant, visiting } = await start();
    const page = await check(visiting, 'externalId,name\nC-1,Ana\n');
    const [, checkedAt = ''] = /name="checkedAt" value="([^"]+)"/.exec(page) ?? [];
    const discard = async (seen: Record<string, string>) =>
      visiting.submit(`/settings/imports/${(await rowOf(tenant))?.id}/discard`, seen);
    await setState(tenant, `state = 'importing', active_at = now()`);
    expect(words((await discard({ checkedAt })).text)).toContain('This import has already been started. Importing');
    await setState(tenant, `state = 'imported'`);
    expect([(await discard({ checkedAt })).status, (await discard({})).status]).toEqual([409, 409]);
    expect(words(await settled(visiting))).toContain('Earlier imports File Date Records Result customers.csv');
  });

  test('loses its file and the rows read from it when a customer is erased', async () => {
    const { tenant, visiting } = await start();
    const person = { firstName: 'Maria', lastName: 'Quax', email: 'maria@quax.example' };
    const { body } = await tenant.call('POST', '/v1/customers', person);
    await check(visiting, 'externalId,name\nC-1,Ana\n', { name: 'quax.csv' });
    await finish(visiting, tenant);
    const file = 'externalId,name,email,notes\nQ-1,Maria Quax,maria@quax.example,x\nQ-2,Maria Quax,maria,x\n';
    await check(visiting, file, { name: 'Maria Quax.csv' });
    const { id = '' } = (await rowOf(tenant)) ?? {};
    const files = () => filesWith(id);
    expect(await files()).toHaveLength(2);
    const path = `/settings/customers/${body.id}/erase`;
    expect((await visiting.submit(path)).status).toBe(303);
    expect(await files()).toEqual([]);
    const row = await rowOf(tenant);
    expect(row).toMatchObject({ id, state: 'failed', fileName: '***.csv', rows: [], inspection: null });
    expect(JSON.stringify(row)).not.toContain('aria');
    for (const page of ['imports', 'activity'])
      expect((await visiting.get(`/settings/${page}`)).text).not.toMatch(/maria|quax/i);
    expect(words((await visiting.get('/settings/imports')).text)).toContain(
      '***.csv was discarded, because it may contain the customer whose personal data was erased.',
    );
    expect(words(await check(visiting, 'externalId,name\nC-1,Ana\n'))).toContain('Import customers.csv?');
  });

  test.each(['erased', 'discarded'] as const)('leaves nothing behind if its data is %s while it runs', async (deed) => {
    const { tenant, visiting } = await start();
    const { body } = await tenant.call('POST', '/v1/customers', { name: 'Maria Quax' });
    await tenant.call('POST', '/v1/customers', { name: 'Ana', externalId: 'C-1' });
    await check(visiting, 'externalId,name\nC-1,Bo\nC-2,\n');
    const uploads = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
    const client = await patientConnection(world.database.pool);
    await client.query('begin');
    const held = `select from customers where organization_id = $1 and external_id = 'C-1' for update`;
    await client.query(held, [tenant.organization.id]);
    const who = { organization: tenant.organization, actor: tenant.admin };
    const { id = '' } = (await rowOf(tenant)) ?? {};
    await uploads.start(who, id);
    const scope = forOrganization(world.database, tenant.organization.id);
    await (deed === 'erased'
      ? eraseCustomer(scope, storedId('customer', body.id) ?? '', null)
      : uploads.discard(who, id));
    const closed = uploads.close();
    await client.query('commit');
    client.release();
    await closed;
    expect(await filesWith(id)).toEqual([]);
    const row = await rowOf(tenant);
    expect([row?.state, row?.summary?.errors]).toEqual(deed === 'erased' ? ['failed', []] : [undefined, undefined]);
  });

  test('stays in the list of imports when a customer is erased, without the rejected rows', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name,email\nQ-1,Maria Quax,maria@quax.example\nQ-2,Maria Quax,maria\n');
    await finish(visiting, tenant);
    // The rows read from the file are deleted with it.
    expect(await rowOf(tenant)).toMatchObject({ rows: [], inspection: null });
    const { id = '', records } = (await rowOf(tenant)) ?? {};
    const files = () => filesWith(id);
    expect(await files()).toEqual([`${id}.rejected.csv`]);
    const customer = publicId('customer', records?.created[0] ?? '');
    // Erased by a process that does not have the files, such as the command.
    await eraseCustomer(forOrganization(world.database, tenant.organization.id), records?.created[0] ?? '', null);
    expect((await tenant.call('GET', `/v1/customers/${customer}`)).body.erasedAt).toMatch(/Z$/);
    const elsewhere = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
    await elsewhere.removeErased();
    expect(await files()).toEqual([]);
    await elsewhere.close();
    expect(await rowOf(tenant)).toMatchObject({ id, state: 'imported', records, summary: { rejected: 1, errors: [] } });
  });

  test('leaves nothing behind after a day', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    // Another server never had the file.
    const elsewhere = `${uploadFolder}-elsewhere`;
    const uploads = new Uploads({ database: world.database, folder: elsewhere, report: () => () => undefined });
    const { id = '' } = (await rowOf(tenant)) ?? {};
    const who = { organization: tenant.organization, actor: tenant.admin };
    await expect(uploads.start(who, id)).rejects.toThrow('This server no longer has the file.');
    // Nor can it store one: an upload that fails does not replace the one before it.
    await rm(elsewhere, { recursive: true });
    await writeFile(elsewhere, 'not a folder');
    const file = { kind: 'customers', fileName: 'a.csv', size: 1 } as const;
    const received = { bytes: Readable.from([]), isTooLarge: () => false, stop: () => undefined };
    await expect(uploads.receive(who, file, received)).rejects.toThrow('ENOTDIR');
    expect(await rowOf(tenant)).toMatchObject({ id, state: 'checked' });
    await uploads.close();
    await rm(elsewhere);
    // A stopped check is not an import that can be resumed.
    await setState(tenant, `state = 'stopped', summary = null`);
    expect((await press(visiting, 'start', tenant)).status).toBe(409);
    await setState(tenant, `active_at = now() - interval '25 hours'`);
    await serveAnHour(world.database);
    expect(await rowOf(tenant)).toBeUndefined();
  });
});

describe('a slow upload', () => {
  test('gets more time than other requests, as long as data keeps arriving', async () => {
    const { tenant, visiting } = await start();
    const sending = await slowUpload(visiting);
    sending.write('externalId,name\n');
    await expect.poll(async () => (await rowOf(tenant))?.state).toBe('uploading');
    // Timed out by the same check that spares the upload.
    const { port } = new URL(world.url);
    const other = request({
      host: '127.0.0.1',
      port,
      path: '/settings/sign-in',
      method: 'POST',
      headers: { 'content-length': 9, 'content-type': 'application/x-www-form-urlencoded' },
    });
    other.on('error', () => undefined);
    other.write('x');
    const [late] = await once(other, 'response');
    expect(late.statusCode).toBe(408);
    sending.end('C-1,Ana\n');
    expect((await sending.reply).status).toBe(303);
    expect(figures(await settled(visiting))).toBe(' new 1 changed 0 unchanged 0 rejected 0 ');
  });

  test('whose form is cut off within the file is rejected, whether noticed before or after the file is read', async () => {
    const { tenant, visiting } = await start();
    const part = (head: string, content: string) =>
      `--x\r\nContent-Disposition: form-data; name=${head}\r\n\r\n${content}`;
    const fields = `${part('csrfToken', await visiting.csrfToken())}\r\n${part('kind', 'customers')}\r\n`;
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=x' };
    for (const rows of [1, 100_000]) {
      const file = `externalId,name\n${'C-1,Ana\n'.repeat(rows)}`;
      const { status, text } = await fetch(`${world.url}/settings/imports`, {
        method: 'POST',
        headers: { ...headers, cookie: visiting.cookie() },
        body: fields + part('file; filename=a.csv', file),
      }).then(async (response) => ({ status: response.status, text: await response.text() }));
      expect([status, words(text)]).toEqual([
        400,
        expect.stringMatching(/^(?!.*interrupted.*interrupted).*The upload was interrupted\./),
      ]);
      expect(await rowOf(tenant)).toMatchObject({ state: 'failed' });
    }
  });

  test('that is rejected is received to its end, so that every browser shows why', async () => {
    const { tenant, visiting } = await start();
    await check(visiting, 'externalId,name\nC-1,Ana\n');
    await setState(tenant, `state = 'importing', active_at = now()`);
    const sending = await slowUpload(visiting);
    sending.write('externalId,name\n');
    expect((await sending.reply).status).toBe(409);
    sending.end('C-1,Ana\n'.repeat(2_000_000));
    expect(await sending.ended).toBe('sent');
  });

  test('that breaks off, or is canceled on another page, leaves no file behind', async () => {
    const { tenant, visiting } = await start();
    for (const end of ['abort', 'discard'] as const) {
      const sending = await slowUpload(visiting);
      sending.reply.catch(() => undefined);
      sending.write('externalId,name\n');
      await expect.poll(async () => (await rowOf(tenant))?.state).toBe('uploading');
      const { id = '' } = (await rowOf(tenant)) ?? {};
      if (end === 'abort') sending.abort();
      else await press(visiting, 'discard', tenant);
      const stateOf = async () => (await rowOf(tenant))?.state;
      await expect.poll(stateOf).toBe(end === 'abort' ? 'failed' : undefined);
      const page = words((await visiting.get('/settings/imports')).text);
      expect(page.includes('The upload was interrupted. Upload the file again.')).toBe(end === 'abort');
      const left = () => filesWith(id);
      await expect.poll(left).toEqual([]);
      sending.abort();
    }
  });
});

describe('an export', () => {
  test('does not trigger Node’s warning about leaked listeners', async () => {
    const visiting = await admin(await world.organization());
    const warned = Promise.withResolvers<Error>();
    process.once('warning', warned.resolve);
    const { status } = await send(visiting, { kind: 'customers', format: 'csv' });
    process.off('warning', warned.resolve);
    // Node emits the warning in the next tick.
    expect([status, await Promise.race([warned.promise, Promise.resolve()])]).toEqual([200, undefined]);
  });

  const send = async (visiting: Visit, fields: Record<string, string>) =>
    visiting.submit('/settings/exports', { since: '', ...fields });

  test('downloads only this organization’s records', async () => {
    const [tenant, other] = [await world.organization(), await world.organization()];
    await tenant.client.customers.create({ externalId: 'C-1', name: 'Ana' });
    await other.client.customers.create({ name: 'Stranger' });
    const visiting = await admin(tenant);
    const csv = await send(visiting, { kind: 'customers', format: 'csv' });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('cache-control')).toBe('no-store');
    const name = `${tenant.organization.slug}-customers-\\d{4}-\\d\\d-\\d\\d\\.csv`;
    expect(csv.headers.get('content-disposition')).toMatch(new RegExp(`^attachment; filename=${name}$`));
    expect(csv.text).toMatch(/^id,externalId,.*\r\ncus_\w+,C-1,person,Ana,/);
    expect(csv.text).not.toContain('Stranger');
    const json = await send(visiting, { kind: 'customers', format: 'jsonl' });
    expect(JSON.parse(json.text)).toMatchObject({ externalId: 'C-1', name: 'Ana' });
    expect((await send(visiting, { kind: 'customers', format: 'jsonl', since: '2999-01-01' })).text).toBe('');
    expect(await auditLog(world, tenant)).toEqual(
      expect.arrayContaining(['records_exported customers as CSV', 'records_exported customers as JSON Lines']),
    );
    expect(words(await check(visiting, csv.text))).toContain('The import would change nothing.');
  });

  test('runs one at a time per organization, regardless of other organizations’ exports', async () => {
    const [tenant, other] = [await world.organization(), await world.organization()];
    const [visiting, neighbor] = [await admin(tenant), await admin(other)];
    const fields = { kind: 'customers', format: 'jsonl' };
    const csrfToken = await visiting.csrfToken();
    const tried = Array.from({ length: 8 }, () =>
      visiting.post('/settings/exports', { csrfToken, since: '', ...fields }),
    );
    const responses = await Promise.all(tried);
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(8);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const rejected = words(responses.find(({ status }) => status === 429)?.text ?? '');
    expect(rejected).toMatch(/Members Activity .*Error 429 Try again later An export of this organization is still/);
    expect((await send(neighbor, fields)).status).toBe(200);
    expect((await send(visiting, fields)).status).toBe(200);
  });

  /** Its form, for responses that no request can cause. */
  function exporting({ em, admin: member, organization }: Tenant) {
    const forms: { submit(change: object): Promise<unknown> }[] = [];
    exportRoutes({ form: (_: string, form: never) => void forms.push(form) } as never);
    const body = { kind: 'customers', format: 'csv' };
    const change = { em: em(), member, organization, context: world, request: { body } };
    return async (response: ServerResponse) => forms[0]?.submit({ ...change, response });
  }
  const unread = (): ServerResponse => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    return Object.assign(Object.setPrototypeOf(response, expressResponse), { locals: {} });
  };

  test('runs until its file has been read, no matter how many others were rejected', async () => {
    const submit = exporting(await world.organization());
    const response = unread();
    const running = submit(response);
    for (const _ of ['once', 'again'])
      await expect(submit(unread().writeHead(503))).rejects.toMatchObject({ code: 'too_many' });
    response.destroy();
    await running;
    expect(await submit(unread().writeHead(503))).toBe(undefined);
  });

  test('that begins after the deadline has sent a response leaves no file open', async () => {
    const submit = exporting(await world.organization());
    expect(await submit(unread().writeHead(503))).toBe(undefined);
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(String)),
    );
    expect(open.filter((path) => path.includes('proposal-api-file-'))).toEqual([]);
  });

  test('that cannot start gets an error page, and the next one works', async () => {
    const visiting = await admin(await world.organization());
    const fields = { kind: 'customers', format: 'csv' };
    vi.stubEnv('TMPDIR', join(uploadFolder, 'nowhere'));
    const failed = await send(visiting, fields).finally(() => vi.unstubAllEnvs());
    expect([failed.status, failed.headers.get('content-disposition')]).toEqual([500, null]);
    expect(words(failed.text)).toContain('Something went wrong on our side.');
    expect((await send(visiting, fields)).status).toBe(200);
  });

  test('names the invalid field', async () => {
    const { visiting } = await start();
    await check(visiting, 'Firma;Ort\nAcme;Dresden\n');
    const wrong = await send(visiting, { kind: 'items', format: 'jsonl', since: 'yesterday' });
    expect([wrong.status, words(wrong.text)]).toEqual([
      422,
      expect.stringContaining('Enter a date, such as 2026-03-01.'),
    ]);
    expect(wrong.text).toContain('id="since-problem"');
    expect(wrong.text).toMatch(/value="items"\s+selected[\s\S]+value="jsonl"\s+selected/);
    // The rest of the page is as it was.
    expect(words(wrong.text)).toContain('What is in customers.csv?');
    expect((await send(visiting, { kind: 'secrets', format: 'csv' })).status).toBe(422);
  });
});

test('old files are removed when a process starts, and every minute', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const leave = async () => {
    const old = join(uploadFolder, 'left.csv');
    await writeFile(old, 'x');
    await utimes(old, new Date(0), new Date(0));
  };
  const files = () => readdir(uploadFolder);
  await leave();
  const uploads = new Uploads({ database: world.database, folder: uploadFolder, report: () => () => undefined });
  await expect.poll(files).not.toContain('left.csv');
  await leave();
  vi.advanceTimersByTime(60_000);
  await expect.poll(files).not.toContain('left.csv');
  await uploads.close();
});

const setState = (tenant: Tenant, changes: string) =>
  world.database.pool.query(`update uploads set ${changes} where organization_id = $1`, [tenant.organization.id]);

/** A form whose file is sent in pieces. */
async function slowUpload(visiting: Visit, headers: Record<string, string> = {}, { url } = world) {
  const boundary = 'a-boundary';
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head =
    field('csrfToken', await visiting.csrfToken()) +
    field('kind', 'customers') +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="c.csv"\r\n\r\n`;
  const { port } = new URL(url);
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/settings/imports',
    method: 'POST',
    headers: {
      cookie: visiting.cookie(),
      'sec-fetch-site': 'same-origin',
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...headers,
    },
  });
  sent.on('error', () => undefined);
  const ended = new Promise((resolve) =>
    sent.once('finish', () => resolve('sent')).once('close', () => resolve('cut off')),
  );
  sent.write(head);
  const reply = (async () => {
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: Number(response.statusCode), text };
  })();
  return {
    reply,
    ended,
    write: (text: string) => void sent.write(text),
    end: (text: string) => void sent.end(`${text}\r\n--${boundary}--\r\n`),
    abort: () => void sent.destroy(),
  };
}
