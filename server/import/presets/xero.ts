import { amount, country, website } from './cells.ts';
import type { Export } from './presets.ts';

export const xero: Export[] = [
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
      POAddressLine1: 'address.line1',
      POAddressLine2: 'address.line2',
      POCity: 'address.city',
      PORegion: 'address.region',
      POPostalCode: 'address.postalCode',
      POCountry: 'address.country',
      SAAddressLine1: 'shippingAddress.line1',
      SAAddressLine2: 'shippingAddress.line2',
      SACity: 'shippingAddress.city',
      SARegion: 'shippingAddress.region',
      SAPostalCode: 'shippingAddress.postalCode',
      SACountry: 'shippingAddress.country',
      PhoneNumber: 'phone',
      MobileNumber: 'phone',
      TaxNumber: 'taxId',
      Website: 'website',
    },
    convert: { website, 'address.country': country, 'shippingAddress.country': country },
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
    convert: { unitPrice: amount },
    finish: (row) => ({ ...row, sku: row.externalId, name: row.name ?? row.externalId }),
  },
];
