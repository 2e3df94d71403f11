/** Every page of the documentation is complete, has no broken links, and loads nothing from other hosts. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { problemCatalog } from '../../contract/problems/catalog.ts';
import { fieldCodes } from '../../contract/problems/field-codes.ts';
import { changelogFeed, releasesOf } from '../../server/web/docs/changelog.ts';
import { pages as allPages } from '../../server/web/docs/pages.ts';
import { groups } from '../../server/web/docs/guides.ts';
import { docs } from '../../server/web/docs/router.ts';
import { buildIndex, searchResults } from '../../server/web/docs/search.ts';
import { listen } from '../ports.ts';
import { signIn, someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import { pagePaths, idsOf, readPages, readPage, referencesOf } from './reading.ts';

describe('the pages', () => {
  const world = useWorld();

  test('are HTML without a key, revalidated by caches, under a policy that blocks other hosts', async () => {
    for (const { path, headers } of await readPages(world)) {
      expect(headers.get('content-type'), path).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control'), path).toBe('private, no-cache');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy, path).toContain("default-src 'none'");
      expect(policy, path).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get('referrer-policy'), path).toBe('same-origin');
    }
  });

  test('have one first-level heading, which is not a link', async () => {
    for (const { path, html } of await readPages(world)) {
      const [heading, ...others] = html.match(/<h1[\s>][^]*?<\/h1>/g) ?? [];
      expect([heading?.startsWith('<h1>'), heading?.includes('<a '), others], path).toEqual([true, false, []]);
    }
  });

  test('are marked in the menu, and link to the next guide', async () => {
    const guidePaths = pagePaths.filter((path) => !path.startsWith('/docs/reference'));
    for (const [place, path] of guidePaths.entries()) {
      const { html } = await readPage(world, path);
      const [, menu = ''] = /<nav class="guides"[^>]*>([\s\S]*?)<\/nav>/.exec(html) ?? [];
      expect([...menu.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, current]) => current)).toEqual([path]);
      expect(/<p class="next">Next: <a href="([^"]+)"/.exec(html)?.[1]).toBe(guidePaths[place + 1]);
    }
  });

  test('have no inline scripts or styles', async () => {
    for (const { path, html } of await readPages(world)) {
      expect(html, path).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:/i);
    }
  });

  test('refer to no other host', async () => {
    const pages = await readPages(world);
    for (const page of pages) {
      const foreign = referencesOf(page).filter(
        (address) => !address.startsWith(world.url) && (!/^(?:[/#]|data:,$)/.test(address) || address.startsWith('//')),
      );
      expect(foreign, page.path).toEqual([]);
    }
    const [, sheet = ''] = /href="([^"]*\.css)"/.exec(pages[0]?.html ?? '') ?? [];
    expect((await readPage(world, sheet)).html).not.toMatch(/url\(|@import|https?:/);
  });

  test('have a stylesheet with the prefixed text-size-adjust that iPhones need', async () => {
    const sheet = referencesOf(await readPage(world, '/docs')).find((address) => address.endsWith('.css')) ?? '';
    expect((await readPage(world, sheet)).html).toMatch(/[^-]-webkit-text-size-adjust: 100%/);
  });

  test('link only to existing pages and anchors', async () => {
    const pages = await readPages(world);
    const broken: string[] = [];
    const reached = new Map<string, { status: number; ids: string[] }>();
    for (const page of pages) {
      for (const address of referencesOf(page).filter((one) => !one.startsWith('data:'))) {
        const { pathname, hash, href } = new URL(address, world.url + page.path);
        const target = reached.get(pathname) ?? (await reach(href, pathname));
        reached.set(pathname, target);
        const found = hash === '' || target.ids.includes(decodeURIComponent(hash.slice(1)));
        if (target.status >= 400 || !found) broken.push(`${page.path}: ${address} (${target.status})`);
      }
    }
    expect(broken).toEqual([]);
    expect([...reached.keys()]).toEqual(expect.arrayContaining([...pagePaths, '/openapi.json']));

    async function reach(href: string, path: string) {
      const response = await fetch(href, { redirect: 'manual' });
      return { status: response.status, ids: idsOf({ path, headers: response.headers, html: await response.text() }) };
    }
  });

  test('weigh at most 60 kB each', async () => {
    const heavy = (await readPages(world)).filter(({ html }) => Buffer.byteLength(html) > 60_000);
    expect(heavy.map(({ path, html }) => [path, Buffer.byteLength(html)])).toEqual([]);
  });

  test('have unique ids', async () => {
    for (const page of await readPages(world))
      expect(idsOf(page).toSorted(), page.path).toEqual([...new Set(idsOf(page))].toSorted());
  });

  test('name this server in their examples', async () => {
    for (const { path, html } of await readPages(world)) {
      expect(html, path).not.toContain('api.example.com');
      const [, content = ''] = /<main[^>]*>([^]*)<\/main>/.exec(html) ?? [];
      const source = allPages.find(({ slug }) => path === (slug === '' ? '/docs' : `/docs/${slug}`))?.markdown() ?? '';
      expect(content.includes(world.url), path).toBe(source.includes('api.example.com'));
    }
  });

  test('support HEAD and a trailing slash; unknown pages are 404', async () => {
    expect((await fetch(`${world.url}/docs/errors`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${world.url}/docs/`)).status).toBe(200);
    const answer = await fetch(`${world.url}/docs/nothing`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
  });

  test('browsers get an HTML page for an unknown URL, with the search field and the menu', async () => {
    const response = await fetch(`${world.url}/docs/nothing`, { headers: { accept: 'text/html' } });
    expect(response.status).toBe(404);
    const page = await response.text();
    expect(page).toContain('There is no page at this URL.');
    expect(page).toContain('action="/docs/search"');
    expect(page).toContain('href="/docs/first-call"');
    expect(page).toContain('content="noindex"');
  });

  test('are grouped by reader in the menu, each in exactly one group', async () => {
    const { html } = await readPage(world, '/docs/errors');
    const [, menu = ''] = /<nav class="guides"[^>]*>([\s\S]*?)<\/nav>/.exec(html) ?? [];
    const readers = [...menu.matchAll(/<span>(\w+)<\/span>/g)].map(([, reader]) => reader);
    expect(readers).toEqual(['Start', 'Build', 'Automate', 'Administer', 'Operate', 'Changes']);
    const links = [...menu.matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    expect(links.filter((path) => path !== '/docs/reference')).toEqual(
      pagePaths.filter((path) => !path.startsWith('/docs/reference')),
    );
    const text = await (await fetch(`${world.url}/llms.txt`)).text();
    expect([...text.matchAll(/^## (\w+)$/gm)].map(([, reader]) => reader)).toEqual([...readers, 'Reference']);
  });

  test('give search engines and link previews their URL and summary', async () => {
    for (const { path, html } of await readPages(world)) {
      expect(html, path).toContain(`<link rel="canonical" href="${world.url}${path}" />`);
      expect(html, path).toContain(`<meta property="og:url" content="${world.url}${path}" />`);
      const [, summary] = /<meta name="description" content="([^"]+)"/.exec(html) ?? [];
      expect(html, path).toContain(`<meta property="og:description" content="${summary}" />`);
    }
    expect((await readPage(world, '/docs/search?q=retry')).html).not.toContain('canonical');
  });
});

describe('the guides for administrators', () => {
  const world = useWorld();
  const administer = groups.find(({ title }) => title === 'Administer')?.guides ?? [];

  test('link to pages of the settings that exist', async () => {
    const tenant = await world.organization();
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    const linked = new Set<string>();
    for (const { slug } of administer)
      for (const address of referencesOf(await readPage(world, `/docs/${slug}`)))
        if (address.startsWith('/settings/')) linked.add(address);
    expect(linked.size).toBeGreaterThan(5);
    for (const path of linked) expect((await admin.get(path)).status, path).toBe(200);
  });
});

describe('the search', () => {
  const world = useWorld();
  const search = async (query: string) => {
    const page = await readPage(world, `/docs/search?q=${encodeURIComponent(query)}`);
    const [, results = ''] = /<ol class="results">([\s\S]*?)<\/ol>/.exec(page.html) ?? [];
    return { page, urls: [...results.matchAll(/href="([^"]+)"/g)].map(([, url]) => url) };
  };

  test('finds sections of guides and errors, those with the words in their title first', async () => {
    expect((await search('rate_limited')).urls[0]).toBe('/docs/errors#rate_limited');
    expect((await search('Keep COPY sync')).urls[0]).toBe('/docs/pagination-and-sync#keep-a-local-copy-in-sync');
    expect((await search('cursor_mismatch filter')).urls).toContain('/docs/errors#cursor_mismatch');
    expect((await search('luleå')).urls).toContain((await search('lulea')).urls[0]);
    expect((await search('Why did I get 409?')).urls).toContain('/docs/errors#idempotency_in_progress');
    expect((await search('xylophone')).urls).toEqual([]);
    expect((await search('')).urls).toEqual([]);
  });

  test.each([
    ['sdk', '/docs/sdks'],
    ['rate limit', '/docs/rate-limit'],
    ['webhooks', '/docs/webhooks'],
    ['rotate key', '/docs/api-keys#replace-rotate-an-api-key'],
    ['How do I rotate a “key”?', '/docs/api-keys#replace-rotate-an-api-key'],
    ['What happens when my key expires?', '/docs/api-keys#when-an-api-key-expires'],
    ['sandbox', '/docs/api-keys#there-is-no-sandbox'],
    ['timeout', '/docs/typed-client#timeouts-and-cancellation'],
    ['changelog', '/docs/changelog'],
    ['permissions', '/docs/members#roles-and-permissions'],
    ['rollback', '/docs/operating#roll-back-an-upgrade'],
    ['proposal status', '/docs/proposals#proposal-statuses'],
    ['java', '/docs/sdks#generate-a-client-from-openapi'],
    ['delete', '/docs/personal-data#why-there-is-no-delete'],
    ['sso', '/docs/members#single-sign-on-sso'],
    ['change email address', '/docs/members#change-your-name-or-email-address'],
    ['rename organization', '/docs/members#rename-the-organization-or-change-its-currency'],
    ['default currency', '/docs/members#rename-the-organization-or-change-its-currency'],
    ['2fa', '/docs/members#two-factor-authentication'],
    ['gdpr', '/docs/personal-data'],
    ['password reset', '/docs/members#reset-a-forgotten-password'],
    ['google sheets', '/docs/automation#google-sheets-and-excel'],
    ['kubernetes', '/docs/operating#kubernetes'],
    ['rounding', '/docs/invoices#how-the-amounts-are-rounded'],
    ['upsert', '/docs/retries-and-idempotency#create-or-update-by-your-own-id'],
    ['graphql', '/docs#what-this-api-does-not-have'],
    ['go', '/docs/sdks#generate-a-client-from-openapi'],
    ['429', '/docs/rate-limit#when-you-exceed-the-rate-limit'],
    ['python', '/docs/sdks#generate-a-client-from-openapi'],
    ['key rotation', '/docs/api-keys#replace-rotate-an-api-key'],
    ['webhok', '/docs/webhooks'],
    ['breaking changes', '/docs/versioning#what-v1-never-changes'],
  ])('ranks the explanation of “%s” first', async (query, url) => {
    expect((await search(query)).urls[0]).toBe(url);
  });

  test('shows the first 20 sections, each with the text around the words', async () => {
    const { page, urls } = await search('customer');
    expect(page.html).toContain('The first 20 sections found for “customer”.');
    expect(urls).toHaveLength(20);
    const index = buildIndex([
      {
        guide: { slug: 'a', title: 'A', summary: '' },
        source: `## Long\n\n${'before '.repeat(40)}xylophone ${'after '.repeat(60)}`,
      },
      { guide: { slug: 'b', title: 'B', summary: '' }, source: '## Short\n\nA xylophone.' },
    ]);
    const { html } = searchResults(index, ' xylophone ', '').content;
    const excerpts = [...html.matchAll(/<p>\s*([^<]*)<\/p>\s*<\/li>/g)].map(([, text]) => text);
    expect(excerpts).toEqual(['A xylophone.', expect.stringMatching(/^… before .*before xylophone after .*after …$/)]);
    expect(searchResults(index, 'x'.repeat(200), '').query).toHaveLength(100);
  });

  test('says where to look if nothing is found', async () => {
    const { page } = await search('xylophone');
    expect(page.html).toContain('Nothing found for “xylophone”.');
    expect(page.html).toContain('<a href="/docs/reference">reference</a>');
  });

  test('links only to existing sections', async () => {
    const broken: string[] = [];
    for (const query of ['key', 'customer', 'retry', 'error', 'n8n']) {
      for (const url of (await search(query)).urls) {
        const [path = '', id] = (url ?? '').split('#');
        if (id !== undefined && !idsOf(await readPage(world, path)).includes(id)) broken.push(`${path}#${id}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('escapes whatever was typed', async () => {
    const { page } = await search('<script>alert("1")</script>');
    expect(page.html).not.toContain('<script>alert');
    expect(page.html).toContain('value="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"');
    expect((await fetch(`${world.url}/docs/search?q[]=1&q=${'x'.repeat(5000)}`)).status).toBe(200);
  });
});

describe('for search engines', () => {
  const world = useWorld({ securityContact: 'mailto:security@acme.example' });
  const without = useWorld();

  test('robots.txt links to a sitemap with the canonical URL of every page', async () => {
    const robots = (await readPage(world, '/robots.txt')).html;
    expect(robots).toMatch(/^Disallow: \/$/m);
    const [, sitemap = ''] = /^Sitemap: (.+)$/m.exec(robots) ?? [];
    const response = await fetch(sitemap);
    expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    const urls = [...(await response.text()).matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = '']) => url);
    expect(urls).toEqual(pagePaths.map((path) => world.url + path));
  });

  test('security.txt names the configured contact, and is 404 without one', async () => {
    const text = (await readPage(world, '/.well-known/security.txt')).html;
    const days = (Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(90, 1);
    expect(text).toContain('Contact: mailto:security@acme.example\n');
    expect((await fetch(`${without.url}/.well-known/security.txt`)).status).toBe(404);
  });
});

describe('for language models', () => {
  const world = useWorld();

  test('Markdown has only absolute links, none of them broken', async () => {
    const texts = [...pagePaths.map((path) => `${path === '/docs' ? '/docs/index' : path}.md`), '/llms-full.txt'];
    const links = new Set<string>();
    for (const path of texts) {
      const { html } = await readPage(world, path);
      for (const [, link = ''] of html.matchAll(/\]\(([^)#\s][^)\s]*)\)/g)) links.add(link.replace(/#.*/, ''));
    }
    const statuses = await Promise.all(
      [...links].map(async (link) => `${link} ${URL.canParse(link) && (await fetch(link)).status}`),
    );
    expect(statuses.filter((one) => !one.endsWith(' 200'))).toEqual([]);
    expect(links.size).toBeGreaterThan(50);
  });

  test('/llms.txt links to each guide as Markdown, with this server’s URL', async () => {
    const response = await fetch(`${world.url}/llms.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const urls = [...(await response.text()).matchAll(/\]\((\S+)\)/g)].map(([, url = '']) => url);
    expect(urls.filter((url) => url.endsWith('.md')).length).toBeGreaterThan(pagePaths.length);
    for (const url of new Set(urls)) {
      expect(url).toMatch(new RegExp(`^${world.url}/`));
      const page = await fetch(url);
      expect(page.status, url).toBe(200);
      if (!url.endsWith('.md')) continue;
      expect(page.headers.get('content-type'), url).toBe('text/markdown; charset=utf-8');
      const text = await page.text();
      expect(text, url).toMatch(/^# \w/);
      expect(text, url).not.toMatch(/api\.example\.com|<!--/);
    }
    const everything = await (await fetch(`${world.url}/llms-full.txt`)).text();
    const headings = allPages.map(({ markdown }) => markdown().split('\n', 1)[0] ?? '');
    expect(headings.filter((heading) => !everything.includes(`${heading}\n`))).toEqual([]);
  });
});

describe('the changelog', () => {
  const world = useWorld();
  const changelog =
    '## [Unreleased]\n\n## [1.1.0]\n\nNext.\n\n## [1.0.1] - 2026-12-24\n\n### Added\n\n- Tags & more.\n\n## [1.0.0] - 2026-12-01\n\nFirst.\n';

  test('has an Atom feed of the dated releases', async () => {
    const feed = changelogFeed('https://api.example.com', releasesOf(changelog));
    expect(feed).toMatch(/^ {2}<updated>2026-12-24T00:00:00Z<\/updated>$/m);
    expect([...feed.matchAll(/<id>(.*)<\/id>/g)].map(([, id]) => id)).toEqual([
      'https://api.example.com/docs/changelog',
      'https://api.example.com/docs/changelog#1-0-1',
      'https://api.example.com/docs/changelog#1-0-0',
    ]);
    expect(feed).toContain('&lt;li&gt;Tags &amp;amp; more.&lt;/li&gt;');
    const served = await fetch(`${world.url}/docs/changelog.atom`);
    expect(served.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    expect(await served.text()).toContain(`<id>${world.url}/docs/changelog</id>`);
  });

  test('is on a page, each version with its own heading', async () => {
    const { html } = await readPage(world, '/docs/changelog');
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(html).toContain(`<h2 id="${version.replaceAll('.', '-')}">`);
  });
});

describe('a picture', () => {
  const world = useWorld();

  test('is inline in its page, with a text alternative, and a file for readers of the Markdown', async () => {
    const { html } = await readPage(world, '/docs/proposals');
    expect(html).toMatch(/<span class="picture" role="img" tabindex="0" aria-label="[^"]+">\s*<svg/);
    const markdown = await readPage(world, '/docs/proposals.md');
    const [, file = ''] = /!\[[^\]]+\]\((\S+\.svg)\)/.exec(markdown.html) ?? [];
    expect((await fetch(file)).headers.get('content-type')).toContain('image/svg+xml');
  });
});

describe('behind a proxy that adds a path', () => {
  test('links start with that path, and examples with the full URL', async () => {
    const router = docs('https://proposals.northwind.example/api');
    const server = createServer(express().use('/docs', router));
    const url = `http://127.0.0.1:${await listen(server)}`;
    const read = async (path: string) => (await fetch(url + path)).text();
    const guide = await read('/docs/first-call');
    expect(guide).toContain('href="/api/docs/errors#external_id_taken"');
    expect(guide).toContain('curl https://proposals.northwind.example/api/v1/me');
    expect(await read('/docs/reference/get-customer')).toContain('data-root="/api"');
    server.close();
  });
});

