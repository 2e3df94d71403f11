/** The guides, in the order in which a newcomer reads them; each is a file in `guides/`. */

export const siteTitle = 'Customer, Proposal and Item API';

export type Guide = { slug: string; title: string; summary: string };

export const guides = [
  { slug: '', title: 'Overview', summary: 'Read and write customers, proposals and catalog items over HTTP, as JSON.' },
  { slug: 'first-call', title: 'First call', summary: 'From a key to the first record read and written.' },
  { slug: 'pagination-and-sync', title: 'Pagination and sync', summary: 'Read whole lists, and keep a copy in step.' },
  {
    slug: 'retries-and-idempotency',
    title: 'Retries and idempotency',
    summary: 'Repeat a request without doing its work twice.',
  },
  { slug: 'errors', title: 'Errors', summary: 'Every code: its status, what it means, what to do.' },
  { slug: 'rate-limit', title: 'Rate limit', summary: 'How many requests a key may make, and how to stay within.' },
  { slug: 'money', title: 'Money', summary: 'Decimal strings, currencies, and sums that come out right.' },
  {
    slug: 'versioning',
    title: 'Versioning',
    summary: 'What will not change under you, and how you hear of what does.',
  },
  {
    slug: 'automation',
    title: 'Zapier, Make and n8n',
    summary: 'Connection test, trigger, search and create, step by step.',
  },
  {
    slug: 'agents',
    title: 'AI agents',
    summary: 'Connect Claude, ChatGPT, Cursor or n8n over the Model Context Protocol.',
  },
  { slug: 'import', title: 'Moving from another tool', summary: 'Bring customers, items and proposals along.' },
] as const satisfies Guide[];
