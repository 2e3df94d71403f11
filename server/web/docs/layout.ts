/** The frame of every page: head, navigation, the page itself, and where to go next. */
import type { Assets } from './assets.ts';
import { html, Html } from '../html.ts';
import { siteTitle } from './guides.ts';
import type { Guide } from './guides.ts';

export type Frame = { root: string; assets: Assets; guides: readonly Guide[] };

export function framePage(guide: Guide, content: string, { root, assets, guides }: Frame): string {
  const next = guides[guides.indexOf(guide) + 1];
  const title = guide.slug === '' ? siteTitle : `${guide.title} · ${siteTitle}`;
  const entry = ({ slug, title: label }: Guide) =>
    html`<li>
      <a href="${addressOf(slug, root)}" ${slug === guide.slug ? html` aria-current="page"` : ''}>${label}</a>
    </li> `;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${guide.summary}" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${root}/docs/assets/${assets.style.name}" />
        <script src="${root}/docs/assets/${assets.copy.name}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header><a href="${root}/docs">${siteTitle}</a></header>
        <nav aria-label="Guides">
          <ul>
            ${guides.map(entry)}
            <li><a href="${root}/docs/reference">Reference</a></li>
          </ul>
        </nav>
        <main id="content" tabindex="-1">
          ${new Html(content)}
          ${next ? html`<p class="next">Next: <a href="${addressOf(next.slug, root)}">${next.title}</a></p>` : ''}
        </main>
      </body>
    </html> `.html;
}

export const addressOf = (slug: string, root: string): string => `${root}/docs${slug === '' ? '' : `/${slug}`}`;
