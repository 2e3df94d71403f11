import { namedById } from './preset.ts';
import type { Preset } from './preset.ts';

const place = {
  'Street Address': 'address.line1',
  'Street Address 2': 'address.line2',
  City: 'address.city',
  'State/Region': 'address.region',
  'Postal Code': 'address.postalCode',
  'Country/Region': 'address.country',
};

export const hubspot: Preset[] = [
  {
    name: 'HubSpot (contacts)',
    kind: 'customers',
    signature: ['Record ID', 'First Name', 'Last Name', 'Email'],
    columns: {
      'Record ID': 'externalId',
      'First Name': 'firstName',
      'Last Name': 'lastName',
      Email: 'email',
      'Phone Number': 'phone',
      'Mobile Phone Number': 'phone',
      'Company Name': 'companyName',
      'Associated Company': 'companyName',
      'Website URL': 'website',
      ...place,
    },
    fixed: { type: 'person' },
    // A contact may have nothing but an id.
    finish: (row) => {
      const names = [row.firstName, row.lastName].filter(Boolean).join(' ');
      return {
        ...row,
        name: names || (row.companyName ?? row.email ?? row.phone ?? namedById('Contact', row)),
      };
    },
  },
  {
    name: 'HubSpot (companies)',
    kind: 'customers',
    signature: ['Record ID', 'Company name'],
    columns: {
      'Record ID': 'externalId',
      'Company name': 'companyName',
      'Phone Number': 'phone',
      'Website URL': 'website',
      'Company Domain Name': 'website',
      ...place,
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
      'Record ID': 'externalId',
      Name: 'name',
      SKU: 'sku',
      'Product description': 'description',
      Description: 'description',
      'Unit price': 'unitPrice',
      Currency: 'currency',
      'Product type': 'type',
      'Image URL': 'imageUrl',
    },
    fixed: { type: 'product' },
    convert: { type: (cell) => (/service/i.test(cell) ? 'service' : 'product') },
  },
];