describe('the errors page', () => {
  const world = useWorld();

  test('has an entry for every code, with status, title, meaning and remedy', async () => {
    const { html } = await readPage(world, '/docs/errors');
    for (const [code, { status, title }] of Object.entries(problemCatalog)) {
      expect(html).toContain(
        `<h3 id="${code}"><a href="#${code}">${code}</a></h3>\n<p><strong>${status} ${title}.</strong> `,
      );
    }
    for (const code of fieldCodes) expect(html).toContain(`<h3 id="${code}"><a href="#${code}">${code}</a></h3>`);
    const entries = [...html.matchAll(/<h3 id="\w+">[\s\S]*?(?=<h[23]|<p class="next")/g)].map(([text]) => text);
    expect(entries).toHaveLength(Object.keys(problemCatalog).length + fieldCodes.length);
    for (const entry of entries) expect(entry).toMatch(/<p>.+<\/p>\s*<p><strong>What to do:<\/strong> .+<\/p>/s);
  });

  test('is the target of a problem’s type', async () => {
    const tenant = await world.organization();
    const { body } = await tenant.call('GET', '/v1/customers/cus_x');
    const { origin, pathname, hash } = new URL(body.type);
    expect(origin).toBe(world.url);
    expect(idsOf(await readPage(world, pathname))).toContain(hash.slice(1));
  });
});

