/** What every page of the documentation promises: it is whole, leads somewhere, and asks nobody else. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { problemCatalogue } from '../../contract/problems/catalogue.ts';
import { fieldCodes } from '../../contract/problems/field-codes.ts';
import { scalar } from '../../server/web/docs/assets.ts';
import { docs } from '../../server/web/docs/router.ts';
import { useWorld } from '../world.ts';
import { guidePaths, idsOf, readGuides, readPage, referencesOf } from './reading.ts';

describe('the guides', () => {
  const world = useWorld();

  test('are HTML that needs no key, kept fresh, under a policy that lets nothing foreign in', async () => {
    for (const { path, headers } of await readGuides(world)) {
      expect(headers.get('content-type'), path).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control'), path).toBe('private, no-cache');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy, path).toContain("default-src 'none'");
      expect(policy, path).not.toMatch(/unsafe|https?:|\*/);
    }
  });

  test('have no script or style of their own in the page', async () => {
    for (const { path, html } of await readGuides(world)) {
      expect(html, path).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:/i);
    }
  });

  test('refer to no other host', async () => {
    const pages = [...(await readGuides(world)), await readPage(world, '/docs/reference')];
    for (const page of pages) {
      const foreign = referencesOf(page).filter(
        (address) => !/^(?:[/#]|data:,$)/.test(address) || address.startsWith('//'),
      );
      expect(foreign, page.path).toEqual([]);
    }
    const [, sheet = ''] = /href="([^"]*\.css)"/.exec(pages[0]?.html ?? '') ?? [];
    expect((await readPage(world, sheet)).html).not.toMatch(/url\(|@import|https?:/);
  });

  test('lead only to pages, and to places in them, that there are', async () => {
    const pages = await readGuides(world);
    const broken: string[] = [];
    const reached = new Map<string, { status: number; ids: string[] }>();
    for (const page of pages) {
      for (const address of referencesOf(page).filter((one) => !one.startsWith('data:'))) {
        const { pathname, hash, href } = new URL(address, world.url + page.path);
        const target = reached.get(pathname) ?? (await reach(href, pathname));
        reached.set(pathname, target);
        // The places of the viewer are made in the browser, and looked at there.
        const found =
          hash === '' || pathname === '/docs/reference' || target.ids.includes(decodeURIComponent(hash.slice(1)));
        if (target.status >= 400 || !found) broken.push(`${page.path}: ${address} (${target.status})`);
      }
    }
    expect(broken).toEqual([]);
    expect([...reached.keys()]).toEqual(expect.arrayContaining([...guidePaths, '/docs/reference', '/openapi.json']));

    async function reach(href: string, path: string) {
      const response = await fetch(href, { redirect: 'manual' });
      return { status: response.status, ids: idsOf({ path, headers: response.headers, html: await response.text() }) };
    }
  });

  test('use no id twice', async () => {
    for (const page of await readGuides(world))
      expect(idsOf(page).toSorted(), page.path).toEqual([...new Set(idsOf(page))].toSorted());
  });

  test('name this server in their examples', async () => {
    for (const { path, html } of await readGuides(world)) {
      expect(html, path).not.toContain('api.example.com');
      if (path !== '/docs/errors') expect(html.includes(world.url), path).toBe(true);
    }
  });

  test('answer HEAD, forgive a slash at the end, and are the only pages there', async () => {
    expect((await fetch(`${world.url}/docs/errors`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${world.url}/docs/`)).status).toBe(200);
    const answer = await fetch(`${world.url}/docs/nothing`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
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
    expect((await search('Keep COPY step')).urls[0]).toBe('/docs/pagination-and-sync#keep-a-copy-in-step');
    expect((await search('cursor_mismatch filter')).urls).toContain('/docs/errors#cursor_mismatch');
    expect((await search('luleå')).urls).toContain((await search('lulea')).urls[0]);
    expect((await search('xylophone')).urls).toEqual([]);
    expect((await search('')).urls).toEqual([]);
  });

  test('leads only to sections that there are', async () => {
    const broken: string[] = [];
    for (const query of ['key', 'customer', 'retry', 'error', 'n8n']) {
      for (const url of (await search(query)).urls) {
        const [path = '', id] = (url ?? '').split('#');
        if (id !== undefined && !idsOf(await readPage(world, path)).includes(id)) broken.push(`${path}#${id}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('shows what was typed as text, whatever it is', async () => {
    const { page } = await search('<script>alert("1")</script>');
    expect(page.html).not.toContain('<script>alert');
    expect(page.html).toContain('value="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"');
    expect((await fetch(`${world.url}/docs/search?q[]=1&q=${'x'.repeat(5000)}`)).status).toBe(200);
  });
});

describe('for language models', () => {
  const world = useWorld();

  test('/llms.txt leads to each guide as Markdown, with this server’s own URL', async () => {
    const response = await fetch(`${world.url}/llms.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const urls = [...(await response.text()).matchAll(/\]\((\S+)\)/g)].map(([, url = '']) => url);
    expect(urls.filter((url) => url.endsWith('.md')).length).toBeGreaterThan(guidePaths.length);
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
  });
});

describe('behind a proxy that adds a path', () => {
  test('links begin with that path, and examples with the whole address', async () => {
    const server = express()
      .use(
        '/docs',
        docs(() => 'https://proposals.northwind.example/api'),
      )
      .listen(0);
    await once(server, 'listening');
    // A server that listens on a port has an AddressInfo.
    const { port } = server.address() as AddressInfo;
    const read = async (path: string) => (await fetch(`http://localhost:${port}${path}`)).text();
    const guide = await read('/docs/first-call');
    expect(guide).toContain('href="/api/docs/errors#external_id_taken"');
    expect(guide).toContain('curl https://proposals.northwind.example/api/v1/me');
    expect(await read('/docs/reference')).toContain('data-root="/api"');
    server.close();
  });
});

describe('the errors page', () => {
  const world = useWorld();

  test('has an entry for every code, with its status and title, what it means and what to do', async () => {
    const { html } = await readPage(world, '/docs/errors');
    for (const [code, { status, title }] of Object.entries(problemCatalogue)) {
      expect(html).toContain(
        `<h3 id="${code}"><a href="#${code}">${code}</a></h3>\n<p><strong>${status} ${title}.</strong> `,
      );
    }
    for (const code of fieldCodes) expect(html).toContain(`<h3 id="${code}"><a href="#${code}">${code}</a></h3>`);
    const entries = [...html.matchAll(/<h3 id="\w+">[\s\S]*?(?=<h[23]|<p class="next")/g)].map(([text]) => text);
    expect(entries).toHaveLength(Object.keys(problemCatalogue).length + fieldCodes.length);
    for (const entry of entries) expect(entry).toMatch(/<p>.+<\/p>\s*<p><strong>What to do:<\/strong> .+<\/p>/s);
  });

  test('is where the type of a problem leads', async () => {
    const tenant = await world.organization();
    const { body } = await tenant.call('GET', '/v1/customers/cus_x');
    const { origin, pathname, hash } = new URL(body.type);
    expect(origin).toBe(world.url);
    expect(idsOf(await readPage(world, pathname))).toContain(hash.slice(1));
  });
});

describe('the files of the pages', () => {
  const world = useWorld();

  test('are kept by browsers for good, because another content has another name', async () => {
    const pages = [await readPage(world, '/docs'), await readPage(world, '/docs/reference')];
    const files = new Set(pages.flatMap(referencesOf).filter((address) => address.startsWith('/docs/assets/')));
    expect(files.size).toBe(5);
    for (const file of files) {
      const { headers } = await readPage(world, file);
      expect(headers.get('cache-control'), file).toBe('public, max-age=31536000, immutable');
      expect(file).toMatch(/\.[0-9a-f]{10}\.(?:js|css)$/);
    }
  });

  test('the viewer is the published one, and arrives with and without compression', async () => {
    const file = referencesOf(await readPage(world, '/docs/reference')).find((address) => address.includes('scalar'));
    const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
    const stored = readFileSync(new URL(`../../server/web/docs/assets/${scalar.file}`, import.meta.url));
    expect(sha256(gunzipSync(stored))).toBe(scalar.sha256);
    for (const encoding of ['gzip', 'identity']) {
      const response = await fetch(`${world.url}${file}`, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
      expect(sha256(await response.bytes())).toBe(scalar.sha256);
    }
  });
});
