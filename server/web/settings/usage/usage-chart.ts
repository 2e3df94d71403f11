/** Requests by day as stacked bars, drawn on the server; the same numbers are in a table. */
import { outcomes } from '../../../entities/usage.ts';
import type { Outcome } from '../../../entities/usage.ts';
import { sum } from '../../../keys/usage-report.ts';
import type { UsageReport } from '../../../keys/usage-report.ts';
import { html } from '../../html.ts';
import { dayOf } from '../time.ts';

export const outcomeLabels: Record<Outcome, string> = {
  success: 'Successful (2xx)',
  client_error: 'Rejected (4xx)',
  rate_limited: 'Rate limited (429)',
  server_error: 'Server errors (5xx)',
};

const size = { width: 720, height: 240, top: 16, bottom: 34, left: 72 };
const plotHeight = size.height - size.top - size.bottom;

export function usageChart({ days, total }: UsageReport) {
  const top = roundUp(Math.max(1, ...days.map(({ tally }) => sum(tally))));
  const step = (size.width - size.left) / days.length;
  const bars = days.map((day, index) => bar(day, { x: size.left + index * step, width: step - 4, top }));
  return html`<figure class="chart">
    <svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="chart-title">
      <title id="chart-title">
        Requests by day over ${days.length} days, ${count(sum(total))} in total. The table below has the numbers.
      </title>
      ${[0, top / 2, top].map((value) => gridLine(value, top))} ${bars}
      ${days.map(({ day }, index) => (days.length - 1 - index) % 7 === 0 && dayLabel(day, size.left + (index + 0.5) * step))}
    </svg>
    <figcaption>
      ${outcomes.map((outcome) => html`<span class="key-of ${outcome}">${outcomeLabels[outcome]}</span> `)}
    </figcaption>
  </figure>`;
}

type Place = { x: number; width: number; top: number };

function bar({ day, tally }: UsageReport['days'][number], { x, width, top }: Place) {
  let y = size.top + plotHeight;
  const pieces = outcomes.map((outcome) => {
    const height = (tally[outcome] / top) * plotHeight;
    y -= height;
    return (
      height > 0 &&
      html`<rect
        class="${outcome}"
        x="${fixed(x)}"
        y="${fixed(y)}"
        width="${fixed(width)}"
        height="${fixed(height)}"
      />`
    );
  });
  return html`<g><title>${dayOf(day)}: ${count(sum(tally))}</title>${pieces}</g>`;
}

/** One a week, counted back from the last day. */
const dayLabel = (day: string, x: number) =>
  html`<text x="${fixed(Math.min(x, size.width - 44))}" y="${size.height - 6}" text-anchor="middle">
    ${dayOf(day).replace(/ \d+$/, '')}
  </text>`;

function gridLine(value: number, top: number) {
  const y = fixed(size.top + plotHeight - (value / top) * plotHeight);
  return html`<line class="grid" x1="${size.left}" x2="${size.width}" y1="${y}" y2="${y}" />
    <text x="${size.left - 6}" y="${y}" text-anchor="end" dominant-baseline="middle">${count(value)}</text>`;
}

const fixed = (value: number) => Number(value.toFixed(2));
export const count = (value: number): string => value.toLocaleString('en-US');

/** Rounds up to 2, 6, 10, 20, 50, …: even numbers, so that half of each is a whole number. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const round = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= value) ?? value;
  return 2 * Math.ceil(round / 2);
}
