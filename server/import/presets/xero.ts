import { addressColumns } from './preset.ts';
import type { Preset } from './preset.ts';

const address = {
  line1: 'AddressLine1',
  line2: 'AddressLine2',
  city: 'City',
  region: 'Region',
  postalCode: 'PostalCode',
  country: 'Country',
};

export const xero: Preset[] = [
  {
    // Xero requires unique contact names, but neither unique nor present account numbers.
    name: 'Xero (contacts)',
    kind: 'customers',
    signature: ['*ContactName', 'EmailAddress', 'FirstName', 'LastName'],
    columns: {
      '*ContactName': 'externalId',
      AccountNumber: 'metadata.account_number',
      EmailAddress: 'email',
      FirstName: 'firstName',
      LastName: 'lastName',
      ...addressColumns('address', address, 'PO'),
      ...addressColumns('shippingAddress', address, 'SA'),
      PhoneNumber: 'phone',
      MobileNumber: 'phone',
      TaxNumber: 'taxId',
      Website: 'website',
    },
    finish: (row) => ({ ...row, name: row.externalId }),
  },
  {
    name: 'Xero (inventory items)',
    kind: 'items',
    signature: ['*ItemCode', 'ItemName', 'SalesUnitPrice'],
    columns: {
      '*ItemCode': 'externalId',
      ItemName: 'name',
      SalesDescription: 'description',
      SalesUnitPrice: 'unitPrice',
    },
    fixed: { type: 'product' },
    finish: (row) => ({ ...row, sku: row.externalId, name: row.name ?? row.externalId }),
  },
];
