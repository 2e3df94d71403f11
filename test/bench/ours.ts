/** The service with everything on: keys, rate limit, contract, headers, ETags and the log. */
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { standardLog } from '../../server/http/log.ts';
import { serve } from '../../server/http/server.ts';
import { countStatements, serveParent } from './child.ts';

countStatements();
const [, , url = ''] = process.argv;
// The limiter's own clock runs ahead of time, so that one key is never refused: with each request an old one just
// leaves the window, which stays full. Keys are trusted by the true clock, and their epoch is read every half second.
let nowMs = 0;
const limiter = memoryRateLimiter(() => (nowMs += 601));
const serving = await serve({
  database: await openDatabase({ url }),
  limiter,
  log: standardLog,
  host: '127.0.0.1',
  port: 0,
});
serveParent(serving.url);
