/** Tables of text, a record a line, so that what the demo holds can be read at a glance. */

/** The rows of `table`, whose cells stand between bars; an empty cell is null. */
export function readTable<const Column extends string>(
  columns: readonly Column[],
  table: string,
): Record<Column, string | null>[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const cells = line.split('|').map((text) => text.trim() || null);
      if (cells.length !== columns.length)
        throw new Error(`This row has ${cells.length} cells, not ${columns.length}: ${line}`);
      // Object.fromEntries forgets the names of the keys; they are the columns, one cell each.
      return Object.fromEntries(columns.map((column, index) => [column, cells[index]])) as Record<
        Column,
        string | null
      >;
    });
}

/** The cell of a column that no row may leave empty. */
export function cell<Column extends string>(row: Record<Column, string | null>, column: Column): string {
  const value = row[column];
  if (value === null) throw new Error(`A row has no ${column}: ${JSON.stringify(row)}`);
  return value;
}
