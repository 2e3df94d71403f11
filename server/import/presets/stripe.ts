import { addressColumns } from './preset.ts';
import type { Preset } from './preset.ts';

const address = ['Line1', 'Line2', 'City', 'State', 'Postal Code', 'Country'];
const metadata = /^(.+) \(metadata\)$/;

export const stripe: Preset[] = [
  {
    name: 'Stripe (customers)',
    kind: 'customers',
    signature: ['id', 'Email', 'Name', 'Created (UTC)', 'Delinquent'],
    columns: {
      externalId: 'id',
      name: 'Name',
      email: 'Email',
      phone: 'Phone',
      notes: 'Description',
      createdAt: 'Created (UTC)',
      taxId: 'Business Vat ID',
      ...addressColumns('address', address, ['Address ', 'Card Address ']),
      'address.postalCode': ['Address Postal Code', 'Card Address Zip'],
      ...addressColumns('shippingAddress', address, ['Shipping Address ']),
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
      externalId: 'Price ID',
      name: 'Product Name',
      'metadata.stripe_product': 'Product ID',
      description: 'Description',
      createdAt: 'Created (UTC)',
      unitPrice: 'Amount',
      currency: 'Currency',
      unit: 'Interval',
    },
    metadata,
    fixed: { type: 'service' },
    decimalPoint: '.',
    convert: { currency: (cell) => cell.toUpperCase() },
  },
];
