/** Memory of commands that read or write records by the million. */
import { setFlagsFromString } from 'node:v8';

/** Most objects live as long as their chunk. By default, V8 lets 100 MB and more of them pile up before it collects them. */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=60');
}
