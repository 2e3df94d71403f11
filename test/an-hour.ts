import { vi } from 'vitest';
import { serve } from '../server/commands/serve/server.ts';
import type { Database } from '../server/database/orm.ts';
import { ownUploadFolder } from './upload-folder.ts';

/** All that a serving process does in the background within an hour. */
export async function serveAnHour(database: Database): Promise<void> {
  const uploads = await ownUploadFolder();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const options = { database, log: () => undefined, uploadFolder: uploads.path };
    const serving = await serve({ ...options, host: '127.0.0.1', port: 0 });
    vi.advanceTimersByTime(3_600_000);
    // Waits for what has begun.
    await serving.close();
  } finally {
    vi.useRealTimers();
    await uploads.remove();
  }
}
