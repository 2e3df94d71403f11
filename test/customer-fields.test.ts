/** Fields that are not simply stored as sent, such as tags that are added and removed, and URLs. */
import { describe, expect, test } from 'vitest';
import type { CustomerCreate } from '../client/index.ts';
import { errorsOf, invalid, rejection } from './records.ts';
import { useWorld } from './world.ts';

const world = useWorld();

describe('tags', () => {
  test('can be added and removed without knowing the others, and compare regardless of case', async () => {
    const tenant = await world.organization();
    const { customers } = tenant.client;
    const { id } = await customers.create({ name: 'Ann', tags: ['A', 'b', 'c'] });
    const change = async (tags: NonNullable<CustomerCreate['tags']>) => (await customers.update(id, { tags })).tags;
    expect(await change({ add: ['B', 'd'], remove: ['C'] })).toEqual(['A', 'b', 'd']);
    expect(await change({ remove: ['nope'] })).toEqual(['A', 'b', 'd']);
    expect(await change({ add: ['e'] })).toEqual(['A', 'b', 'd', 'e']);
    const tooMany = Array.from({ length: 17 }, (_, index) => `t${index}`);
    expect(errorsOf(await rejection(change({ add: tooMany })))).toEqual(['/tags too_many_items']);
    expect(errorsOf(await rejection(change(invalid({ add: ['x', 'X'], drop: [] }))))).toEqual([
      '/tags/add/1 duplicate_item',
      '/tags/drop unknown_field',
    ]);
    expect(await change(['z'])).toEqual(['z']);
    const upsert = { externalId: 'crm-1', name: 'Bob', tags: { add: ['new'] } };
    expect((await customers.create(upsert)).tags).toEqual(['new']);
    const again = await customers.create({ ...upsert, tags: { add: ['more'] } }, { onConflict: 'update' });
    expect(again.tags).toEqual(['new', 'more']);
  });
});

describe('a code', () => {
  test('has only ASCII letters, not others with the same upper case', async () => {
    const { customers, items, proposals } = (await world.organization()).client;
    const country = rejection(customers.create({ name: 'x', address: { country: '\u0131t' } }));
    expect(errorsOf(await country)).toEqual(['/address/country invalid_country']);
    const currency = rejection(items.create({ type: 'product', name: 'x', unitPrice: '1', currency: 'u\u017Fd' }));
    expect(errorsOf(await currency)).toEqual(['/currency invalid_currency']);
    for (const listed of [customers.list({ country: '\u017Fe' }), proposals.list({ currency: 'u\u017Fd' })]) {
      expect((await rejection(listed)).code).toBe('invalid_parameter');
    }
  });
});

describe('an email address', () => {
  // Each response is checked against the document, whose format allows addresses in any script.
  test.each(['Ann@x.example', 'müller@bücher.example', '用户@例え.テスト'])('%s is stored as typed', async (typed) => {
    const { customers } = (await world.organization()).client;
    const { id, email } = await customers.create({ name: 'x', email: typed });
    expect(email).toBe(typed);
    expect((await customers.list({ email: typed })).data).toMatchObject([{ id }]);
  });

  const badLocalParts = ['.a@b.example', 'a.@b.example', 'a..b@c.example', `${'a'.repeat(65)}@b.example`];
  test.each(['a@b.-x', 'a@b.x-', 'a@-b.example', 'a@b', ...badLocalParts])('%s is rejected', async (typed) => {
    const { customers } = (await world.organization()).client;
    expect(errorsOf(await rejection(customers.create({ email: typed })))).toEqual(['/email invalid_email']);
  });
});

describe('a URL', () => {
  test.each([
    ['https://x.example/<script>', 'https://x.example/%3Cscript%3E'],
    ['https://x.example/a|b[1]?q={"a"}&r=^`#<f>', 'https://x.example/a%7Cb%5B1%5D?q=%7B%22a%22%7D&r=%5E%60#%3Cf%3E'],
    ['https://x.example/100%', 'https://x.example/100%25'],
    ['https://müller.example/straße', 'https://xn--mller-kva.example/stra%C3%9Fe'],
    ['https://x.example\\path', 'https://x.example/path'],
    ['HTTPS://X.example', 'HTTPS://X.example'],
    ['http://[2001:db8::1]:8080/a?b#c', 'http://[2001:db8::1]:8080/a?b#c'],
  ])('%s is stored as a URI', async (typed, stored) => {
    const { customers } = (await world.organization()).client;
    const { id, website } = await customers.create({ name: 'x', website: typed });
    expect(website).toBe(stored);
    const { etag } = await customers.get.withResponse(id);
    expect((await customers.update.withResponse(id, { website })).etag).toBe(etag);
  });

  test('with a password is rejected, and the error does not repeat it', async () => {
    const { customers } = (await world.organization()).client;
    for (const website of ['https://ann:s3cret@x.example', 'https://:s3cret@x.example', 'https://ann@x.example']) {
      const error = await rejection(customers.create({ name: 'x', website }));
      expect(errorsOf(error)).toEqual(['/website invalid_url']);
      expect(JSON.stringify(error.errors)).not.toContain('s3cret');
    }
  });

  test('counts with its stored length', async () => {
    const { customers } = (await world.organization()).client;
    const website = `https://x.example/${'<'.repeat(200)}`;
    expect(errorsOf(await rejection(customers.create({ name: 'x', website })))).toEqual(['/website too_long']);
  });
});
