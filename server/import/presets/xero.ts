import { addressColumns } from './preset.ts';
import type { Preset } from './preset.ts';

const address = ['AddressLine1', 'AddressLine2', 'City', 'Region', 'PostalCode', 'Country'];

export const xero: Preset[] = [
  {
    // Xero requires unique contact names, but neither unique nor present account numbers.
    name: 'Xero (contacts)',
    kind: 'customers',
    signature: ['*ContactName', 'EmailAddress', 'FirstName', 'LastName'],
    columns: {
      externalId: '*ContactName',
      'metadata.account_number': 'AccountNumber',
      email: 'EmailAddress',
      firstName: 'FirstName',
      lastName: 'LastName',
      ...addressColumns('address', address, ['PO']),
      ...addressColumns('shippingAddress', address, ['SA']),
      phone: ['PhoneNumber', 'MobileNumber'],
      taxId: 'TaxNumber',
      website: 'Website',
    },
    finish: (row) => ({ ...row, name: row.externalId }),
  },
  {
    name: 'Xero (inventory items)',
    kind: 'items',
    signature: ['*ItemCode', 'ItemName', 'SalesUnitPrice'],
    columns: {
      externalId: '*ItemCode',
      name: 'ItemName',
      description: 'SalesDescription',
      unitPrice: 'SalesUnitPrice',
    },
    fixed: { type: 'product' },
    finish: (row) => ({ ...row, sku: row.externalId, name: row.name ?? row.externalId }),
  },
];
