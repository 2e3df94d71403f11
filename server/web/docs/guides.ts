/** The guides, in reading order for a newcomer; each is a file in `guides/`. */

export const siteTitle = 'Customer, Proposal and Item API';

export type Guide = { slug: string; title: string; summary: string };

export const guides = [
  { slug: '', title: 'Overview', summary: 'Read and write customers, proposals and catalog items over HTTP, as JSON.' },
  { slug: 'first-call', title: 'First call', summary: 'Get a key, read your first record and create one.' },
  {
    slug: 'pagination-and-sync',
    title: 'Pagination and sync',
    summary: 'Read whole lists, and keep a copy up to date.',
  },
  {
    slug: 'retries-and-idempotency',
    title: 'Retries and idempotency',
    summary: 'Retry any request without creating anything twice.',
  },
  { slug: 'errors', title: 'Errors', summary: 'Every error code: its status, its meaning and what to do.' },
  {
    slug: 'rate-limit',
    title: 'Rate limit',
    summary: 'How many requests a key can make, and how to stay within the limit.',
  },
  { slug: 'money', title: 'Money', summary: 'Decimal strings, currencies, and exact sums.' },
  {
    slug: 'versioning',
    title: 'Versioning',
    summary: 'What stays stable, what can change, and how changes are announced.',
  },
  {
    slug: 'automation',
    title: 'No-code tools',
    summary: 'Set up a connection test, trigger, search and create action.',
  },
  {
    slug: 'agents',
    title: 'AI agents',
    summary: 'Connect Claude, ChatGPT, Cursor or n8n over the Model Context Protocol.',
  },
  { slug: 'import', title: 'Moving from another tool', summary: 'Import customers, items and proposals.' },
  {
    slug: 'operating',
    title: 'Operating',
    summary: 'Run the service in production: proxy, health, metrics, workers, upgrades and backups.',
  },
  {
    slug: 'growing',
    title: 'Growing',
    summary: 'From one process to many machines, a connection pooler and a distributed database.',
  },
] as const satisfies Guide[];
