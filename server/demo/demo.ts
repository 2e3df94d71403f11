import type { Opened } from '../database/open.ts';

export async function ensureDemo(_database: Opened, _url: string, _say: (line: string) => void): Promise<void> {}
