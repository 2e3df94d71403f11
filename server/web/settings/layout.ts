/** The layout of every page, its files, and its response headers. */
import type { Response } from 'express';
import { ownFile } from '../../files.ts';
import { publicId } from '../../records/public-id.ts';
import { readAsset, serveAssets } from '../assets.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { html, serviceName } from '../html.ts';
import { printOptions } from './fields.ts';
import { buttonForm, postForm } from './forms.ts';
import { sections } from './page.ts';
import type { Page, Section } from './page.ts';
import type { Visit } from './visit.ts';

const own = (file: string) => readAsset(ownFile(`web/settings/assets/${file}`));

/** Pico's icons are data: URLs, which the policy of these pages blocks. */
const withoutIcons = (css: string) => css.replaceAll(/url\("data:[^"]*"\)/g, 'none');

const assets = {
  pico: readAsset(new URL(import.meta.resolve('@picocss/pico/css/pico.min.css')), withoutIcons),
  style: own('settings.css'),
  script: own('settings.js'),
  icon: own('icon.svg'),
};

const pathOf = (asset: keyof typeof assets) => `/settings/assets/${assets[asset].name}`;

/** GET /settings/assets/:file */
export const serveAsset = serveAssets(assets);

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // A URL may contain a link's token, which no other site may see. (`no-referrer` would strip Origin from our own forms.)
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

/** `visit` is that of the signed-in member, if any. */
export function sendPage(response: Response, page: Page, visit?: Visit): void {
  // The deadline has already sent a response.
  if (response.headersSent) return;
  const { status = 200, isChanging, connecting } = page;
  const opened = {
    'form-action': connecting?.isConsent ? undefined : "'self'",
    ...(isChanging && { 'connect-src': "'self'" }),
  };
  response.set(headers).set('Content-Security-Policy', contentSecurityPolicy(opened));
  // Otherwise the application would lose access to the window that it opened for this.
  if (connecting) response.set('Cross-Origin-Opener-Policy', 'unsafe-none');
  response.status(status).send(print(page, visit).html);
}

function print({ title, main, current, isChanging, status = 200 }: Page, visit: Visit | undefined) {
  const signed = current && visit;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${signed ? signed.organization.name : serviceName}</title>
        <link rel="icon" href="${pathOf('icon')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${pathOf('pico')}" />
        <link rel="stylesheet" href="${pathOf('style')}" />
        <script src="${pathOf('script')}" defer></script>
        ${isChanging && html`<noscript><meta http-equiv="refresh" content="3; url=${current ?? ''}" /></noscript>`}
      </head>
      <body ${status >= 400 && html`data-rejected`}>
        <a class="skip" href="#main">Skip to the content</a>
        ${signed ? signedHeader(signed, current) : openHeader}
        <main id="main" class="${signed ? 'wide' : 'narrow'}" tabindex="-1">${main}</main>
        ${signed && html`<footer class="wide"><small class="quiet">Dates and times are in UTC.</small></footer>`}
        <p id="announcement" class="unseen" role="status"></p>
      </body>
    </html> `;
}

const brand = (path: string) =>
  html`<a class="brand" href="${path}"
    ><img src="${pathOf('icon')}" width="24" height="24" alt="" /><strong>${serviceName}</strong></a
  >`;

const openHeader = html` <header class="bar">
  <div class="wide">
    ${brand('/settings/sign-in')}
    <nav aria-label="Documentation"><a href="/docs">Docs</a></nav>
  </div>
</header>`;

/** For people who are members of several organizations. */
const switcher = (visit: Visit) => {
  const content = html`<label class="unseen" for="organization">Organization</label> ${organizationSelect(visit)}
    <button class="secondary outline" type="submit">Switch</button>`;
  return postForm(visit, '/settings/organization', content, html` class="switch"`);
};

export const organizationSelect = ({ organization, memberships }: Visit) => {
  const names = memberships.map(
    ({ organizationId, organizationName }) => [publicId('organization', organizationId), organizationName] as const,
  );
  return html`<select id="organization" name="organization">
    ${printOptions(Object.fromEntries(names), publicId('organization', organization.id))}
  </select>`;
};

const signedHeader = (visit: Visit, current: Section | undefined) => {
  const { member, organization, memberships } = visit;
  return html` <header class="bar">
    <div class="wide">
      <div class="where">
        ${brand('/settings/overview')}
        ${memberships.length > 1 ? switcher(visit) : html`<span>${organization.name}</span>`}
      </div>
      <div class="who">
        <p>
          <span class="unseen">Signed in as </span><strong>${member.name}</strong>
          <small>${member.email} · ${member.role}</small>
        </p>
        ${buttonForm(visit, '/settings/sign-out', 'Sign out')}
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
