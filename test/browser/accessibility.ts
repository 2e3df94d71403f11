/** What axe, the accessibility checker, finds on a page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The rules about colors that are on by default. */
const colorRules = ['color-contrast', 'link-in-text-block'];

type Violation = { id: string; html: string[] };

/**
 * `evaluate` runs an expression in the page. `onlyColors` is for a page that has been fully checked in its other color
 * scheme, which differs only in its colors.
 */
export async function violationsOf(
  evaluate: (expression: string) => Promise<unknown>,
  { onlyColors = false } = {},
): Promise<Violation[]> {
  const options = { resultTypes: ['violations'], ...(onlyColors && { runOnly: colorRules }) };
  const isLoaded = await evaluate("typeof axe === 'object'");
  if (isLoaded !== true) await evaluate(axe);
  const found = await evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, html: nodes.map(({ html }) => html) })))`,
  );
  // As the expression builds it.
  return found as Violation[];
}
