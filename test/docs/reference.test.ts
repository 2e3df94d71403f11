/** The pages generated from the contract describe its fields, parameters and headers as its schemas define them. */
import type { AppRoute } from '@ts-rest/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bodyOf, metadataOf, operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { renderMarkdown } from '../../server/web/docs/markdown.ts';
import { pages } from '../../server/web/docs/pages.ts';
import { kebab, table } from '../../server/web/docs/reference/schema-text.ts';

const markdownOf = (slug: string) => pages.find((page) => page.slug === slug)?.markdown() ?? '';
const slugOf = (route: AppRoute) => `reference/${kebab(metadataOf(route).operationId)}`;

/** The text below a heading, up to the next one that is not deeper. */
function sectionOf(markdown: string, heading: string): string {
  const [level = ''] = heading.split(' ');
  const [, text = ''] = `${markdown}\n`.split(`\n${heading}\n`);
  return text.split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? '';
}

type Row = { name: string; isRequired: boolean; type: string };
const rowsOf = (text: string): Row[] =>
  [...text.matchAll(/^\| `([^`]+)`( \(required\))? \| (.*?) \| .* \|$/gm)].map(
    ([, name = '', required, type = '']) => ({
      name,
      isRequired: required !== undefined,
      type,
    }),
  );

/** The fields that the schema of a part of an operation accepts, by name. */
function shapeOf(schema: unknown): Record<string, z.ZodType> {
  if (schema instanceof z.ZodPipe) return { ...shapeOf(schema.in), ...shapeOf(schema.out) };
  return schema instanceof z.ZodObject ? schema.shape : {};
}
/** An update also accepts read-only fields, so a record can be sent back as it was read; the page need not say so. */
const writable = (shape: Record<string, z.ZodType>) =>
  Object.fromEntries(Object.entries(shape).filter(([, field]) => !isReadOnly(field)));
const isReadOnly = (field: z.ZodType) =>
  field instanceof z.ZodOptional && z.globalRegistry.get(field.unwrap())?.readOnly === true;
const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe.each(operationsOf(v1).map((route) => [metadataOf(route).operationId, route] as const))('%s', (_, route) => {
  const markdown = markdownOf(slugOf(route));

  test('has a page with each of its parameters and fields, marked as required or nullable', () => {
    const parts = {
      '## Query parameters': route.query,
      '## Request headers': route.headers,
      '## Body': bodyOf(route),
    };
    for (const [heading, schema] of Object.entries(parts)) {
      const shape = heading === '## Body' ? writable(shapeOf(schema)) : shapeOf(schema);
      const rows = rowsOf(sectionOf(markdown, heading)).filter(({ name }) => !name.includes('.'));
      expect(rows.map(({ name }) => name.toLowerCase()).toSorted(), heading).toEqual(
        Object.keys(shape)
          .map((name) => name.toLowerCase())
          .toSorted(),
      );
      for (const { name, isRequired, type } of rows) {
        const field = shape[name] ?? shape[name.toLowerCase()] ?? z.never();
        expect([name, isRequired], heading).toEqual([name, !takes(field, undefined)]);
        if (heading === '## Body') expect([name, / or null\b/.test(type)]).toEqual([name, takes(field, null)]);
      }
    }
  });

  test('says what each parameter and field means', () => {
    expect(markdown.match(/^\|.*\|\s*\|$/gm)).toBeNull();
  });

  test('has the request headers that the headers page says are sent to it', () => {
    const headers = markdownOf('reference/headers');
    for (const [, name = '', text = ''] of headers.matchAll(/^### ([\w-]+)\n[^#]*?\nSent to: (.*)$/gm))
      expect([name, text.includes(`(/docs/${slugOf(route)})`)]).toEqual([
        name,
        name.toLowerCase() in shapeOf(route.headers),
      ]);
    expect(headers).toMatch(/^### Link\n(?:[^#]*\n)?Returned by: \[List customers\]/m);
  });
});

describe.each(['customer', 'proposal', 'item'] as const)('the page of a %s', (name) => {
  const routes: Partial<Record<'list' | 'create' | 'update', AppRoute>> = v1[`${name}s`];
  const markdown = markdownOf(`reference/${name}`);
  const fields = [...markdown.matchAll(/^## (\w+)\n\n\*.+?\.\* (.+)$/gm)].map(([, field = '', text = '']) => ({
    field,
    text,
  }));

  test('says when each field can be set, and which ones sort a list', () => {
    const takenBy = (route: AppRoute | undefined) => (route ? Object.keys(writable(shapeOf(bodyOf(route)))) : []);
    const [created, updated] = [takenBy(routes.create), takenBy(routes.update)];
    const sorts = shapeOf(routes.list?.query).sort ?? z.never();
    expect(fields.length).toBeGreaterThan(10);
    for (const { field, text } of fields) {
      const settable = [created.includes(field) && 'create', updated.includes(field) && 'update'].filter(Boolean);
      const expected = settable.length === 0 ? 'Read-only.' : `Set on ${settable.join(' and ')}.`;
      expect([field, text.startsWith(expected)]).toEqual([field, true]);
      expect([field, text.includes('Sort with')]).toEqual([field, takes(sorts, field)]);
    }
  });
});

test('the filtering guide names the filters of every list once, and the others for each list', () => {
  const markdown = markdownOf('filtering-and-search');
  const namesIn = (text: string) => [...text.matchAll(/^\| `([a-z]+)/gim)].map(([, name = '']) => name).toSorted();
  const lists = [v1.customers.list, v1.proposals.list, v1.items.list];
  const names = lists.map(({ query }) => Object.keys(shapeOf(query)));
  const everywhere = namesIn(sectionOf(markdown, '## Filters of every list'));
  expect(everywhere).toEqual(expect.arrayContaining(['createdSince', 'updatedBefore', 'externalId', 'metadata']));
  for (const [index, route] of lists.entries()) {
    const own = namesIn(sectionOf(markdown, `### ${metadataOf(route).tag.name}`));
    expect([...everywhere, ...own].toSorted()).toEqual(names[index]?.toSorted());
  }
});

test('a table cell may contain a vertical bar', () => {
  const page = renderMarkdown(table(['Pattern'], [['a|b']]), 'https://api.example.com');
  expect(page.match(/<td>.*?<\/td>/g)).toEqual(['<td>a|b</td>']);
});
