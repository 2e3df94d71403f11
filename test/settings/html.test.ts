import { describe, expect, test } from 'vitest';
import { html } from '../../server/web/html.ts';
import { ago, timeAgo } from '../../server/web/settings/time.ts';
import { inWords, sentenceFor } from '../../server/web/settings/visit.ts';

/** An alias, because the formatter rewraps html`…`. */
const page = html;

describe('html', () => {
  test('prints every value as text, in an element and in an attribute', () => {
    const name = `"><script>alert('&')</script>`;
    const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;';
    expect(page`<p title="${name}">${name}</p>`.html).toBe(`<p title="${escaped}">${escaped}</p>`);
    expect(page`<ul>${[name, page`<b>${name}</b>`]}</ul>`.html).toBe(`<ul>${escaped}<b>${escaped}</b></ul>`);
  });

  test('prints nothing for undefined, null, false and an empty string', () => {
    expect(page`<p>${undefined}${null}${false}${''}${0}</p>`.html).toBe('<p>0</p>');
  });
});

describe('a moment', () => {
  const nowMs = Date.parse('2026-03-12T12:00:00.000Z');
  const moments: [string, string][] = [
    ['2026-03-12T12:00:01.000Z', 'just now'],
    ['2026-03-12T11:59:00.001Z', 'just now'],
    ['2026-03-12T11:59:00.000Z', '1 minute ago'],
    ['2026-03-12T11:57:00.000Z', '3 minutes ago'],
    ['2026-03-12T11:00:00.000Z', '1 hour ago'],
    ['2026-03-11T12:00:00.001Z', '23 hours ago'],
    ['2026-03-09T12:00:00.000Z', '3 days ago'],
    ['2026-02-10T12:00:00.001Z', '29 days ago'],
    ['2026-02-10T12:00:00.000Z', '10 Feb 2026'],
  ];
  for (const [at, said] of moments) test(`${at} is ${said}`, () => expect(ago(at, nowMs)).toBe(said));

  test('has the exact time in its attributes', () => {
    const printed = timeAgo('2020-01-02T03:04:05.678Z').html;
    expect(printed).toBe('<time datetime="2020-01-02T03:04:05.678Z" title="2020-01-02 03:04:05 UTC">2 Jan 2020</time>');
  });

  test('is shown in UTC even if the database returns another offset', () => {
    const printed = timeAgo('2020-01-02 03:04:05.678+05:30').html;
    expect(printed).toBe('<time datetime="2020-01-01T21:34:05.678Z" title="2020-01-01 21:34:05 UTC">1 Jan 2020</time>');
  });
});

test.each([
  [1, 'a second'],
  [59, '59 seconds'],
  [60, 'a minute'],
  [61, '2 minutes'],
  [900, '15 minutes'],
])('a wait of %i seconds is %s', (seconds, said) => expect(inWords(seconds)).toBe(said));

test('a word in the URL selects one of the known sentences, or none', () => {
  const sentences = { removed: 'It was removed.' };
  expect(['removed', 'toString', ''].map((word) => sentenceFor(sentences, word))).toEqual([
    'It was removed.',
    undefined,
    undefined,
  ]);
});
