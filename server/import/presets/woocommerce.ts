import { firstOf, textOfHtml, withoutApostrophe, yesOrNo } from './preset.ts';
import type { Preset } from './preset.ts';

export const woocommerce: Preset[] = [
  {
    name: 'WooCommerce (customers)',
    kind: 'customers',
    // A one-page report is downloaded; a longer one is emailed, with different headers (Sign Up, not Date registered).
    signature: ['Name', 'Username', 'Email', 'Total Spend', 'AOV'],
    columns: {
      name: 'Name',
      username: 'Username',
      email: 'Email',
      'address.country': 'Country / Region',
      'address.city': 'City',
      'address.region': 'Region',
      'address.postalCode': 'Postal Code',
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
      externalId: 'ID',
      type: 'Type',
      sku: 'SKU',
      name: 'Name',
      status: 'Published',
      description: ['Short description', 'Description'],
      taxable: 'Tax status',
      unitPrice: 'Regular price',
      category: 'Categories',
      imageUrl: 'Images',
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
