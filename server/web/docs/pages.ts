/** Every page of the documentation: the guides, then the reference. */
import { readFileSync } from 'node:fs';
import { ownFile } from '../../files.ts';
import { fillBlocks } from './blocks.ts';
import { guides } from './guides.ts';
import type { Guide } from './guides.ts';
import { referencePages } from './reference/pages.ts';
import type { ReferencePage } from './reference/pages.ts';

export const pages: readonly ReferencePage[] = [
  ...guides.map((guide) => ({ ...guide, markdown: () => readGuide(guide) })),
  ...referencePages(),
];

/** A guide in Markdown, with the parts that are made from the contract. */
function readGuide({ slug }: Guide): string {
  return fillBlocks(readFileSync(ownFile(`web/docs/guides/${slug === '' ? 'index' : slug}.md`), 'utf8'));
}
