/** Fails while no file can be opened: Node then closes new connections, and reports nothing. */
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { createBackground } from '../../database/background.ts';
import type { Background } from '../../database/background.ts';

const checkMs = 5_000;

export function checkDescriptors(onError: (error: unknown) => void): Background {
  const background = createBackground(onError);
  background.every(checkMs, async () => (await open(devNull)).close());
  return background;
}
