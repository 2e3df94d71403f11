import type { ImportKind } from '../../server/entities/upload.ts';
import { describe, expect, test } from 'vitest';
import { marks, watchNormalized } from '../normalized.ts';
import { isHeaderBelow, likelierKind, proposeChoices } from '../../server/import/guess.ts';
import type { ImportOptions } from '../../server/import/import-file.ts';
import { inspectFile } from '../../server/import/inspect.ts';
import { presetNames } from '../../server/import/presets/presets.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto, withFile } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  const csv = (kind: ImportKind, text: string, choices: ImportOptions['choices'] = {}) =>
    importInto(world, tenant, { choices }).csv(kind, text);
  return { csv, fetch: (kind: ImportKind, externalId: string) => fetchRecord(tenant, kind, externalId) };
}

const columnNamed = (name: string, samples = ['x']) => ({
  name,
  samples,
  numbers: {},
  dates: {},
  hasNoZone: false,
});

describe('other people’s headers', () => {
  const text = 'Nr,Company Name,Town,Rating\nC-1,Alfreds,Berlin,5\n';
  const map = { Nr: 'externalId', 'Company Name': 'companyName', Town: 'address.city' };

  test('are mapped to fields, and unmapped columns are listed', async () => {
    const { csv, fetch } = await start();
    const report = await csv('customers', text, { map });
    expect(report).toEqual(
      counts({
        read: 1,
        created: 1,
        notes: ['Columns not imported: Rating.'],
      }),
    );
    expect(await fetch('customers', 'C-1')).toMatchObject({
      companyName: 'Alfreds',
      address: { city: 'Berlin' },
      metadata: {},
    });
  });

  test('are kept in metadata on request, or omitted by name', async () => {
    const { csv, fetch } = await start();
    expect(await csv('customers', text, { map: { ...map, Town: '' }, restToMetadata: true })).toEqual(
      counts({ read: 1, created: 1 }),
    );
    expect(await fetch('customers', 'C-1')).toMatchObject({ address: null, metadata: { Rating: '5' } });
    await csv('customers', 'externalId,Lead score (0–10)\nC-1,7\n', { restToMetadata: true });
    expect((await fetch('customers', 'C-1')).metadata).toEqual({ Rating: '5', Lead_score_0_10: '7' });
    await csv('customers', 'externalId,metadata.old id\nC-1,9\n', { restToMetadata: true });
    expect((await fetch('customers', 'C-1')).metadata).toMatchObject({ Rating: '5', old_id: '9' });
    const unnamed = csv('customers', 'externalId,\nC-1,7\n', { restToMetadata: true });
    await expect(unnamed).rejects.toThrow('column 2 has no name');
  });

  test('keep every value in metadata, even if they repeat or have no Latin letters', async () => {
    const { csv, fetch } = await start();
    // A key has at most 40 characters.
    const long = 'Abcdefghij'.repeat(5);
    const names = ['Nr', 'Company Name', 'Fax', 'Fax', 'Fax', 'Город', 'Улица', long, long];
    const other = `${names.join(',')}\nC-1,Alfreds,1,2,3,Minsk,Lenina,4,5\n`;
    await csv('customers', other, { map: { Nr: 'externalId', 'Company Name': 'companyName' }, restToMetadata: true });
    expect((await fetch('customers', 'C-1')).metadata).toEqual({
      Fax: '1',
      Fax_2: '2',
      Fax_3: '3',
      column: 'Minsk',
      column_2: 'Lenina',
      [long.slice(0, 40)]: '4',
      [`${long.slice(0, 38)}_2`]: '5',
    });
  });

  test('without a name are mapped as in the last file only if the columns are the same', () => {
    const remembered = { map: { 'column 2': 'notes' }, columns: ['column 2'] };
    const proposed = (...names: string[]) =>
      proposeChoices({ format: 'csv', columns: names.map((name) => columnNamed(name)) }, 'customers', remembered);
    expect(proposed('externalId', 'column 2')).toEqual({ choices: { map: { 'column 2': 'notes' } }, isCertain: true });
    const other = { choices: { map: { 'column 2': '', Blob: '' } }, isCertain: false };
    expect(proposed('externalId', 'column 2', 'Blob')).toEqual(other);
  });

  test('fewer than in the last file need confirmation if that one was matched by email or gave all rows a type', () => {
    const columns = ['Firm', 'externalId'].map((name) => columnNamed(name));
    const last = { map: { Firm: 'companyName', Blob: 'notes' }, columns: ['Firm', 'Blob'] };
    const isCertain = (choices: object) =>
      proposeChoices({ format: 'csv', columns }, 'customers', { ...last, ...choices }).isCertain;
    expect([{}, { match: 'externalId' }, { match: 'email' }, { type: 'company' }].map(isCertain)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('are mapped without a question about empty columns', async () => {
    const proposed = await withFile('rows.csv', 'externalId,name,,\nC-1,Ana,,\n', async (file) =>
      proposeChoices(await inspectFile(file), 'customers', { map: {} }),
    );
    expect(proposed).toEqual({ choices: {}, isCertain: true });
    const columns = [columnNamed('constructor')];
    expect(proposeChoices({ format: 'csv', columns }, 'customers', { map: {} }).choices).toEqual({
      map: { constructor: '' },
    });
  });

  test.each([
    ['customers', { Title: '', Kunde: 'name' }],
    ['items', { Kunde: '', Title: 'name' }],
    ['customers', { ID: 'externalId', 'Organization Name': 'companyName', 'E-mail 1 - Value': 'email' }],
    ['customers', { 'Address 1 - Label': '', 'Address 1 - Street': 'address.line1', 'Phone 1 - Value': 'phone' }],
    ['customers', { 'Business Street': 'address.line1', 'Business Fax': '', 'Business Phone': 'phone' }],
    ['customers', { 'Person - ID': 'externalId', 'Person - Name': 'name', 'Person - Email - Work': 'email' }],
    ['items', { 'Product - ID': 'externalId', 'Product - Product code': 'sku', 'Product - Unit': 'unit' }],
  ] as const)('are guessed to be fields of %s only if they can be: %j', (kind, wanted) => {
    const columns = Object.keys(wanted).map((name) => columnNamed(name));
    expect(proposeChoices({ format: 'csv', columns }, kind, {}).choices.map).toEqual(wanted);
  });

  test('are guessed for the columns that have values', () => {
    const columns = [columnNamed('Home Phone', []), columnNamed('Business Phone')];
    const { choices } = proposeChoices({ format: 'csv', columns }, 'customers', {});
    expect(choices.map).toEqual({ 'Home Phone': '', 'Business Phone': 'phone' });
  });

  test.each(['constructor', 'toString', '__proto__'])('may be called %s', async (name) => {
    const { csv } = await start();
    const report = await csv('customers', `Nr,Name,${name}\nC-1,Ana,x\n`, { map: { Nr: 'externalId', Name: 'name' } });
    expect(report).toEqual(counts({ read: 1, created: 1, notes: [`Columns not imported: ${name}.`] }));
  });

  test.each([
    [{ Nummer: 'externalId' }, 'the mapping names column Nummer, which the file does not have'],
    [{ ...map, Rating: 'nots' }, 'the mapping names nots, which is not a field of this record; did you mean notes?'],
    [{ 'Company Name': 'name', Town: '', Rating: '' }, 'the externalId column is missing'],
  ])('are rejected if the mapping %j does not fit', async (wrong, message) => {
    const { csv } = await start();
    await expect(csv('customers', text, { map: wrong })).rejects.toThrow(message);
  });
});

/** Header lines as the tools write them, with sample rows and a resulting record. */
const exportsOf: [name: string, kind: ImportKind, text: string, externalId: string, wanted: object][] = [
  [
    'Stripe (customers)',
    'customers',
    'id,Description,Email,Name,Created (UTC),Delinquent,Plan,Status,Total Spend,Payment Count,Refunded Volume,Dispute Losses,tag (metadata)\ncus_Nx1,Old account,ana@example.com,Ana Ruiz,2025-03-19 05:57,false,,,12.00,1,0.00,0.00,vip\n',
    'cus_Nx1',
    {
      name: 'Ana Ruiz',
      email: 'ana@example.com',
      notes: 'Old account',
      createdAt: '2025-03-19T05:57:00.000Z',
      metadata: { tag: 'vip' },
    },
  ],
  [
    'Stripe (prices)',
    'items',
    'Price ID,Product ID,Product Name,Product Statement Descriptor,Product Tax Code,Description,Created (UTC),Amount,Currency,Interval,Interval Count,Usage Type,Aggregate Usage,Billing Scheme,Trial Period Days,Tax Behavior\nprice_1R4,prod_Ry,Social Pro,,,Heyo,2025-03-19 05:57,"1,029.90",aud,month,1,licensed,,per_unit,,unspecified\n',
    'price_1R4',
    {
      name: 'Social Pro',
      unitPrice: '1029.90',
      currency: 'AUD',
      unit: 'month',
      metadata: { stripe_product: 'prod_Ry' },
    },
  ],
  [
    'HubSpot (contacts)',
    'customers',
    'Record ID,First Name,Last Name,Email,Phone Number,Lead Status,Create Date,Associated Company,Country/Region,Contact owner\n101,Camille,Durand,camille@example.com,+33 6 00 00 00 00,NEW,2024-03-12 09:14,Villa SA,France,f@example.com\n',
    '101',
    {
      type: 'person',
      name: 'Camille Durand',
      companyName: 'Villa SA',
      address: { country: 'FR' },
      phone: '+33 6 00 00 00 00',
    },
  ],
  [
    'HubSpot (companies)',
    'customers',
    'Record ID,Company name,Company Domain Name,Country/Region,Description\n101,Kilimo,kilimo.example,United States,Scores\n',
    'company-101',
    { type: 'company', name: 'Kilimo', website: 'https://kilimo.example', address: { country: 'US' } },
  ],
  [
    'HubSpot (products)',
    'items',
    'Record ID,Name,SKU,Unit price,Product description,Product type\n7,Setup,S-1,250.0,Once,Service\n',
    '7',
    { type: 'service', name: 'Setup', sku: 'S-1', unitPrice: '250.00', description: 'Once' },
  ],
  [
    'QuickBooks (customers)',
    'customers',
    'Name,Company name,Street Address,City,State,Country,Zip,Phone,Email,Customer Type,Attachments,Open Balance\nAmy’s Birds,Amy’s Bird Sanctuary,4581 Finch St.,Bayshore,CA,USA,94326,(650) 555-3311,birds@example.com,,,239.00\n',
    'Amy’s Birds',
    {
      name: 'Amy’s Birds',
      companyName: 'Amy’s Bird Sanctuary',
      address: { line1: '4581 Finch St.', region: 'CA', country: 'US' },
    },
  ],
  [
    'QuickBooks (customer contact list)',
    'customers',
    '"Example Co, LLC",,,,,\nCustomer Contact List,,,,,\n\nCustomer full name,Phone numbers,Email,Full name,Bill address,Ship address\nCool Cars,Phone: (415) 555-9933 Mobile: (415) 555-1,cars@example.com,Grace Pariente,"65 Ocean Dr.\nHalf Moon Bay CA",\nShell Oil,,,,,\n\n" Wednesday, September 30, 2026 01:46 PM GMT-05:00",,,,,\n',
    'Cool Cars',
    { name: 'Cool Cars', phone: '(415) 555-9933', address: { line1: '65 Ocean Dr. Half Moon Bay CA' } },
  ],
  [
    'QuickBooks (products and services)',
    'items',
    'Product/Service Name,Sales Description,SKU,Type,Sales Price / Rate,Taxable,Income Account,Purchase Description,Purchase Cost,Expense Account,Quantity On Hand,Reorder Point,Inventory Asset Account,Quantity as-of Date\nDesign,Custom Design,,Service,75,no,Design income,,,,,,,\n',
    'Design',
    { type: 'service', name: 'Design', description: 'Custom Design', unitPrice: '75.00', taxable: false },
  ],
  [
    'Xero (contacts)',
    'customers',
    '*ContactName,AccountNumber,EmailAddress,FirstName,LastName,POAttentionTo,POAddressLine1,POAddressLine2,POAddressLine3,POAddressLine4,POCity,PORegion,POPostalCode,POCountry,SAAttentionTo,SAAddressLine1,SAAddressLine2,SAAddressLine3,SAAddressLine4,SACity,SARegion,SAPostalCode,SACountry,PhoneNumber,FaxNumber,MobileNumber,DDINumber,SkypeName,BankAccountName,BankAccountNumber,BankAccountParticulars,TaxNumber,AccountsReceivableTaxCodeName,AccountsPayableTaxCodeName,Website,LegalName\nMarlow Pty,MAR001,gavin@example.com,Gavin,Marlow,,PO Box 4,,,,Perth,WA,6000,Australia,,1 Site St,,,,Perth,WA,6000,Australia,08 5550 1111,,0400 555 111,,,,,,12 345 678 901,,,marlow.example,\n',
    'Marlow Pty',
    {
      name: 'Marlow Pty',
      firstName: 'Gavin',
      address: { line1: 'PO Box 4', country: 'AU' },
      shippingAddress: { line1: '1 Site St' },
      phone: '08 5550 1111',
      taxId: '12 345 678 901',
      metadata: { account_number: 'MAR001' },
    },
  ],
  [
    'Xero (inventory items)',
    'items',
    '*ItemCode,ItemName,Quantity,PurchasesDescription,PurchasesUnitPrice,PurchasesAccount,PurchasesTaxRate,SalesDescription,SalesUnitPrice,SalesAccount,SalesTaxRate\nMUG,Kowhai mug,40,,8.00,,15% GST on Expenses,A mug,20.00,4000,15% GST on Income\n',
    'MUG',
    { type: 'product', name: 'Kowhai mug', sku: 'MUG', unitPrice: '20.00', description: 'A mug' },
  ],
  [
    'Shopify (customers)',
    'customers',
    "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags\n'7210448301122,Teo,Villa,teo@example.com,no,Ranch,HC 31,,Elko,NV,US,'89801,'(775) 555-0154,'+1 775 555 0155,no,7.44,6,Beef,no,\"VIP, horeca\"\n",
    '7210448301122',
    {
      name: 'Ranch',
      firstName: 'Teo',
      companyName: 'Ranch',
      address: { region: 'NV', postalCode: '89801' },
      phone: '(775) 555-0154',
      tags: ['VIP', 'horeca'],
      notes: 'Beef',
    },
  ],
  [
    'Shopify (products)',
    'items',
    'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option1 Linked To,Option2 name,Option2 value,Option2 Linked To,Price,Compare-at price,Cost per item,Charge tax,Product image URL,Image position,Variant image URL,Gift card\nFelpa,felpa,"<p>Bella &amp; calda</p>",U,,Felpe,a,true,active,FEL-S,,Taglia,S,,,,,40.00,,,true,https://cdn.example/f.jpg,1,,false\n,felpa,,,,,,,,FEL-M,,,M,,,,,42.00,,,false,,,,\n,felpa,,,,,,,,,,,,,,,,,,,,https://cdn.example/g.jpg,2,,\n',
    'felpa/M',
    {
      name: 'Felpa (M)',
      sku: 'FEL-M',
      unitPrice: '42.00',
      taxable: false,
      description: 'Bella & calda',
      category: 'Felpe',
      status: 'active',
      imageUrl: 'https://cdn.example/f.jpg',
    },
  ],
  [
    'Shopify (products, older columns)',
    'items',
    'Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,Image Alt Text,Status\nfelpa,Felpa,"<p>Bella &amp; calda</p>",U,,Felpe,a,true,Taglia,S,,,,,FEL-S,5,,1,deny,manual,40.00,,true,true,,https://cdn.example/f.jpg,1,,active\nfelpa,,,,,,,,,M,,,,,FEL-M,5,,1,deny,manual,42.00,,true,true,,,,,\nfelpa,,,,,,,,,,,,,,,,,,,,,,,,,https://cdn.example/g.jpg,2,,\n',
    'felpa/M',
    {
      name: 'Felpa (M)',
      sku: 'FEL-M',
      unitPrice: '42.00',
      description: 'Bella & calda',
      category: 'Felpe',
      status: 'active',
      imageUrl: 'https://cdn.example/f.jpg',
    },
  ],
  [
    'WooCommerce (customers)',
    'customers',
    'Name,Username,Last Active,Sign Up,Email,Orders,Total Spend,AOV,Country / Region,City,Region,Postal Code\nBo Kim,,2024-01-02,,bo@example.com,1,10,10,SE,Malmö,M,211 20\n',
    'bo@example.com',
    { name: 'Bo Kim', email: 'bo@example.com', address: { city: 'Malmö', country: 'SE' } },
  ],
  [
    'WooCommerce (products)',
    'items',
    'ID,Type,SKU,Name,Published,"Is featured?","Visibility in catalog","Short description",Description,"Date sale price starts","Date sale price ends","Tax status","Tax class","In stock?",Stock,"Low stock amount","Backorders allowed?","Sold individually?","Weight (kg)","Length (cm)","Width (cm)","Height (cm)","Allow customer reviews?","Purchase note","Sale price","Regular price",Categories,Tags,"Shipping class",Images,"Download limit","Download expiry days",Parent\n44,variable,TSH,T-shirt,1,0,visible,,,,,taxable,,1,,,0,0,,,,,1,,,,"Clothing > Tshirts",,,,,,\n45,"simple, virtual",ALB,Album,1,0,visible,,"A <b>good</b> one",,,none,,1,,,0,0,,,,,1,,,15,"Music, Gifts",,,"https://x.example/a.jpg, https://x.example/b.jpg",,,\n',
    '45',
    {
      type: 'service',
      name: 'Album',
      sku: 'ALB',
      unitPrice: '15.00',
      taxable: false,
      category: 'Music',
      imageUrl: 'https://x.example/a.jpg',
      description: 'A good one',
    },
  ],
];

/** The columns of these files that map to no field; all the others do. */
const notImported: Readonly<Record<string, string>> = {
  'Stripe (customers)': 'Delinquent, Plan, Status, Total Spend, Payment Count, Refunded Volume, Dispute Losses',
  'Stripe (prices)':
    'Product Statement Descriptor, Product Tax Code, Interval Count, Usage Type, Aggregate Usage, Billing Scheme, Trial Period Days, Tax Behavior',
  'HubSpot (contacts)': 'Lead Status, Create Date, Contact owner',
  'HubSpot (companies)': 'Description',
  'HubSpot (products)': '',
  'QuickBooks (customers)': 'Attachments, Open Balance',
  'QuickBooks (customer contact list)': 'Full name',
  'QuickBooks (products and services)':
    'Income Account, Purchase Description, Purchase Cost, Expense Account, Quantity On Hand, Reorder Point, Inventory Asset Account, Quantity as-of Date',
  'Xero (contacts)':
    'POAttentionTo, POAddressLine3, POAddressLine4, SAAttentionTo, SAAddressLine3, SAAddressLine4, FaxNumber, DDINumber, SkypeName, BankAccountName, BankAccountNumber, BankAccountParticulars, AccountsReceivableTaxCodeName, AccountsPayableTaxCodeName, LegalName',
  'Xero (inventory items)':
    'Quantity, PurchasesDescription, PurchasesUnitPrice, PurchasesAccount, PurchasesTaxRate, SalesAccount, SalesTaxRate',
  'Shopify (customers)': 'Accepts Email Marketing, Accepts SMS Marketing, Total Spent, Total Orders, Tax Exempt',
  'Shopify (products)':
    'Vendor, Product category, Tags, Published on online store, Barcode, Option1 name, Option1 Linked To, Option2 name, Option2 Linked To, Compare-at price, Cost per item, Image position, Variant image URL, Gift card',
  'Shopify (products, older columns)':
    'Vendor, Product Category, Tags, Published, Option1 Name, Option2 Name, Option3 Name, Variant Grams, Variant Inventory Tracker, Variant Inventory Qty, Variant Inventory Policy, Variant Fulfillment Service, Variant Compare At Price, Variant Requires Shipping, Variant Barcode, Image Position, Image Alt Text',
  'WooCommerce (customers)': 'Last Active, Sign Up, Orders, Total Spend, AOV',
  'WooCommerce (products)':
    'Is featured?, Visibility in catalog, Date sale price starts, Date sale price ends, Tax class, In stock?, Stock, Low stock amount, Backorders allowed?, Sold individually?, Weight (kg), Length (cm), Width (cm), Height (cm), Allow customer reviews?, Purchase note, Sale price, Tags, Shipping class, Download limit, Download expiry days, Parent',
};

test.each([
  ['a title', 'Kundenliste\nNr;Name;Ort\n1;Acme;Dresden\n', true],
  ['a title and a date', 'Customers;Created 2026-03-01\nexternalId;name\nC-1;Acme\n', true],
  ['groups of columns', ';Kunde;;Kontakt\nNr;Name;Ort;E-Mail\n1;Acme;Dresden;a@acme.example\n', true],
  ['nothing', 'Kd.-Nr.;Firma;Ort\n1;Name;Stadt\n', false],
])('the names of the columns are known to be below %s', async (_, text, isBelow) => {
  const inspection = await withFile('rows.csv', text, (file) => inspectFile(file));
  expect(isHeaderBelow(inspection, 'customers')).toBe(isBelow);
});

describe('an export of another tool', () => {
  test.each(exportsOf)(
    'from %s is recognized by its header, and the report says so',
    async (name, kind, text, id, wanted) => {
      const { csv, fetch } = await start();
      const report = await csv(kind, text);
      expect(report.errors).toEqual([]);
      expect(report.notes[0]).toBe(`Recognized as an export from ${name}.`);
      expect(report.notes).not.toContain('Times without a time zone are read as UTC.');
      const [, ignored = ''] = /^Columns not imported: (.*)\.$/m.exec(report.notes.join('\n')) ?? [];
      expect(ignored).toBe(notImported[name]);
      expect(await fetch(kind, id)).toMatchObject(wanted);
      expect(await csv(kind, text)).toMatchObject({ read: report.read, unchanged: report.read });
    },
  );

  test.each([
    [
      'customers',
      'Name,Username,Last active,Date registered,Email,Orders,Total spend,AOV,Country / Region,City,Region,Postal code\nBo Kim,,2026-01-01,,bo@example.com,2,20,10,SE,Malmö,,\n',
      'bo@example.com',
      'WooCommerce (customers)',
      { name: 'Bo Kim', address: { city: 'Malmö' } },
    ],
    [
      'customers',
      'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Company,Address1,Address2,City,Province,Province Code,Country,Country Code,Zip,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Tags,Note,Tax Exempt\n7,Ana,Roy,ana@example.com,yes,Roy Ltd,Rue 1,,Lyon,,,France,FR,69001,,no,0,0,,,no\n',
      '7',
      'Shopify (customers)',
      { companyName: 'Roy Ltd', address: { line1: 'Rue 1', country: 'FR' } },
    ],
    [
      'customers',
      'Record ID,First Name,Last Name,Email,Company Name\n8,,,,Villa SA\n9,,,,\n',
      '8',
      'HubSpot (contacts)',
      { name: 'Villa SA' },
    ],
    [
      'customers',
      'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Phone\n8,,,,no,030 1234\n9,,,,no,\n',
      '8',
      'Shopify (customers)',
      { name: '030 1234' },
    ],
    [
      'items',
      'Title,URL handle,SKU,Price,Option1 value,Status,Product image URL\nTee,tee,T,5,Default Title,draft,https://a.example/1\n,tee,T-M,6,M,,https://a.example/2\nMug,mug,,7,,active,\n',
      'tee/M',
      'Shopify (products)',
      { name: 'Tee (M)', status: 'archived', imageUrl: 'https://a.example/2' },
    ],
    [
      'items',
      'Title,URL handle,SKU,Price,Option1 value,Type\nTee,tee,T,5,Default Title,Tops\nMug,mug,M,6,Default Title,\n',
      'mug',
      'Shopify (products)',
      { name: 'Mug', category: null },
    ],
    [
      'customers',
      'Customer full name,Phone numbers,Email,Bill address,Ship address\nCool Cars,Phone: 123 Fax: 456,,,"1 A St\nBay"\n"Friday, May 1, 2026 1:46 PM GMT-05:00",,,,\n',
      'Cool Cars',
      'QuickBooks (customer contact list)',
      { phone: '123', shippingAddress: { line1: '1 A St Bay' } },
    ],
    [
      'customers',
      'id,Email,Name,Created (UTC),Delinquent,Card Address Line1,Card Address Zip\ncus_1,ana@example.com,,2025-03-19 05:57,false,Rue 1,69001\n',
      'cus_1',
      'Stripe (customers)',
      { name: 'ana@example.com', address: { line1: 'Rue 1', postalCode: '69001' } },
    ],
    [
      'customers',
      'Name,Username,Email,Total Spend,AOV\nBo Kim,bo,bo@example.com,10,10\n',
      'bo',
      'WooCommerce (customers)',
      { email: 'bo@example.com' },
    ],
    [
      'items',
      'ID,Type,SKU,Name,Published,Regular price,Description,Tax status\n7,"simple, downloadable",A,Album,-1,9,One<br>\\n two,taxable\n',
      '7',
      'WooCommerce (products)',
      { type: 'service', status: 'archived', description: 'One\ntwo', taxable: true },
    ],
    ['items', '*ItemCode,ItemName,SalesUnitPrice\nMUG,,20\n', 'MUG', 'Xero (inventory items)', { name: 'MUG' }],
    [
      'customers',
      'id,Email,Name,Created (UTC),Delinquent\ncus_2,,,2025-03-19 05:57,false\n',
      'cus_2',
      'Stripe (customers)',
      { name: 'cus_2' },
    ],
  ] as const)('may have different headers or missing values: %s, %s', async (kind, text, id, name, wanted) => {
    const { csv, fetch } = await start();
    expect((await csv(kind, text)).errors).toEqual([]);
    expect((await csv(kind, text)).notes[0]).toBe(`Recognized as an export from ${name}.`);
    expect(await fetch(kind, id)).toMatchObject(wanted);
  });

  test.each([
    ['HubSpot (products)', 'Service', 'Inventory'],
    ['QuickBooks (products and services)', ',Service,', ',Inventory,'],
    ['WooCommerce (products)', 'simple, virtual', 'simple'],
  ])('has products as well as services: %s', async (name, service, product) => {
    const { csv, fetch } = await start();
    const [, kind = 'items', text = '', id = ''] = exportsOf.find(([known]) => known === name) ?? [];
    await csv(kind, text.replace(service, product));
    expect((await fetch(kind, id)).type).toBe('product');
  });

  test.each([
    ['Stripe (prices)', '"1,029.90"'],
    ['Shopify (products)', '42.00'],
    ['Shopify (products, older columns)', '42.00'],
  ])('has decimal points, so the import does not ask about them: %s', async (name, price) => {
    const { csv, fetch } = await start();
    const [, kind = 'items', text = '', id = ''] = exportsOf.find(([known]) => known === name) ?? [];
    expect(await csv(kind, text.replace(price, '1.200').replace('40.00', '2.400'))).toMatchObject({ errors: [] });
    expect(Number((await fetch(kind, id)).unitPrice)).toBe(1.2);
  });

  test.each(exportsOf)('from %s is known to contain %s, whatever it was uploaded as', async (_, kind, text) => {
    const inspection = await withFile('rows.csv', text, (file) => inspectFile(file));
    expect(likelierKind(inspection, kind)).toBeUndefined();
    expect(likelierKind(inspection, kind === 'items' ? 'customers' : 'items')).toBe(kind);
  });

  test('is tested here for every known tool', () => {
    expect(exportsOf.map(([name]) => name).toSorted()).toEqual(presetNames.toSorted());
  });

  test.each(['Shopify (products)', 'QuickBooks (customer contact list)'])(
    'reports how many rows of %s are not separate records, and which columns are ignored',
    async (name) => {
      const { csv } = await start();
      const [, kind = 'items', text = ''] = exportsOf.find(([known]) => known === name) ?? [];
      const report = await csv(kind, text);
      expect(report).toMatchObject({ read: 2, created: 2 });
      expect(report.notes.join('\n')).toMatch(
        /Columns not imported: .*\nRows skipped because they are not separate records: 1\./,
      );
    },
  );

  test('keeps every value of its metadata, whatever the keys are', async () => {
    const { csv, fetch } = await start();
    const header = 'id,Email,Name,Created (UTC),Delinquent,plan b (metadata),plan_b (metadata),tier! (metadata)';
    await csv('customers', `${header}\ncus_1,a@b.example,Ana,2024-03-12 09:14,false,one,two,three\n`);
    expect((await fetch('customers', 'cus_1')).metadata).toEqual({ plan_b: 'one', plan_b_2: 'two', tier: 'three' });
  });

  test.each([
    ['HubSpot', 'Record ID,First Name,Last Name,Email,City', { 'Record ID': '' }, '7,,,,Lyon', 'Contact 7'],
    [
      'Shopify',
      'Customer ID,First Name,Last Name,Email,Accepts Email Marketing',
      { 'Customer ID': '' },
      '7,,,,no',
      'Customer 7',
    ],
  ])('has a name for a record of %s with nothing but an id, and none without it', async (_, header, map, row, name) => {
    const { csv, fetch } = await start();
    expect(await csv('customers', `${header}\n${row}\n`)).toMatchObject({ created: 1 });
    expect(await fetch('customers', '7')).toMatchObject({ name });
    const { errors } = await csv('customers', `${header}\n${row}\n`, { map, match: 'none' });
    expect(errors).toMatchObject([{ field: 'name', code: 'required' }]);
  });

  test('can be remapped in part, and keeps the rest in metadata', async () => {
    const { csv, fetch } = await start();
    const [, , text = '', id = ''] = exportsOf.find(([name]) => name === 'HubSpot (contacts)') ?? [];
    await csv('customers', text, { map: { 'Lead Status': 'tags' }, restToMetadata: true });
    expect(await fetch('customers', id)).toMatchObject({
      tags: ['NEW'],
      metadata: { Contact_owner: 'f@example.com', Create_Date: '2024-03-12 09:14' },
    });
  });
});

test('imports a fractional tax rate unchanged, and notes that it is read as a percentage', async () => {
  const { csv, fetch } = await start();
  const notes = ['Tax rates are percentages: 0.19 is read as 0.19%. Write 19 for 19%.'];
  const header = 'externalId,type,name,unitPrice,taxRate';
  expect(await csv('items', `${header}\nI-1,product,Chair,10.00,0.19\n`)).toMatchObject({ created: 1, notes });
  expect((await fetch('items', 'I-1')).taxRate).toBe('0.19');
  expect(await csv('items', `${header}\nI-1,product,Chair,10.00,19 %\n`)).toMatchObject({ updated: 1, notes: [] });
  expect((await fetch('items', 'I-1')).taxRate).toBe('19');
});

test('the name of a column is shortened before it is normalized, which could take seconds', () => {
  const { longest } = watchNormalized();
  const columns = [columnNamed('name'), columnNamed(`E-Mail${marks}`)];
  expect(likelierKind({ format: 'csv', columns }, 'customers')).toBeUndefined();
  expect(longest()).toBeLessThan(1_000);
});

test('a name is looked for in the first values only among as many as a file may have columns', () => {
  const { count } = watchNormalized();
  const columns = Array.from({ length: 100 }, (_, index) => columnNamed(`c${index}`, ['a,'.repeat(50)]));
  expect(isHeaderBelow({ format: 'csv', columns }, 'customers')).toBe(false);
  // Once for each of 1,000 names, for each column, and for each name of a field.
  expect(count()).toBeLessThan(5_000);
});
