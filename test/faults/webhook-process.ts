/** The service as a separate process, whose work another process takes over soon after it is killed. */
import { openDatabase } from '../../server/database/orm.ts';
import { serve } from '../../server/commands/serve/server.ts';

const { DATABASE_URL = '', AUTH_SECRET } = process.env;
const serving = await serve({
  database: await openDatabase({ url: DATABASE_URL }),
  log: () => undefined,
  host: '127.0.0.1',
  port: 0,
  limiter: { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) },
  authSecret: AUTH_SECRET,
  webhooks: {
    allow: ['127.0.0.0/8'],
    limits: { scanMs: 500, tickMs: 100, leaseSeconds: 6, roundMs: 500 },
    sending: { totalMs: 2_000 },
  },
});
process.stdout.write(`Serving ${serving.url}/v1\n`);
