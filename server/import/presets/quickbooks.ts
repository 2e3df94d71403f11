import { yesOrNo } from './preset.ts';
import type { Preset, Row } from './preset.ts';

/** QuickBooks exports no ids, but its display names are unique. */
const nameIsId = (row: Row) => ({ ...row, name: row.externalId });

export const quickbooks: Preset[] = [
  {
    name: 'QuickBooks (customers)',
    kind: 'customers',
    signature: ['Street Address', 'City', 'State', 'Zip', 'Phone', 'Email', 'Open Balance'],
    columns: {
      externalId: ['Name', 'Customer'],
      companyName: ['Company name', 'Company'],
      'address.line1': 'Street Address',
      'address.city': 'City',
      'address.region': 'State',
      'address.country': 'Country',
      'address.postalCode': 'Zip',
      phone: 'Phone',
      email: 'Email',
      tags: 'Customer Type',
      notes: 'Notes',
    },
    finish: nameIsId,
  },
  {
    name: 'QuickBooks (customer contact list)',
    kind: 'customers',
    signature: ['Customer full name', 'Phone numbers', 'Email', 'Bill address'],
    columns: {
      externalId: 'Customer full name',
      phone: 'Phone numbers',
      email: 'Email',
      'address.line1': 'Bill address',
      'shippingAddress.line1': 'Ship address',
    },
    // The last line of the report says when it was run: `Wednesday, September 30, 2026 01:46 PM GMT-05:00`.
    ignores: /^\s*\w+day, .* GMT[+-]\d/,
    convert: {
      // The report puts every number into one cell: `Phone: (555) 010-1234 Mobile: …`.
      phone: (cell) => cell.replace(/^Phone:\s*/i, '').replace(/(?<!\s)\s*(?:Mobile|Fax|Other):.*$/is, ''),
      'address.line1': (cell) => cell.replaceAll(/\s+/g, ' '),
      'shippingAddress.line1': (cell) => cell.replaceAll(/\s+/g, ' '),
    },
    finish: nameIsId,
  },
  {
    name: 'QuickBooks (products and services)',
    kind: 'items',
    signature: ['Product/Service Name', 'Type'],
    columns: {
      externalId: 'Product/Service Name',
      description: 'Sales Description',
      sku: 'SKU',
      type: 'Type',
      unitPrice: ['Sales Price / Rate', 'Sales Price/Rate', 'Sales Price', 'Price'],
      taxable: 'Taxable',
      category: 'Category',
    },
    convert: { type: (cell) => (/service/i.test(cell) ? 'service' : 'product'), taxable: yesOrNo },
    finish: nameIsId,
  },
];
