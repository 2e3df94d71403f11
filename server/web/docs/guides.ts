/** The guides, grouped by reader, in reading order; each is a file in `guides/`. */

export const siteTitle = 'Customer, Proposal and Item API';

export type Guide = { slug: string; title: string; summary: string };
type Group = { title: string; guides: readonly Guide[] };

const start: Group = {
  title: 'Start',
  guides: [
    {
      slug: '',
      title: 'Overview',
      summary: 'Read and write customers, proposals and catalog items over HTTP, as JSON.',
    },
    { slug: 'first-call', title: 'First call', summary: 'Get a key, read your first record and create one.' },
  ],
};

const build: Group = {
  title: 'Build',
  guides: [
    {
      slug: 'typed-client',
      title: 'Typed client',
      summary: 'The TypeScript SDK: options, timeouts, errors, pages, sync, testing and pinning.',
    },
    {
      slug: 'filtering-and-search',
      title: 'Filtering and search',
      summary: 'Every filter of every list, and how search matches.',
    },
    {
      slug: 'proposals',
      title: "A proposal's life",
      summary: 'Statuses, who changes them, timestamps, and acceptance after a revision.',
    },
    {
      slug: 'pagination-and-sync',
      title: 'Pagination and sync',
      summary: 'Read whole lists, and keep a copy up to date.',
    },
    {
      slug: 'two-way-sync',
      title: 'Two-way sync',
      summary: 'Keep customers in sync in both directions, with conflicts, erasure and crashes.',
    },
    {
      slug: 'invoices',
      title: 'Invoices from accepted proposals',
      summary: 'Invoice each accepted proposal once, with exact sums in every currency.',
    },
    { slug: 'webhooks', title: 'Webhooks', summary: 'Receive changes as signed requests, instead of polling.' },
    { slug: 'money', title: 'Money', summary: 'Decimal strings, currencies, and exact sums.' },
    { slug: 'errors', title: 'Errors', summary: 'Every error code: its status, its meaning and what to do.' },
    {
      slug: 'retries-and-idempotency',
      title: 'Retries and idempotency',
      summary: 'Retry any request without creating anything twice.',
    },
    {
      slug: 'conditional-requests',
      title: 'Conditional requests',
      summary: 'Fetch a record only if it has changed, and change it only if nobody else has.',
    },
    {
      slug: 'rate-limit',
      title: 'Rate limit',
      summary: 'How many requests a key can make, and how to stay within the limit.',
    },
    {
      slug: 'sdks',
      title: 'SDKs in other languages',
      summary: 'Generate a client for Python, Go, Java, C#, PHP or Ruby from the OpenAPI document.',
    },
  ],
};

const automate: Group = {
  title: 'Automate',
  guides: [
    {
      slug: 'automation',
      title: 'No-code tools',
      summary: 'Connect Zapier, Make, n8n, Power Automate, Google Sheets and other tools.',
    },
    {
      slug: 'agents',
      title: 'AI agents',
      summary: 'Connect Claude, ChatGPT, Cursor or n8n over the Model Context Protocol.',
    },
  ],
};

const administer: Group = {
  title: 'Administer',
  guides: [
    { slug: 'api-keys', title: 'API keys', summary: 'Create, replace (rotate) and revoke keys; what a key may do.' },
    {
      slug: 'members',
      title: 'Members and sign-on',
      summary: 'Roles and permissions, invitations, two-factor authentication, single sign-on.',
    },
    { slug: 'usage', title: 'Usage and failures', summary: 'See how much tools use the API, and why one fails.' },
    { slug: 'import', title: 'Moving from another tool', summary: 'Import customers, items and proposals.' },
    {
      slug: 'personal-data',
      title: 'Personal data and export',
      summary: 'Download your records, and erase the personal data of a customer.',
    },
  ],
};

const operate: Group = {
  title: 'Operate',
  guides: [
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
  ],
};

const changes: Group = {
  title: 'Changes',
  guides: [
    { slug: 'changelog', title: 'Changelog', summary: 'What changed in each release, with an Atom feed.' },
    {
      slug: 'versioning',
      title: 'Versioning',
      summary: 'What stays stable, what can change, and how changes are announced.',
    },
  ],
};

export const groups: readonly Group[] = [start, build, automate, administer, operate, changes];

export const guides: readonly Guide[] = groups.flatMap((group) => group.guides);

/** The first page, at /docs. */
export const [overview = { slug: '', title: siteTitle, summary: '' }] = guides;
