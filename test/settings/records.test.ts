/** Customers, proposals and items in the settings: who can see them, read with the API's own operations. */
import { describe, expect, test } from 'vitest';
import { rateLimit } from '../../contract/limits.ts';
import { setPlan } from '../../server/accounts/organizations.ts';
import { Customer } from '../../server/entities/customer.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { auditLog, signIn, someone } from './visiting.ts';
import type { Reply } from './visiting.ts';

const world = useWorld({ clock: () => 1_000_000 });

async function scene() {
  const tenant = await world.organization();
  const { body: customer } = await tenant.call('POST', '/v1/customers', {
    name: 'Ana Trujillo',
    email: 'ana@t.example',
  });
  const { body: item } = await tenant.call('POST', '/v1/items', { type: 'service', name: 'Repair', unitPrice: '80' });
  const proposalId = await proposal(tenant, { customer: customer.id, title: 'Roof' });
  const paths = [
    `/settings/customers/${customer.id}`,
    `/settings/items/${item.id}`,
    `/settings/proposals/${proposalId}`,
  ];
  return { tenant, customer, paths };
}

const lists = ['/settings/customers', '/settings/proposals', '/settings/items', '/settings/overview'];
const rowsIn = ({ text }: Reply) =>
  [...text.matchAll(/<th role="rowheader" scope="row"><a href="([^"]+)"/g)].map(([, path]) => path);

