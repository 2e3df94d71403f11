/** The cost of the export command: its speed, the time to its first byte, and that its memory does not grow. */
import { cpuSeconds, postmasterPid, program, runWatched } from './processes.ts';
import { withPostgres } from './postgres.ts';
import { fillOrganization, withoutIndexes } from './records.ts';
import { printExport } from './report.ts';
import type { ExportRow } from './report.ts';

export function measureExport(sizes: readonly number[]): Promise<void> {
  return withPostgres(async ({ url, database }) => {
    const postgres = await postmasterPid(database.pool);
    await withoutIndexes(database, async () => {
      for (const customers of sizes)
        await fillOrganization(database, `bench-${customers}`, {
          customers,
          proposals: 0,
          lines: 0,
          items: 0,
          keys: 0,
        });
    });
    const rows: ExportRow[] = [];
    for (const format of ['jsonl', 'csv']) {
      for (const customers of sizes) {
        const before = cpuSeconds(postgres);
        const words = [program, 'export', 'customers', '--format', format, '--organization', `bench-${customers}`];
        const ran = await runWatched(words, { DATABASE_URL: url });
        rows.push({ format, customers, databaseSeconds: cpuSeconds(postgres) - before, ...ran });
      }
    }
    printExport(rows);
  });
}
