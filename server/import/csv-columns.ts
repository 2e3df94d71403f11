/** What the header of a CSV file may say, and how a cell becomes the value of its field. */
import { metadataPatch } from '../../contract/fields.ts';
import { nearest } from '../../contract/nearest.ts';
import { UsageError } from '../config.ts';
import { addressParts } from '../entities/customer.ts';

const objects: ReadonlySet<string> = new Set(['address', 'shippingAddress']);
const metadataPrefix = 'metadata.';

/** A dot stands for a field inside an object. */
export function columnsOf(shape: Record<string, unknown>): string[] {
  return Object.keys(shape).flatMap((name) => {
    if (objects.has(name)) return addressParts.map((part) => `${name}.${part}`);
    return name === 'metadata' ? [] : [name];
  });
}

/** Refuses a header before anything is imported. */
export function refuseHeader(
  header: readonly string[],
  columns: readonly string[],
  serverFields: readonly string[],
): void {
  const [only = ''] = header;
  if (header.length === 1 && /[;\t]/.test(only)) throw new UsageError('the columns must be separated by commas');
  header.forEach((name, index) => {
    if (header.indexOf(name) !== index) throw new UsageError(`column ${name} is there twice`);
    const problem = problemOf(name, columns, serverFields);
    if (problem) throw new UsageError(`column ${name === '' ? index + 1 : name} ${problem}`);
  });
  if (!header.includes('externalId'))
    throw new UsageError('the column externalId is missing: it tells the records apart');
}

function problemOf(name: string, columns: readonly string[], serverFields: readonly string[]): string | undefined {
  if (columns.includes(name)) return undefined;
  if (name === '') return 'has no name';
  if (name.startsWith(metadataPrefix)) {
    const key = name.slice(metadataPrefix.length);
    return metadataPatch.safeParse(Object.fromEntries([[key, '']])).error?.issues[0]?.message;
  }
  if (name === 'metadata') return 'needs a key, such as metadata.segment';
  if (objects.has(name)) return `needs a part, such as ${name}.city`;
  if (serverFields.includes(name)) return 'is set by the server and cannot be imported';
  const suggestion = nearest(name, columns);
  return `is not a field of this record${suggestion ? `; did you mean ${suggestion}?` : ''}`;
}

/** The record that the cells of one row describe; an empty cell is an absent field. */
export function rowOf(header: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  header.forEach((name, index) => {
    const cell = (cells[index] ?? '').trim();
    if (cell === '') return;
    const dot = name.indexOf('.');
    if (dot === -1) row[name] = valueOf(name, cell);
    else row[name.slice(0, dot)] = { ...Object(row[name.slice(0, dot)]), [name.slice(dot + 1)]: cell };
  });
  return row;
}

function valueOf(name: string, cell: string): unknown {
  if (name === 'tags')
    return cell
      .split(';')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
  // Spreadsheets write TRUE and FALSE; any other text is left for the contract to refuse.
  if (name === 'taxable' && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
  return cell;
}