describe('records', () => {
  test('are seen by every member, with each field of the API’s response', async () => {
    const { tenant, customer, paths } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    for (const path of [...lists, ...paths]) expect([path, (await visiting.get(path)).status]).toEqual([path, 200]);
    const { text } = await visiting.get(`/settings/customers/${customer.id}`);
    expect(text).toContain('ana@t.example');
    expect(text.match(/<dt>/g)).toHaveLength(Object.keys(customer).length - 1);
    expect((await visiting.get('/settings/overview')).text).toContain('Ana Trujillo');
  });

  test('are searched, filtered and paged as in the API, whose errors are shown', async () => {
    const { tenant } = await scene();
    for (let count = 0; count < 26; count += 1)
      await tenant.call('POST', '/v1/customers', { name: `Customer ${count}` });
    const visiting = await signIn(world, await someone(world, tenant));
    expect(rowsIn(await visiting.get('/settings/customers?q=trujillo&status='))).toHaveLength(1);
    const first = await visiting.get('/settings/customers?sort=name&status=active');
    const next = /<a href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await visiting.get(next);
    expect(new Set([...rowsIn(first), ...rowsIn(second)]).size).toBe(27);
    expect(second.text).not.toContain('rel="next"');
    expect((await visiting.get('/settings/customers?status=archived')).text).toContain(
      'No customer matches this search.',
    );
    // All of those on the last page are archived after the first one was shown.
    for (const row of rowsIn(second))
      await tenant.call('PATCH', `/v1/customers/${row?.split('/').at(-1)}`, { status: 'archived' });
    const gone = await visiting.get(next);
    expect(gone.text).toContain('There are no more customers.');
    expect(gone.text).toContain('First page');
    for (const [query, sentence] of [
      ['status=nope', 'Status must be one of active, archived, all.'],
      ['cursor=x', 'cursor is not valid for this list; start again without it.'],
      ['sort=email', 'Order must be one of '],
      ['unknown=1', 'unknown is not a parameter'],
      [`q=${'x'.repeat(101)}`, 'Search must have at most 100 characters.'],
      ['q=a+b+c+d+e+f+g+h+i', 'Search must have at most 8 words.'],
    ]) {
      const { status, text } = await visiting.get(`/settings/customers?${query}`);
      expect([status, /class="notice failed"[^>]*><p>([^<]*)/.exec(text)?.[1]]).toEqual([
        400,
        expect.stringContaining(sentence ?? ''),
      ]);
    }
  });

  test('keep a repeated filter on all pages, and have no links to pages if there is only one', async () => {
    const { tenant, paths } = await scene();
    const another = await proposal(tenant);
    const visiting = await signIn(world, await someone(world, tenant));
    const first = await visiting.get('/settings/proposals?status=draft&status=sent&limit=1');
    const next = /<a href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await visiting.get(next);
    const all = [paths[2], `/settings/proposals/${another}`];
    expect([...rowsIn(first), ...rowsIn(second)].toSorted()).toEqual(all.toSorted());
    expect(first.text).toContain('aria-label="Pages"');
    expect((await visiting.get('/settings/proposals')).text).not.toContain('aria-label="Pages"');
  });

  test('are not found at a URL that cannot be decoded', async () => {
    const { tenant } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    const { status, text } = await visiting.get('/settings/customers/%zz');
    expect([status, text.includes('There is no page at this URL.')]).toEqual([404, true]);
  });

  test('show in the form what they are filtered by, so that another search keeps it', async () => {
    const { tenant } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    const chosen = async (query: string) =>
      [
        ...(await visiting.get(`/settings/proposals${query}`)).text.matchAll(
          /<option value="([^"]*)"\s+selected>([^<]*)/g,
        ),
      ]
        .map(([, value, label]) => `${value}: ${label}`)
        .slice(0, 2);
    expect(await chosen('?status=draft&status=sent&sort=createdAt')).toEqual([
      'draft,sent: Draft, Sent',
      'createdAt: Created at',
    ]);
    expect(await chosen('?status=sent&sort=-updatedAt')).toEqual(['sent: Sent', '-updatedAt: Last changed first']);
    expect((await visiting.get('/settings/proposals')).text.match(/<option value="" /g)).toHaveLength(1);
  });

  test('can be downloaded by admins as they are filtered, across all pages', async () => {
    const { tenant } = await scene();
    const stranger = await scene();
    const named = (name: string, more = {}) => tenant.call('POST', '/v1/customers', { name, ...more });
    for (let count = 0; count < 26; count += 1) await named(`Customer ${count}`, { tags: ['vip'] });
    await named('Zoé', { metadata: { region: 'north' }, tags: ['vip'] });
    const path = '/settings/customers?tag=vip&sort=name&limit=2';
    const [admin, member] = [
      await signIn(world, await someone(world, tenant, 'admin')),
      await signIn(world, await someone(world, tenant)),
    ];
    const formIn = ({ text }: Reply) =>
      Object.fromEntries(
        [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
          name,
          value.replaceAll('&amp;', '&'),
        ]),
      );
    const download = async (query: string) => {
      const form = formIn(await admin.get(query));
      const { status, text } = await admin.post('/settings/exports', { ...form, format: 'jsonl' });
      const lines = text.split('\n').filter((line) => line !== '');
      return status === 200 ? lines.map((line) => JSON.parse(line).name) : status;
    };
    expect(await download(path)).toHaveLength(27);
    expect(await download(`${path}&q=zoe`)).toEqual(['Zoé']);
    expect(await download('/settings/customers?metadata[region]=north')).toEqual(['Zoé']);
    expect(await download('/settings/customers?email=ana@t.example&status=active')).toEqual(['Ana Trujillo']);
    expect(await download('/settings/customers')).toHaveLength(28);
    expect(await download('/settings/proposals?status=sent&status=accepted,draft')).toEqual([undefined]);
    const [customerId] = (stranger.paths[0] ?? '').split('/').slice(-1);
    // Only proposals have lines.
    for (const list of lists.slice(0, 3))
      expect((await admin.get(list)).text.includes('with the lines of proposals')).toBe(list.endsWith('proposals'));
    expect((await admin.get(`/settings/proposals?customerId=${customerId}`)).text).not.toContain('/settings/exports');

    const send = (filters: string) => admin.submit('/settings/exports', { kind: 'proposals', format: 'csv', filters });
    const foreign = await send(`customerId=${customerId}`);
    expect(foreign.text.trim().split('\r\n')).toHaveLength(1);
    expect((await send('status=nope')).status).toBe(400);
    expect((await member.get(path)).text).not.toContain('/settings/exports');
    expect(await auditLog(world, tenant)).toContain('records_exported customers as JSON Lines, filtered by tag, q');
  });

  test('need the Team plan, and a Free organization sees why', async () => {
    const { tenant, paths } = await scene();
    const visiting = await signIn(world, await someone(world, tenant, 'admin'));
    const csrfToken = await visiting.csrfToken();
    await setPlan(world.database, tenant.organization, 'free');
    for (const path of [...lists, ...paths, `${paths[0]}/erase`, '/settings/imports']) {
      const { status, text } = await visiting.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('is on the Free plan');
      expect(text).not.toContain('Ana Trujillo');
    }
    const forms = [
      ['/settings/exports', { kind: 'customers', format: 'csv' }],
      [`${paths[0]}/erase`, {}],
      ['/settings/imports', { kind: 'customers', file: 'x' }],
    ] as const;
    for (const [path, fields] of forms)
      expect([path, (await visiting.post(path, { csrfToken, ...fields })).status]).toEqual([path, 403]);
    expect((await tenant.em().find(Customer, {})).length).toBe(1);
  });

  test('are rate limited like the requests of a key', async () => {
    const { tenant } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    const statuses: number[] = [];
    for (let count = 0; count <= rateLimit.limit; count += 1)
      statuses.push((await visiting.get('/settings/items')).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(rateLimit.limit);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('erasing a customer', () => {
  test('is for admins, asks first, and is in the audit log', async () => {
    const { tenant, customer } = await scene();
    const path = `/settings/customers/${customer.id}/erase`;
    const member = await signIn(world, await someone(world, tenant));
    expect((await member.get(path)).status).toBe(403);
    expect((await member.submit(path)).status).toBe(403);
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    expect((await admin.get(path)).text).toContain('its proposal');
    const sent = await admin.submit(path);
    expect([sent.status, sent.location]).toEqual([303, `/settings/customers/${customer.id}?done=erased`]);
    expect((await admin.get(sent.location ?? '')).text).not.toContain('Ana Trujillo');
    expect((await tenant.call('GET', `/v1/customers/${customer.id}`)).body.email).toBeNull();
    expect((await auditLog(world, tenant)).filter((line) => line.startsWith('customer'))).toEqual([
      `customer_erased ${customer.id} rejected: role`,
      `customer_erased ${customer.id}`,
    ]);
  });

  test('rejects its external ID until an admin releases it', async () => {
    const { tenant } = await scene();
    const known = { name: 'Ana', externalId: 'crm-7' };
    const { body: customer } = await tenant.call('POST', '/v1/customers', known);
    const page = `/settings/customers/${customer.id}`;
    const offer = 'Release the external ID';
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    const member = await signIn(world, await someone(world, tenant));
    const stranger = await signIn(world, await someone(world, (await scene()).tenant, 'admin'));
    expect((await admin.get(page)).text).not.toContain(offer);
    expect((await admin.get(`${page}/erase`)).text).not.toContain('proposals,');
    await admin.submit(`${page}/erase`);

    expect((await tenant.call('POST', '/v1/customers', known)).body.code).toBe('external_id_erased');
    expect((await admin.get(page)).text).toContain(offer);
    expect((await member.get(page)).text).not.toContain(offer);
    for (const [visiting, status] of [
      [member, 403],
      [stranger, 404],
    ] as const)
      expect((await visiting.submit(`${page}/release`)).status).toBe(status);
    expect((await tenant.call('POST', '/v1/customers', known)).status).toBe(409);

    // Even if the button is pressed twice.
    for (let press = 0; press < 2; press += 1) {
      const sent = await admin.submit(`${page}/release`);
      expect([sent.status, sent.location]).toEqual([303, `${page}?done=released`]);
    }
    const { text } = await admin.get(`${page}?done=released`);
    expect(text).toContain('The external ID can be used again.');
    expect(text).not.toContain(offer);
    expect((await tenant.call('POST', '/v1/customers', known)).status).toBe(201);
    expect((await tenant.call('GET', `/v1/customers/${customer.id}`)).body.erasedAt).toMatch(/Z$/);
    expect((await auditLog(world, tenant)).filter((line) => line.startsWith('external_id'))).toEqual([
      `external_id_released ${customer.id} rejected: role`,
      `external_id_released ${customer.id}`,
    ]);
    expect((await admin.get('/settings/api-keys')).text).toContain(
      `released the external ID of erased customer ${customer.id}`,
    );
  });
});
