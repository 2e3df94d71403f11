import { addressColumns, namedById, textOfHtml, withoutApostrophe, yesOrNo } from './preset.ts';
import type { Preset, Row } from './preset.ts';

const address = ['Address1', 'Address2', 'City', 'Province Code', 'Zip', 'Country Code'];

export const shopify: Preset[] = [
  {
    name: 'Shopify (customers)',
    kind: 'customers',
    signature: ['First Name', 'Last Name', 'Email', 'Accepts Email Marketing'],
    columns: {
      externalId: 'Customer ID',
      firstName: 'First Name',
      lastName: 'Last Name',
      email: 'Email',
      phone: ['Phone', 'Default Address Phone'],
      // Without "Default Address" in older exports.
      companyName: ['Default Address Company', 'Company'],
      ...addressColumns('address', address, ['Default Address ', '']),
      notes: 'Note',
      tags: 'Tags',
    },
    tagSeparator: ',',
    convert: { externalId: withoutApostrophe, phone: withoutApostrophe, 'address.postalCode': withoutApostrophe },
    finish: (row) => {
      const isNamed = row.firstName ?? row.lastName ?? row.companyName ?? row.email ?? row.phone;
      return isNamed ? row : { ...row, name: namedById('Customer', row) };
    },
  },
  products('Shopify (products)', {
    handle: 'URL handle',
    description: 'Description',
    sku: 'SKU',
    unitPrice: 'Price',
    taxable: 'Charge tax',
    imageUrl: 'Product image URL',
  }),
  products('Shopify (products, older columns)', {
    handle: 'Handle',
    description: 'Body (HTML)',
    sku: 'Variant SKU',
    unitPrice: 'Variant Price',
    taxable: 'Variant Taxable',
    imageUrl: 'Image Src',
  }),
];

type ProductColumns = Record<'handle' | 'description' | 'sku' | 'unitPrice' | 'taxable' | 'imageUrl', string>;

/** One row per variant; values of the product are only in its first row. Shopify has renamed some columns. */
function products(name: string, columns: ProductColumns): Preset {
  const { handle, description, sku, unitPrice, imageUrl } = columns;
  return {
    name,
    kind: 'items',
    signature: [handle, 'Title', sku, unitPrice],
    columns: {
      ...columns,
      name: 'Title',
      category: 'Type',
      option1: 'Option1 Value',
      option2: 'Option2 Value',
      option3: 'Option3 Value',
      status: 'Status',
    },
    fixed: { type: 'product' },
    decimalPoint: '.',
    carried: { by: handle, columns: ['Title', description, 'Type', 'Status', imageUrl] },
    // Additional pictures of a product have rows without a price.
    requires: unitPrice,
    convert: {
      description: textOfHtml,
      sku: withoutApostrophe,
      taxable: yesOrNo,
      // A draft is not for sale either.
      status: (cell) => (/^active$/i.test(cell) ? 'active' : 'archived'),
    },
    isKeyed: true,
    finish: asVariant,
  };
}

/** A variant has no id in the file: handle and options identify it. */
function asVariant({ handle, option1, option2, option3, ...row }: Row): Row {
  const options = [option1, option2, option3].filter((value) => value !== undefined && value !== 'Default Title');
  return {
    ...row,
    externalId: [handle, ...options].join('/'),
    // If the file begins within a product, its title is unknown.
    name: typeof row.name === 'string' && options.length > 0 ? `${row.name} (${options.join(', ')})` : row.name,
  };
}
