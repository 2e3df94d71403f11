/** The Free plan: what the pages and the API say about it, and where to ask for the Team plan. */
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import type { World } from '../world.ts';
import { signIn, someone } from './visiting.ts';

const contact = 'https://acme.example/plans?from=api&x=1';
const withUrl = useWorld({ planContact: contact });
const withText = useWorld({ planContact: 'Write to <billing@acme.example>.' });
const without = useWorld();

const pages = [
  '/settings/api-keys',
  '/settings/webhooks',
  '/settings/imports',
  '/settings/customers',
  '/settings/proposals',
  '/settings/items',
];

async function read(world: World, role: 'admin' | 'member' = 'admin') {
  const tenant = await world.organization({ plan: 'free' });
  const visiting = await signIn(world, await someone(world, tenant, role));
  const texts = await Promise.all(pages.map(async (page) => (await visiting.get(page)).text));
  const { body } = await tenant.call('GET', '/v1/customers');
  return { tenant, visiting, texts, detail: body.detail };
}

describe('on the Free plan', () => {
  test('each page and the API’s 403 give the operator’s contact URL', async () => {
    const { texts, detail } = await read(withUrl);
    const link = `<a href="${contact.replace('&', '&amp;')}">`;
    expect(texts.map((text) => text.includes(link))).toEqual(pages.map(() => true));
    expect(detail).toMatch(/ To upgrade: https:\/\/acme\.example\/plans\?from=api&x=1$/);
  });

  test('the operator’s contact text is escaped', async () => {
    const { texts, detail } = await read(withText, 'member');
    const said = texts.map((text) => text.includes('To upgrade: Write to &lt;billing@acme.example&gt;.'));
    // Members can neither import nor create webhooks, so those pages do not tell them what that requires.
    const ofAdmins = ['/settings/imports', '/settings/webhooks'];
    expect(said).toEqual(pages.map((page) => !ofAdmins.includes(page)));
    expect(detail).toContain('To upgrade: Write to <billing@acme.example>.');
  });

  test('without a contact, the pages refer to the operator and show the slug to give them', async () => {
    const { tenant, visiting, texts, detail } = await read(without);
    for (const text of texts) {
      expect(text).toContain('Ask the operator of this service to upgrade');
      expect(text).toContain(`<code>${tenant.organization.slug}</code>`);
    }
    const overview = await visiting.get('/settings/overview');
    expect(overview.text).not.toContain('Here are the customers');
    expect(detail).toBe(
      'API access requires the Team plan. After the organization upgrades, the same key works again. To upgrade, ask the operator of this service.',
    );
  });
});
