/**
 * Laws for every settings page and form, for visitors without a session, members, removed admins and other
 * organizations. The pages come from the router, and the forms from the pages, so a new one cannot be forgotten.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import { openPages, pathsOf, scene, stateOf } from './every-route.ts';
import type { Scene } from './every-route.ts';
import { password, signIn, someone, visit } from './visiting.ts';
import type { Reply, Visit } from './visiting.ts';

const singleSignOn = { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' };
const world = useWorld({ singleSignOn, ownDatabase: true });
let ours: Scene;
let stranger: Scene;
beforeAll(async () => {
  [ours, stranger] = [await scene(world), await scene(world)];
});
// So that no test reaches the limit of changes.
beforeEach(() => world.database.pool.query(`delete from sign_in.attempts where key like 'member %'`));

type Form = { action: string; fields: Record<string, string>; needed: string[] };

/** The forms of a page that change something, as a browser would send them unchanged, and their required fields. */
function formsIn(text: string): Form[] {
  return [...text.matchAll(/<form[^>]*?action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)].flatMap(
    ([whole, action = '', inner = '']) => {
      if (!whole.includes('method="post"')) return [];
      const fields: Record<string, string> = {};
      const needed: string[] = [];
      for (const [tag] of inner.matchAll(/<(?:input|select|textarea)\b[^>]*>/g)) {
        const name = /\bname="([^"]+)"/.exec(tag)?.[1];
        if (name === undefined || /type="(?:file|checkbox)"/.test(tag)) continue;
        fields[name] = /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '';
        const [options = ''] = tag.startsWith('<select')
          ? (inner.split(`name="${name}"`)[1]?.split('</select>') ?? [])
          : [];
        if (options !== '') fields[name] = /<option value="([^"]+)"/.exec(options)?.[1] ?? '';
        // A select with an empty option is not required.
        const isNeeded = options === '' ? /\brequired\b/.test(tag) : !options.includes('value=""');
        if (isNeeded || name === 'csrfToken') needed.push(name);
      }
      const typed = {
        name: 'Someone',
        email: 'someone@example.com',
        password: 'purple hen ladder',
        current: password,
      };
      for (const [name, value] of Object.entries(typed)) if (fields[name] === '') fields[name] = value;
      return [{ action, fields, needed }];
    },
  );
}

const pages = (await pathsOf('get')).filter((path) => !openPages.includes(path));

/** Pages for all members, though they may show them less. A new page is listed here or below. */
const forMembers = [
  '/account',
  '/account/two-factor',
  '/activity',
  '/api-keys',
  '/api-keys/:id',
  '/customers',
  '/customers/:id',
  '/exports',
  '/imports',
  '/items',
  '/items/:id',
  '/members',
  '/members/organization',
  '/overview',
  '/proposals',
  '/proposals/:id',
  '/usage',
];
/** What a member may submit. */
const formsForMembers = ['/settings/account/password', '/settings/account/two-factor'];
const forAdmins = [
  '/activity.csv',
  ...['rename', 'replace', 'revoke'].map((deed) => `/api-keys/:id/${deed}`),
  '/customers/:id/erase',
  ...['', '/columns', '/rejected'].map((part) => `/imports/:id${part}`),
  ...['remove', 'role', 'two-factor'].map((deed) => `/members/:id/${deed}`),
  '/webhooks',
  '/webhooks/:id',
  '/webhooks/:id/change',
];

const pageAbove = (path: string) => path.replace(/\/[^/]*$/, '');

/** The page that sets up two-factor authentication redirects to a URL with the key that it offers. */
async function open(visiting: Visit, path: string): Promise<Reply> {
  const reply = await visiting.get(path);
  return reply.location?.startsWith(`${path}?`) ? visiting.get(reply.location) : reply;
}

async function formsOf(visiting: Visit, fill: Scene['fill']): Promise<Form[]> {
  const found = new Map<string, Form>();
  for (const path of pages) {
    const { text } = await open(visiting, fill(path));
    for (const { action: url, ...form } of formsIn(text)) {
      const action = url.replace(/\?offer=.*/, '');
      found.set(`${action} ${Object.keys(form.fields).join(' ')}`, { ...form, action });
    }
  }
  return [...found.values()].filter(({ action }) => action !== '/settings/sign-out');
}

