/** The lines of a proposal. */
import { z } from 'zod';
import { decimal } from './decimal.ts';
import * as fields from './fields.ts';
import { itemTypes } from './items.ts';
import { oneOf, text } from './text.ts';

export const maximumLines = 500;

export const lineTexts = {
  name: text(200, { description: 'What is offered, as the customer sees it.', example: 'Queso Cabrales' }),
  description: text(5000, { description: 'Further description.', example: '1 kg package.', multiline: true }),
  sku: text(100, { description: 'SKU at the time of the offer.', example: 'NW-11' }),
  unit: text(30, { description: 'The unit that the price is for.', example: 'kg' }),
};

/** An amount of a line or of a whole proposal. */
export const money = (what: string, example = '168.00') =>
  decimal({
    description: `${what}, in \`currency\`, with exactly as many decimals as the currency has.`,
    example,
    signed: true,
  });

const lineItem = z
  .object({
    id: fields.id('line'),
    position: fields.wholeNumber({ min: 1, max: maximumLines }, 'Position within the proposal, starting at 1.', 1),
    itemId: fields.id('item', 'The catalog item; `null` if the line is not from the catalog.').nullable(),
    type: oneOf(itemTypes, { description: 'Whether this is a product or a service.', typeName: 'ItemType' }),
    name: lineTexts.name,
    description: lineTexts.description.nullable(),
    sku: lineTexts.sku.nullable(),
    quantity: decimal({ description: 'Quantity, with up to 4 decimals.', example: '12' }),
    unit: lineTexts.unit.nullable(),
    unitPrice: decimal({ description: 'Price of one unit; negative for a credit.', example: '14.00', signed: true }),
    discountAmount: money('Discount on the line', '0.00'),
    taxRate: decimal({ description: 'Tax rate in percent; `null` means 0.', example: '8.25' }).nullable(),
    subtotal: money('quantity × unitPrice, rounded'),
    taxAmount: money('(subtotal − discountAmount) × taxRate / 100, rounded', '13.86'),
    total: money('subtotal − discountAmount + taxAmount', '181.86'),
    optional: z.boolean().meta({ description: 'Whether the customer may decline this line.', examples: [false] }),
    selected: z.boolean().meta({ description: 'Whether this line counts toward the totals.', examples: [true] }),
  })
  .meta({ id: 'LineItem', description: 'One line of a proposal.' });
export type LineItem = z.infer<typeof lineItem>;

export const lineItems = z.array(lineItem).max(maximumLines).meta({ description: 'The lines, in order of position.' });
