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
      Name: 'externalId',
      Customer: 'externalId',
      'Company name': 'companyName',
      Company: 'companyName',
      'Street Address': 'address.line1',
      City: 'address.city',
      State: 'address.region',
      Country: 'address.country',
      Zip: 'address.postalCode',
      Phone: 'phone',
      Email: 'email',
      'Customer Type': 'tags',
      Notes: 'notes',
    },
    finish: nameIsId,
  },
  {
    name: 'QuickBooks (customer contact list)',
    kind: 'customers',
    signature: ['Customer full name', 'Phone numbers', 'Email', 'Bill address'],
    columns: {
      'Customer full name': 'externalId',
      'Phone numbers': 'phone',
      Email: 'email',
      'Bill address': 'address.line1',
      'Ship address': 'shippingAddress.line1',
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
      'Product/Service Name': 'externalId',
      'Sales Description': 'description',
      SKU: 'sku',
      Type: 'type',
      'Sales Price / Rate': 'unitPrice',
      'Sales Price/Rate': 'unitPrice',
      'Sales Price': 'unitPrice',
      Price: 'unitPrice',
      Taxable: 'taxable',
      Category: 'category',
    },
    convert: {
      type: (cell) => (/service/i.test(cell) ? 'service' : 'product'),
      taxable: yesOrNo,
    },
    finish: nameIsId,
  },
];
