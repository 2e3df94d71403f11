/** The names of fields and values, as people read them. */

const acronyms: Record<string, string> = { id: 'ID', url: 'URL', sku: 'SKU', etag: 'ETag' };

/** `shippingAddress.postalCode` → `Shipping address, postal code`; `externalId` → `External ID`; `viewed` → `Viewed`. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/(?<=[a-z])(?=[A-Z\d])/g, ' ')
    .replace('.', ', ')
    .toLowerCase()
    .replaceAll(/[a-z]+/g, (word) => acronyms[word] ?? word);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
