/** Labels for tools that show fields to people. */

const acronyms: Record<string, string> = { id: 'ID', ids: 'IDs', url: 'URL', sku: 'SKU', etag: 'ETag', q: 'Search' };

/** `shippingAddress city` → `Shipping address city`; `address.city` → `Address, city`; `externalId` → `External ID`. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll('-', ' ')
    .replace('.', ', ')
    .replaceAll(/(?<=[a-z])(?=[A-Z0-9])/g, ' ')
    .split(' ')
    .map((word) => acronyms[word.toLowerCase()] ?? word.toLowerCase())
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
