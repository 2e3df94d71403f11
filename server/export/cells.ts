/** Values → the cells of a CSV file. */
/** The cells of a record, in the order of the columns; a dot stands for a field inside an object. */
export function cellsOf(columns: readonly string[]): (document: object) => string[] {
  const paths = columns.map((column) => {
    const [field = ''] = column.split('.', 1);
    return { field, inner: field === column ? undefined : column.slice(field.length + 1) };
  });
  return (document) =>
    paths.map(({ field, inner }) => {
      const value: unknown = Reflect.get(document, field);
      if (inner === undefined) return cellOf(value);
      // A key of metadata can be `toString`.
      return Object.hasOwn(Object(value), inner) ? cellOf(Reflect.get(Object(value), inner)) : '';
    });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? tagsCell(value.map(String)) : JSON.stringify(value);
}

/** Tags are separated by semicolons; if one holds a semicolon itself, they are a JSON array. */
function tagsCell(tags: readonly string[]): string {
  const isAmbiguous = tags.some((tag) => tag.includes(';')) || tags[0]?.startsWith('[');
  return isAmbiguous ? JSON.stringify(tags) : tags.join(';');
}
