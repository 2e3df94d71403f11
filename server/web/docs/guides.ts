/** The guides, grouped by reader, in reading order; each is a file in `guides/`. */

export const siteTitle = 'Customer, Proposal and Item API';

export type Guide = { slug: string; title: string; summary: string };
type Group = { title: string; guides: readonly Guide[] };

export const guideUrl = (slug: string, root: string): string => `${root}/docs${slug === '' ? '' : `/${slug}`}`;

/** File name without `.md` → title and summary. */
const contents: Readonly<Record<string, Readonly<Record<string, readonly [title: string, summary: string]>>>> = {
  Start: {
    index: ['Overview', 'Read and write customers, proposals and catalog items over HTTP, as JSON.'],
    'first-call': ['First call', 'Get a key, read your first record and create one.'],
  },
  Build: {
    'typed-client': [
      'Typed client',
      'The TypeScript SDK: options, timeouts, errors, pages, sync, testing and pinning.',
    ],
    'filtering-and-search': ['Filtering and search', 'Every filter of every list, and how search matches.'],
    proposals: ['Proposal lifecycle', 'Statuses, who changes them, timestamps, and acceptance after a revision.'],
    'pagination-and-sync': ['Pagination and sync', 'Read whole lists, and keep a copy up to date.'],
    'two-way-sync': [
      'Two-way sync',
      'Keep customers in sync in both directions, including conflicts, erasure and crashes.',
    ],
    invoices: [
      'Invoices from accepted proposals',
      'Invoice each accepted proposal once, with exact sums in every currency.',
    ],
    webhooks: ['Webhooks', 'Receive changes as signed requests, instead of polling.'],
    money: ['Money', 'Decimal strings, currencies, and exact sums.'],
    errors: ['Errors', 'Every error code: its status, its meaning and what to do.'],
    'retries-and-idempotency': ['Retries and idempotency', 'Retry any request without creating anything twice.'],
    'conditional-requests': [
      'Conditional requests',
      'Fetch a record only if it has changed, and change it only if nobody else has.',
    ],
    'rate-limit': ['Rate limit', 'How many requests a key can make, and how to stay within the limit.'],
    sdks: [
      'SDKs in other languages',
      'Generate a client for Python, Go, Java, C#, PHP or Ruby from the OpenAPI document.',
    ],
  },
  Automate: {
    automation: ['No-code tools', 'Connect Zapier, Make, n8n, Power Automate, Google Sheets and other tools.'],
    agents: ['AI agents', 'Connect Claude, ChatGPT, Cursor or n8n over the Model Context Protocol.'],
  },
  Administer: {
    'api-keys': ['API keys', 'Create, replace (rotate) and revoke keys; what a key may do.'],
    members: ['Members and sign-in', 'Roles and permissions, invitations, two-factor authentication, single sign-on.'],
    usage: ['Usage and failures', 'See how much each tool uses the API, and why requests fail.'],
    import: ['Moving from another tool', 'Import customers, items and proposals.'],
    'personal-data': ['Personal data and export', 'Download your records, and erase the personal data of a customer.'],
  },
  Operate: {
    operating: ['Operating', 'Run the service in production: proxy, health, metrics, workers, upgrades and backups.'],
    growing: ['Scaling', 'From one process to many machines, a connection pooler and a distributed database.'],
  },
  Changes: {
    changelog: ['Changelog', 'What changed in each release, with an Atom feed.'],
    versioning: ['Versioning', 'What stays stable, what can change, and how changes are announced.'],
  },
};

export const groups: readonly Group[] = Object.entries(contents).map(([title, guidesOfGroup]) => ({
  title,
  guides: Object.entries(guidesOfGroup).map(([name, [guide, summary]]) => ({
    slug: name === 'index' ? '' : name,
    title: guide,
    summary,
  })),
}));

export const guides: readonly Guide[] = groups.flatMap((group) => group.guides);

/** The first page, at /docs. */
export const [overview = { slug: '', title: siteTitle, summary: '' }] = guides;
