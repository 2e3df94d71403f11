import { addressColumns, namedById } from './preset.ts';
import type { Preset } from './preset.ts';

const place = ['Street Address', 'Street Address 2', 'City', 'State/Region', 'Postal Code', 'Country/Region'];

export const hubspot: Preset[] = [
  {
    name: 'HubSpot (contacts)',
    kind: 'customers',
    signature: ['Record ID', 'First Name', 'Last Name', 'Email'],
    columns: {
      externalId: 'Record ID',
      firstName: 'First Name',
      lastName: 'Last Name',
      email: 'Email',
      phone: ['Phone Number', 'Mobile Phone Number'],
      companyName: ['Company Name', 'Associated Company'],
      website: 'Website URL',
      ...addressColumns('address', place),
    },
    fixed: { type: 'person' },
    // A contact may have nothing but an id.
    finish: (row) => {
      const names = [row.firstName, row.lastName].filter(Boolean).join(' ');
      return { ...row, name: names || (row.companyName ?? row.email ?? row.phone ?? namedById('Contact', row)) };
    },
  },
  {
    name: 'HubSpot (companies)',
    kind: 'customers',
    signature: ['Record ID', 'Company name'],
    columns: {
      externalId: 'Record ID',
      companyName: 'Company name',
      phone: 'Phone Number',
      website: ['Website URL', 'Company Domain Name'],
      ...addressColumns('address', place),
    },
    fixed: { type: 'company' },
    // HubSpot numbers contacts and companies separately: a contact and a company may have the same number.
    convert: { externalId: (cell) => `company-${cell}` },
  },
  {
    name: 'HubSpot (products)',
    kind: 'items',
    signature: ['Record ID', 'Name', 'Unit price'],
    columns: {
      externalId: 'Record ID',
      name: 'Name',
      sku: 'SKU',
      description: ['Product description', 'Description'],
      unitPrice: 'Unit price',
      currency: 'Currency',
      type: 'Product type',
      imageUrl: 'Image URL',
    },
    fixed: { type: 'product' },
    convert: { type: (cell) => (/service/i.test(cell) ? 'service' : 'product') },
  },
];
