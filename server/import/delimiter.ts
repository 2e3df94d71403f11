/** The separator of a CSV file's columns: comma, semicolon or tab, detected from its header. */
import { textOf } from './source.ts';
import type { Source } from './source.ts';

const delimiters = [',', ';', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

/** The separator that occurs most often in the first record, outside quotes. */
export async function delimiterOf(source: Source): Promise<Delimiter> {
  const counts: Record<Delimiter, number> = { ',': 0, ';': 0, '\t': 0 };
  for await (const chunk of textOf(source)) {
    if (count(String(chunk), counts)) break;
  }
  return delimiters.toSorted((left, right) => counts[right] - counts[left])[0] ?? ',';
}

/** Whether the first record ends within the text. */
function count(text: string, counts: Record<Delimiter, number>): boolean {
  let quoted = false;
  let started = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && /[\r\n]/.test(character) && started) return true;
    else if (!quoted && (character === ',' || character === ';' || character === '\t')) counts[character] += 1;
    if (!/[\s\uFEFF]/.test(character)) started = true;
  }
  return true;
}
