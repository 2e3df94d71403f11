import { firstOf, textOfHtml, withoutApostrophe, yesOrNo } from './preset.ts';
import type { Preset } from './preset.ts';

export const woocommerce: Preset[] = [
  {
    name: 'WooCommerce (customers)',
    kind: 'customers',
    // A one-page report is downloaded; a longer one is emailed, with different headers (Sign Up, not Date registered).
    signature: ['Name', 'Username', 'Email', 'Total Spend', 'AOV'],
    columns: {
      Name: 'name',
      Username: 'username',
      Email: 'email',
      'Country / Region': 'address.country',
      City: 'address.city',
      Region: 'address.region',
      'Postal Code': 'address.postalCode',
    },
    isKeyed: true,
    // Guests have no user name.
    finish: ({ username, ...row }) => ({ ...row, externalId: username ?? row.email }),
  },
  {
    name: 'WooCommerce (products)',
    kind: 'items',
    signature: ['ID', 'Type', 'SKU', 'Name', 'Published', 'Regular price'],
    columns: {
      ID: 'externalId',
      Type: 'type',
      SKU: 'sku',
      Name: 'name',
      Published: 'status',
      'Short description': 'description',
      Description: 'description',
      'Tax status': 'taxable',
      'Regular price': 'unitPrice',
      Categories: 'category',
      Images: 'imageUrl',
    },
    // The parent of variations has no price of its own.
    requires: 'Regular price',
    convert: {
      type: (cell) => (/virtual|downloadable/i.test(cell) ? 'service' : 'product'),
      sku: withoutApostrophe,
      status: (cell) => (cell === '1' ? 'active' : 'archived'),
      description: (cell) => textOfHtml(cell.replaceAll(String.raw`\n`, '\n')),
      taxable: yesOrNo,
      category: firstOf,
      imageUrl: firstOf,
    },
  },
];
