/** What tools that show fields to people call them. */

const acronyms: Record<string, string> = { id: 'ID', ids: 'IDs', url: 'URL', sku: 'SKU', q: 'Search' };

/** `shippingAddress city` → `Shipping address city`; `externalId` → `External ID`. */
export function label(name: string): string {
  const words = name
    .replaceAll('-', ' ')
    .replaceAll(/(?<=[a-z])(?=[A-Z0-9])/g, ' ')
    .split(' ')
    .map((word) => acronyms[word.toLowerCase()] ?? word.toLowerCase())
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