describe('every page', () => {
  test('is known to this law', () => {
    for (const path of ['/overview', '/customers', '/api-keys/:id/revoke', '/members/:id/role', '/account'])
      expect(pages).toContain(path);
  });

  test('has one spelling', async () => {
    for (const path of pages.filter((one) => /^\/[^:]+$/.test(one)))
      expect([path, (await ours.visiting.get(`/settings${path.toUpperCase()}`)).status]).toEqual([path, 404]);
  });

  test('is only for people who are signed in', async () => {
    for (const path of pages) {
      const { status, location } = await visit(world.url).get(ours.fill(path));
      expect([path, status, location?.startsWith('/settings/sign-in')]).toEqual([path, 303, true]);
    }
  });

  test('is not cached, framed or indexed, isolates its window, and loads nothing from elsewhere', async () => {
    const reader = visit(world.url);
    for (const path of [...pages, ...openPages]) {
      const { headers, text } = await (openPages.includes(path) ? reader : ours.visiting).get(ours.fill(path));
      if (!headers.get('content-type')?.startsWith('text/html') || headers.has('location')) continue;
      const names = [
        'cache-control',
        'x-frame-options',
        'x-robots-tag',
        'referrer-policy',
        'cross-origin-opener-policy',
        'x-content-type-options',
        'content-security-policy',
      ];
      const opener = path === '/connect' ? 'unsafe-none' : 'same-origin';
      expect([path, ...names.map((name) => headers.get(name))]).toEqual([
        path,
        'no-store',
        'DENY',
        'noindex',
        'same-origin',
        opener,
        'nosniff',
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      ]);
      expect([path, / style="| on[a-z]+="|<style|<script(?! src=")/.exec(text)]).toEqual([path, null]);
      for (const [, address] of text.matchAll(/(?:src|href|action)="([^"]*)"/g))
        expect([path, address]).toEqual([path, expect.stringMatching(/^(\/|#main$)/)]);
    }
  });

  test('labels each field, and tells password managers which password it is', async () => {
    const reader = visit(world.url);
    for (const path of [...pages, '/sign-in', '/forgot-password']) {
      const { text } = await (openPages.includes(path) ? reader : ours.visiting).get(ours.fill(path));
      const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);
      expect([path, ids.toSorted()]).toEqual([path, [...new Set(ids)].toSorted()]);
      const referred = [...text.matchAll(/\s(?:for|aria-(?:describedby|labelledby))="([^"]*)"/g)].flatMap(
        ([, value = '']) => value.split(' '),
      );
      expect([path, referred.filter((id) => !ids.includes(id))]).toEqual([path, []]);
      const hints = ids.filter((id) => /-(?:hint|problem)$/.test(id));
      expect([path, hints.filter((id) => !referred.includes(id))]).toEqual([path, []]);
      for (const [tag, id = ''] of text.matchAll(/<input\s[^>]*?id="(current|password)"[^>]*>/g)) {
        const isNew = id === 'password' && path !== '/sign-in';
        expect([path, tag.includes(`autocomplete="${isNew ? 'new' : 'current'}-password"`)]).toEqual([path, true]);
      }
    }
  });

  test('of another organization’s record is not found, and no list shows one', async () => {
    const ids = pages.filter((path) => path.includes(':id')).map((path) => ours.fill(path).split('/')[3] ?? '');
    for (const path of pages) {
      const { status, location, text } = await stranger.visiting.get(ours.fill(path));
      // The URL of a form that is part of another page leads there, whatever the id.
      if (location === pageAbove(ours.fill(path))) continue;
      expect([path, path.includes(':id') ? status : 404]).toEqual([path, 404]);
      for (const id of ids) expect([path, text.includes(id)]).toEqual([path, false]);
    }
  });

  test('is closed to an admin who has been removed', async () => {
    const leaver = await someone(world, ours.tenant, 'admin');
    const visiting = await signIn(world, leaver);
    expect((await visiting.get('/settings/members')).status).toBe(200);
    const held = { cookie: visiting.cookie() };
    const csrfToken = await visiting.csrfToken();
    await world.database.pool.query('update members set removed_at = now() where id = $1', [leaver.id]);
    for (const path of pages) expect((await visit(world.url).get(ours.fill(path), held)).status).toBe(303);
    const before = await stateOf(world, ours.tenant.organization.id);
    for (const path of await pathsOf('post')) {
      if (['/sign-in', '/sign-in/code', '/password', '/forgot-password'].includes(path)) continue;
      const headers = { ...held, 'sec-fetch-site': 'same-origin' };
      const sent = await visit(world.url).post(ours.fill(path), { csrfToken, name: 'X', kind: 'customers' }, headers);
      expect([path, sent.status]).toEqual([path, 303]);
    }
    expect(await stateOf(world, ours.tenant.organization.id)).toBe(before);
  });

  test('offers a member only what a member may do', async () => {
    const visiting = await signIn(world, await someone(world, ours.tenant));
    const forms = await formsOf(visiting, ours.fill);
    expect([...new Set(forms.map(({ action }) => action))].toSorted()).toEqual(formsForMembers);
    for (const { action, fields } of forms)
      expect([action, (await visiting.post(action, fields)).status === 403]).toEqual([action, false]);
    const responses = new Map<number, string[]>();
    for (const path of pages) {
      const { status } = await open(visiting, ours.fill(path));
      responses.set(status, [...(responses.get(status) ?? []), path]);
    }
    expect(responses.get(403)?.toSorted()).toEqual(forAdmins);
    expect(responses.get(200)?.toSorted()).toEqual(forMembers);
  });
});

describe('every form', () => {
  test('has a URL that can be opened, as after a reload or another sign-in', async () => {
    for (const path of await pathsOf('post')) {
      // These always lead to another page.
      if (['/organization', '/sign-out'].includes(path)) continue;
      const { status, location } = await ours.visiting.get(ours.fill(path));
      const isAbove = location === pageAbove(ours.fill(path));
      const found = isAbove ? (await ours.visiting.get(location)).status : status;
      expect([path, [404, 405].includes(found)]).toEqual([path, false]);
    }
  });

  test('for admins is rejected if a member sends it, and changes nothing', async () => {
    const { tenant, visiting: admin, fill } = ours;
    const visiting = await signIn(world, await someone(world, tenant));
    const offered = new Set((await formsOf(visiting, fill)).map(({ action }) => action));
    const forms = (await formsOf(admin, fill)).filter(({ action }) => !offered.has(action));
    // Also those that these pages do not show now, such as the form of a disabled endpoint.
    const reached = new Set([...forms.map(({ action }) => action), ...offered]);
    const own = /^\/(?:account\/.*|organization|sign-out)$/;
    const others = (await pathsOf('post')).filter((path) => !openPages.includes(path) && !own.test(path));
    const fields = { name: 'X', currency: 'EUR', since: '2026-03-01', kind: 'customers', event: freshId('event') };
    for (const path of others) if (!reached.has(fill(path))) forms.push({ action: fill(path), fields, needed: [] });
    expect(forms.length).toBeGreaterThan(25);
    for (const { action, fields: typed } of forms) {
      await world.database.pool.query(`delete from sign_in.attempts where key like 'member %'`);
      const before = await stateOf(world, tenant.organization.id);
      const { status } = await visiting.submit(action, typed);
      expect([action, status]).toEqual([action, 403]);
      expect([action, await stateOf(world, tenant.organization.id)]).toEqual([action, before]);
    }
  });

  test('needs each of its fields: without one, it changes nothing', async () => {
    const { tenant, visiting, fill } = ours;
    const forms = await formsOf(visiting, fill);
    for (const action of ['/settings/members', '/settings/api-keys', '/settings/exports', '/settings/account/password'])
      expect(forms.map((form) => form.action)).toContain(action);
    for (const { action, fields, needed } of forms) {
      for (const name of needed) {
        await world.database.pool.query(`delete from sign_in.attempts where key like 'member %'`);
        const before = await stateOf(world, tenant.organization.id);
        const { [name]: _, ...rest } = fields;
        const { status } = await visiting.post(action, rest);
        const isRefused = status >= 400 && status < 500;
        expect([action, `without ${name}`, isRefused || action === '/settings/organization']).toEqual([
          action,
          `without ${name}`,
          true,
        ]);
        expect([action, await stateOf(world, tenant.organization.id)]).toEqual([action, before]);
      }
    }
  });
});

test('a session ends with its membership, regardless of the case of the address', async () => {
  const member = await someone(world, ours.tenant);
  await world.database.pool.query('update members set email = upper(email) where id = $1', [member.id]);
  const visiting = await signIn(world, { ...member, email: member.email.toUpperCase() });
  const other = await signIn(world, member);
  expect((await other.get('/settings/account')).text.match(/name="session"/g)).toHaveLength(1);
  await other.submit('/settings/account/sessions');
  expect((await visiting.get('/settings/account')).status).toBe(303);
  await world.database.pool.query('update members set removed_at = now() where id = $1', [member.id]);
  expect((await other.get('/settings/account')).status).toBe(303);
});