describe('the files of the pages', () => {
  const world = useWorld();

  test('are cached by browsers forever, because their names change with their content', async () => {
    const pages = [await readPage(world, '/docs'), await readPage(world, '/docs/reference/list-customers')];
    const files = new Set(pages.flatMap(referencesOf).filter((address) => address.startsWith('/docs/assets/')));
    expect(files.size).toBe(3);
    for (const file of files) {
      const { headers } = await readPage(world, file);
      expect(headers.get('cache-control'), file).toBe('public, max-age=31536000, immutable');
      expect(file).toMatch(/\.[0-9a-f]{10}\.(?:js|css)$/);
    }
  });

  test('are the same compressed and uncompressed, and shared caches keep the two apart', async () => {
    const file = referencesOf(await readPage(world, '/docs')).find((one) => one.endsWith('.css')) ?? '';
    const read = async (encoding: string) => {
      const response = await fetch(world.url + file, { headers: { 'accept-encoding': encoding } });
      return {
        sent: response.headers.get('content-encoding'),
        vary: response.headers.get('vary'),
        text: await response.text(),
      };
    };
    const [plain, small] = [await read('identity'), await read('gzip')];
    expect([plain.sent, small.sent]).toEqual([null, 'gzip']);
    expect(small.text).toBe(plain.text);
    for (const { vary } of [plain, small]) expect(vary).toBe('Accept-Encoding');
  });
});
