/** CHANGELOG.md as a page, and its releases as an Atom feed. */
import { readFileSync } from 'node:fs';
import { ownFile } from '../../files.ts';
import { escapeHtml } from '../html.ts';
import { siteTitle } from './guides.ts';
import { renderMarkdown, slugOf } from './markdown.ts';

type Release = { version: string; date: string | undefined; text: string };

/** Keep a Changelog: `## [1.0.0] - 2026-12-01`; a release without a date is unpublished. */
export function releasesOf(source: string): Release[] {
  const [, ...parts] = source.split(/^## /m);
  return parts.flatMap((part) => {
    const [, version = '', date, text = ''] = /^\[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?\n([^]*)$/.exec(part) ?? [];
    return text.trim() === '' ? [] : [{ version, date, text: text.trim() }];
  });
}

const readReleases = () => releasesOf(readFileSync(ownFile('../CHANGELOG.md'), 'utf8'));

/** "Added" repeats in every release, so it is bold text: as a heading, its id would not be unique. */
const body = ({ text }: Release) => text.replaceAll(/^### (.+)$/gm, '**$1**');

export function changelog(): string {
  return readReleases()
    .map((release) => `## ${release.version}\n\n${release.date ? `${release.date}.\n\n` : ''}${body(release)}`)
    .join('\n\n');
}

export function changelogFeed(baseUrl: string, releases = readReleases()): string {
  const published = releases.filter(({ date }) => date !== undefined);
  const page = escapeHtml(`${baseUrl}/docs/changelog`);
  const entries = published.map((release) => {
    const url = `${page}#${slugOf(release.version)}`;
    return `
  <entry>
    <id>${url}</id>
    <title>${escapeHtml(release.version)}</title>
    <updated>${release.date}T00:00:00Z</updated>
    <link href="${url}" />
    <content type="html">${escapeHtml(renderMarkdown(body(release), baseUrl))}</content>
  </entry>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${page}</id>
  <title>Changelog of the ${siteTitle}</title>
  <author><name>${siteTitle}</name></author>
  <updated>${published[0]?.date ?? '1970-01-01'}T00:00:00Z</updated>
  <link href="${page}" />
  <link rel="self" href="${page}.atom" />${entries.join('')}
</feed>
`;
}
