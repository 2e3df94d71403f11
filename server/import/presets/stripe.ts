import { amount, country, utcTime } from './cells.ts';
import type { Export } from './presets.ts';

const metadata = /^(.+) \(metadata\)$/;

export const stripe: Export[] = [
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
      'Address Line1': 'address.line1',
      'Address Line2': 'address.line2',
      'Address City': 'address.city',
      'Address State': 'address.region',
      'Address Postal Code': 'address.postalCode',
      'Address Country': 'address.country',
      'Card Address Line1': 'address.line1',
      'Card Address Line2': 'address.line2',
      'Card Address City': 'address.city',
      'Card Address State': 'address.region',
      'Card Address Zip': 'address.postalCode',
      'Card Address Country': 'address.country',
      'Shipping Address Line1': 'shippingAddress.line1',
      'Shipping Address Line2': 'shippingAddress.line2',
      'Shipping Address City': 'shippingAddress.city',
      'Shipping Address State': 'shippingAddress.region',
      'Shipping Address Postal Code': 'shippingAddress.postalCode',
      'Shipping Address Country': 'shippingAddress.country',
    },
    metadata,
    convert: { createdAt: utcTime, 'address.country': country, 'shippingAddress.country': country },
    // In Stripe, a customer may have nothing but an id.
    finish: (row) => ({ ...row, name: row.name ?? row.email ?? row.externalId }),
  },
  {
    // A product has a price for each currency and interval: each is an item of its own.
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
    convert: { createdAt: utcTime, currency: (cell) => cell.toUpperCase(), unitPrice: amount },
  },
];
