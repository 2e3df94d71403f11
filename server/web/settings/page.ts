/** The sheet that every page is printed on, and the headers it is sent with. */
import type { Response } from 'express';
import { assetPaths } from './assets.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Visitor } from '../../accounts/sign-in.ts';

/** Who is signed in, and the sheet that signs out. */
export type Signed = Pick<Visitor, 'member' | 'organization'> & { sheet: string };

export type Page = { title: string; main: Html; signed?: Signed | undefined };

const headers = {
  'Content-Security-Policy': contentSecurityPolicy({ 'form-action': "'self'" }),
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // An address may hold a link's token: no other site sees it. (`no-referrer` would take Origin from our own forms.)
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

export function sendPage(response: Response, page: Page, status = 200): void {
  // Told in the meantime that it took too long.
  if (response.headersSent) return;
  response.status(status).set(headers).send(print(page).html);
}

function print({ title, main, signed }: Page): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}${signed && ` · ${signed.organization.name}`}</title>
        <link rel="icon" href="${assetPaths.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetPaths.pico}" />
        <link rel="stylesheet" href="${assetPaths.style}" />
        <script src="${assetPaths.script}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${signed && printHeader(signed)}
        <main id="main" class="${signed ? 'wide' : 'narrow'}" tabindex="-1">${main}</main>
        <p id="announcement" class="unseen" role="status"></p>
      </body>
    </html> `;
}

const printHeader = ({ member, organization, sheet }: Signed): Html =>
  html` <header class="bar">
    <div class="wide">
      <p class="where">
        <a href="/settings/api-keys"><strong>${organization.name}</strong></a>
        <span>Settings</span>
      </p>
      <div class="who">
        <p>
          <span class="unseen">Signed in as </span><strong>${member.name}</strong>
          <small>${member.email} · ${member.role}</small>
        </p>
        <form method="post" action="/settings/sign-out">
          ${hiddenSheet(sheet)}
          <button class="secondary outline" type="submit">Sign out</button>
        </form>
      </div>
    </div>
  </header>`;

export const hiddenSheet = (sheet: string): Html => html`<input type="hidden" name="form" value="${sheet}" />`;

/** What was done, or why not: said aloud when the page opens, and where the keyboard starts. */
export function notice(kind: 'done' | 'failed', text: string | Html | undefined): Html | false {
  if (text === undefined) return false;
  return html`<div class="notice ${kind}" role="${kind === 'done' ? 'status' : 'alert'}"><p>${text}</p></div>`;
}
