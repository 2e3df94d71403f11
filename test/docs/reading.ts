/** The pages as a reader gets them: their links, their ids, and the code on them. */
import { expect } from 'vitest';
import { pages } from '../../server/web/docs/pages.ts';
import type { World } from '../world.ts';

const pathOf = ({ slug }: { slug: string }) => (slug === '' ? '/docs' : `/docs/${slug}`);
/** The guides and the reference. */
export const pagePaths = pages.map(pathOf);
/** Those with code in this language. */
export const pathsWith = (language: string): string[] =>
  pages.filter(({ markdown }) => markdown().includes('```' + language)).map(pathOf);

export type Page = { path: string; headers: Headers; html: string };

export async function readPage(world: World, path: string): Promise<Page> {
  const response = await fetch(world.url + path);
  expect(response.status, path).toBe(200);
  return { path, headers: response.headers, html: await response.text() };
}

export const readPages = (world: World): Promise<Page[]> => Promise.all(pagePaths.map((path) => readPage(world, path)));

const unescape = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll('&amp;', '&');

/** Everything that the page links to or loads, as written in it. */
export const referencesOf = ({ html }: Page): string[] =>
  [...html.matchAll(/\s(?:href|src|action|srcset|data)="([^"]*)"/g)].map(([, address = '']) => unescape(address));

export const idsOf = ({ html }: Page): string[] => [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id);

export type Snippet = { language: string; label: string; status: number | undefined; text: string };

const figure =
  /<figure\s+class="code(?: tab)?"\s+data-language="(\w+)"\s+(?:data-status="(\d+)")?\s*>\s*<figcaption>(.*?)<\/figcaption>\s*<pre[^>]*><code>([\s\S]*?)<\/code>/g;

export const snippetsOf = ({ html }: Page): Snippet[] =>
  [...html.matchAll(figure)].map(([, language = '', status, label = '', text = '']) => ({
    language,
    label,
    status: status === undefined ? undefined : Number(status),
    text: unescape(text.replaceAll(/<[^>]*>/g, '')),
  }));
