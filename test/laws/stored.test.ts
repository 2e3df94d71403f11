/** Values stored before today's rules are returned as those promise: a URL is a URI, or null. */
import { describe, expect, test } from 'vitest';
import { takeBreaks } from '../answers.ts';
import { getOf, lists, recordSchema, schemaOf } from '../contract.ts';
import type { Promised } from '../contract.ts';
import { idParameter, oneOfEach, setColumns } from '../records.ts';
import { useWorld } from '../world.ts';

const world = useWorld();

/** What a browser would request, or null if it could request nothing. */
const stored: [text: string, shown: string | null][] = [
  ['https://x.example/<script>', 'https://x.example/%3Cscript%3E'],
  ['https://x.example/a b', 'https://x.example/a%20b'],
  ['https://x.example/"quoted"', 'https://x.example/%22quoted%22'],
  ['https://x.example/100%', 'https://x.example/100%25'],
  ['https://x.example/?q={a|b}', 'https://x.example/?q=%7Ba%7Cb%7D'],
  ['https://x.example/#a#b', 'https://x.example/#a%23b'],
  ['https://x.example/[1]', 'https://x.example/%5B1%5D'],
  ['https://münchen.example/ü', 'https://xn--mnchen-3ya.example/%C3%BC'],
  ['https://x.example\\path', 'https://x.example/path'],
  ['https://x.example/%C3%BC?q=1', 'https://x.example/%C3%BC?q=1'],
  ['x.example', null],
  ['javascript:alert(1)', null],
  ['https://', null],
  ['https://a b.example', null],
  ['', null],
];

function urlsIn(list: Promised): string[] {
  const { properties = {} } = recordSchema(list);
  return Object.keys(properties).filter((name) => schemaOf(properties[name] ?? {}).format === 'uri');
}

test('some records have a URL', () => expect(lists.flatMap(urlsIn)).toEqual(['website', 'publicUrl', 'imageUrl']));

describe.each(lists.filter((list) => urlsIn(list).length > 0))('$title', (list) => {
  const urls = urlsIn(list);

  test.each(stored)('returns %j as %j', async (text, shown) => {
    const tenant = await world.organization();
    const ids = await oneOfEach(tenant);
    const id = ids[idParameter(getOf(list))] ?? '';
    await setColumns(world, tenant, list.path, id, Object.fromEntries(urls.map((name) => [name, text])));
    const { body } = await tenant.call('GET', `${list.path}/${id}`);
    const { body: page } = await tenant.call('GET', list.path);
    const listed = page.data.find((one: { id: string }) => one.id === id);
    for (const name of urls) expect([body[name], listed[name]]).toEqual([shown, shown]);
    // Every response is compared with the document.
    expect(takeBreaks()).toEqual([]);
  });
});
