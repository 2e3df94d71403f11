import { addressColumns } from './preset.ts';
import type { Preset } from './preset.ts';

const address = {
  line1: 'Line1',
  line2: 'Line2',
  city: 'City',
  region: 'State',
  postalCode: 'Postal Code',
  country: 'Country',
};
const metadata = /^(.+) \(metadata\)$/;

export const stripe: Preset[] = [
  {
    name: 'Stripe (customers)',
    kind: 'customers',
    signature: ['id', 'Email', 'Name', 'Created (UTC)', 'Delinquent'],
    columns: {
      id: 'externalId',
      Name: 'name',
      Email: 'email',
      Phone: 'phone',
      Description: 'notes',
      'Created (UTC)': 'createdAt',
      'Business Vat ID': 'taxId',
      ...addressColumns('address', address, 'Address '),
      ...addressColumns('address', { ...address, postalCode: 'Zip' }, 'Card Address '),
      ...addressColumns('shippingAddress', address, 'Shipping Address '),
    },
    metadata,
    // In Stripe, a customer may have nothing but an id.
    finish: (row) => ({ ...row, name: row.name ?? row.email ?? row.externalId }),
  },
  {
    // A product has a price for each currency and interval: each becomes a separate item.
    name: 'Stripe (prices)',
    kind: 'items',
    signature: ['Price ID', 'Product ID', 'Product Name', 'Amount', 'Currency'],
    columns: {
      'Price ID': 'externalId',
      'Product Name': 'name',
      'Product ID': 'metadata.stripe_product',
      Description: 'description',
      'Created (UTC)': 'createdAt',
      Amount: 'unitPrice',
      Currency: 'currency',
      Interval: 'unit',
    },
    metadata,
    fixed: { type: 'service' },
    decimalPoint: '.',
    convert: { currency: (cell) => cell.toUpperCase() },
  },
];
