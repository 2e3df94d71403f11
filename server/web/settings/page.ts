/** The properties of a page, the menu, and the common kinds of pages. */
import { consentPath } from '../../connect/metadata.ts';
import { Problem } from '../../problems/problem.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';

export type Page = {
  title: string;
  main: Html;
  /** The section in the menu; a page without one has no menu and does not show who is signed in. */
  current?: Section | undefined;
  /** 200 by default. */
  status?: number;
  /** The page's script polls it; without JavaScript, the browser reloads it. */
  isChanging?: boolean;
  /**
   * The page is part of connecting an application, which may have opened the window. The form of the consent page redirects
   * to the application, which may redirect to anywhere: some browsers check that against `form-action`, too.
   */
  connecting?: { isConsent: boolean } | undefined;
};

/** The menu. */
export const sections = {
  '/settings/overview': 'Overview',
  '/settings/customers': 'Customers',
  '/settings/proposals': 'Proposals',
  '/settings/items': 'Items',
  '/settings/api-keys': 'API Keys',
  '/settings/usage': 'Usage',
  '/settings/webhooks': 'Webhooks',
  '/settings/imports': 'Import and export',
  '/settings/members': 'Members',
  '/settings/activity': 'Activity',
  '/settings/account': 'Account',
} as const;
export type Section = keyof typeof sections;

/** The section that a URL is in. Exports have a path of their own, but no page. */
export const sectionAt = (url: string): Section | undefined =>
  // Object.keys forgets which keys the object has.
  (Object.keys(sections) as Section[]).find((path) => url.replace('/exports', '/imports').startsWith(path));

/** A path with these parameters; empty ones are left out. */
export function pathWith(path: string, parameters: Readonly<Record<string, string>> | [string, string][]): string {
  const all = Array.isArray(parameters) ? parameters : Object.entries(parameters);
  const query = new URLSearchParams(all.filter(([, value]) => value !== '')).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Links from one page of a list to its first and its next page. */
export const pageLinks = (first: string | false, next: string | false): Html | false =>
  (first !== false || next !== false) &&
  html`<nav class="pages" aria-label="Pages">
    ${first !== false && html`<a href="${first}">First page</a>`}
    ${next !== false && html`<a href="${next}" rel="next">Next page</a>`}
  </nav>`;

/** For a page that leads to `next`, if that is the consent page. */
export const connectingTo = (next: string): Pick<Page, 'connecting'> =>
  next.startsWith(consentPath) ? { connecting: { isConsent: false } } : {};

/** A page in the menu. */
export const sectionPage = (current: Section, lead: Html | string, content: Html, more?: Partial<Page>): Page => ({
  title: sections[current],
  main: html` <h1>${sections[current]}</h1>
    ${lead !== '' && html`<p class="lead">${lead}</p>`} ${content}`,
  current,
  ...more,
});

/** A page with a single card. */
export const cardPage = (title: string, content: Html, more?: Partial<Page>): Page => ({
  title,
  main: html`<article class="card">
    <h1>${title}</h1>
    ${content}
  </article>`,
  ...more,
});

/** The page of a form whose input was rejected. The title says so, because a screen reader reads it first. */
export const rejectedPage = (page: Page, status: number): Page => ({ ...page, title: `Error: ${page.title}`, status });

export const pageNotFound = () => new Problem('unknown', { sentence: 'There is no page at this URL.' });
