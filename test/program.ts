/** The program that tests start as a process: the source, or the build in the folder that `BUILD` names. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../server/main.ts', import.meta.url));

export const program = process.env.BUILD ? join(resolve(process.env.BUILD), 'server/main.js') : source;
