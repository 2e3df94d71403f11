/** The layout of every page, and its response headers. */
import type { Response } from 'express';
import type { Visitor } from '../../accounts/sign-in.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { html, serviceName } from '../html.ts';
import type { Html } from '../html.ts';
import { assetPaths } from './assets.ts';
import { hiddenToken } from './fields.ts';
import { publicId } from '../../records/public-id.ts';

/** Who is signed in, and the CSRF token of the header's forms. */
export type Signed = Pick<Visitor, 'member' | 'organization' | 'memberships'> & {
  signOutToken: string;
  /** Where to ask for the Team plan: a URL or a sentence. */
  planContact: string | undefined;
};

export type Page = {
  title: string;
  main: Html;
  signed?: Signed | undefined;
  current?: Section | undefined;
  /** The page's script requests it again and again; without JavaScript, the browser does. */
  isChanging?: boolean;
  /** The page is part of connecting an application: its window may belong to the application, to which its form leads. */
  connecting?: { formAction: string } | undefined;
};

const sections = {
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

const policy = contentSecurityPolicy({ 'form-action': "'self'" });
const policyOfChanging = contentSecurityPolicy({ 'form-action': "'self'", 'connect-src': "'self'" });
const policyOfConnecting = (target: string) => contentSecurityPolicy({ 'form-action': `'self' ${target}`.trim() });

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // A URL may hold a link's token: no other site sees it. (`no-referrer` would take Origin from our own forms.)
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

export function sendPage(response: Response, page: Page, status = 200): void {
  // The deadline has already responded.
  if (response.headersSent) return;
  const { isChanging, connecting } = page;
  response.set(headers).set('Content-Security-Policy', isChanging ? policyOfChanging : policy);
  if (connecting) {
    response.set('Content-Security-Policy', policyOfConnecting(connecting.formAction));
    // Otherwise the application could no longer reach the window that it has opened for this.
    response.set('Cross-Origin-Opener-Policy', 'unsafe-none');
  }
  response.status(status).send(print(page).html);
}

function print({ title, main, signed, current, isChanging }: Page): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${signed ? signed.organization.name : serviceName}</title>
        <link rel="icon" href="${assetPaths.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetPaths.pico}" />
        <link rel="stylesheet" href="${assetPaths.style}" />
        <script src="${assetPaths.script}" defer></script>
        ${isChanging && html`<noscript><meta http-equiv="refresh" content="3; url=${current ?? ''}" /></noscript>`}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${signed ? signedHeader(signed, current) : openHeader}
        <main id="main" class="${signed ? 'wide' : 'narrow'}" tabindex="-1">${main}</main>
        <p id="announcement" class="unseen" role="status"></p>
      </body>
    </html> `;
}

const brand = (path: string): Html =>
  html`<a class="brand" href="${path}"
    ><img src="${assetPaths.icon}" width="24" height="24" alt="" /><strong>${serviceName}</strong></a
  >`;

const openHeader = html` <header class="bar">
  <div class="wide">
    ${brand('/settings/sign-in')}
    <nav aria-label="Documentation"><a href="/docs">Docs</a></nav>
  </div>
</header>`;

/** For people who are members of several organizations. */
const switcher = ({ organization, memberships, signOutToken }: Signed): Html =>
  html`<form class="switch" method="post" action="/settings/organization">
    ${hiddenToken(signOutToken)}
    <label class="unseen" for="organization">Organization</label>
    <select id="organization" name="organization">
      ${memberships.map(
        ({ organizationId: id, organizationName: name }) =>
          html`<option value="${publicId('organization', id)}" ${id === organization.id && html` selected`}>
            ${name}
          </option>`,
      )}
    </select>
    <button class="secondary outline" type="submit">Switch</button>
  </form>`;

const signedHeader = (signed: Signed, current: Section | undefined): Html => {
  const { member, organization, memberships, signOutToken } = signed;
  return html` <header class="bar">
    <div class="wide">
      <div class="where">
        ${brand('/settings/overview')}
        ${memberships.length > 1 ? switcher(signed) : html`<span>${organization.name}</span>`}
      </div>
      <div class="who">
        <p>
          <span class="unseen">Signed in as </span><strong>${member.name}</strong>
          <small>${member.email} · ${member.role}</small>
        </p>
        <form method="post" action="/settings/sign-out">
          ${hiddenToken(signOutToken)}
          <button class="secondary outline" type="submit">Sign out</button>
        </form>
      </div>
      <nav aria-label="Settings">
        ${Object.entries(sections).map(
          ([path, label]) => html`<a href="${path}" ${path === current && html` aria-current="page"`}>${label}</a> `,
        )}
        <a href="/docs">Docs</a>
      </nav>
    </div>
  </header>`;
};

/** What was done, or why not; screen readers announce it when the page opens. */
export function notice(kind: 'done' | 'plain' | 'failed', text: string | Html | undefined): Html | false {
  if (text === undefined) return false;
  return html`<div class="notice ${kind}" role="${kind === 'failed' ? 'alert' : 'status'}"><p>${text}</p></div>`;
}

/** A collapsible part of a page. */
export const foldable = (id: string, title: string | Html, content: Html, open = false): Html =>
  html` <details class="fold" id="${id}" ${open && html` open`}>
    <summary><h2>${title}</h2></summary>
    <div>${content}</div>
  </details>`;
