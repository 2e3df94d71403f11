/** A prepared statement whose rows PostgreSQL describes once per connection, rather than with every execution. */
import { compileFunction } from 'node:vm';
import pg from 'pg';
import { toRfc3339 } from '../entities/timestamp.ts';
import { executionOf } from './messages.ts';

type Parse = (text: string) => unknown;
type RowOf = (fields: readonly (string | null)[]) => object;
type Described = { fields: readonly { name: string; dataTypeID: number }[] };

const { TEXT, VARCHAR, UUID, NUMERIC, TIMESTAMPTZ } = pg.types.builtins;
const textArray: number = 1009;
const readArray = pg.types.getTypeParser(textArray) as Parse;
/** Unless an element is quoted or null, the elements are simply separated by commas. */
const readTexts = (text: string) => {
  if (/["\\]|NULL/.test(text)) return readArray(text);
  return text === '{}' ? [] : text.slice(1, -1).split(',');
};
/** Parsers that replace pg's: times as the API prints them. Undefined: the text is used as PostgreSQL prints it. */
const parsers: ReadonlyMap<number, Parse | undefined> = new Map([
  ...[TEXT, VARCHAR, UUID, NUMERIC].map((type) => [type, undefined] as const),
  [TIMESTAMPTZ, toRfc3339],
  [textArray, readTexts],
]);
export const parserOf = (type: number): Parse | undefined =>
  parsers.has(type) ? parsers.get(type) : (pg.types.getTypeParser(type) as Parse);

/** Row builders by the columns that they read. */
const compiled = new Map<string, RowOf>();

/** Shared by all statements and connections that read the same columns. */
function rowBuilder({ fields }: Described): RowOf {
  const columns = fields.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join('\n');
  const builder = compiled.get(columns) ?? compile(fields);
  compiled.set(columns, builder);
  return builder;
}

/** An object literal in generated code, as in MikroORM's own hydrators: a loop over 22 columns takes four times as long. */
function compile(fields: Described['fields']): RowOf {
  const parse = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
  const members = fields.map(({ name }, index) => {
    const field = `fields[${index}]`;
    return `${JSON.stringify(name)}: ${parse[index] ? `${field} === null ? null : parse[${index}](${field})` : field}`;
  });
  const make = compileFunction(`return (fields) => ({ ${members.join(', ')} });`, ['parse']) as (
    read: typeof parse,
  ) => RowOf;
  return make(parse);
}

/** By connection, because each has its own prepared statements, and then by statement name. */
const known = new WeakMap<pg.Connection, Map<string, RowOf>>();

function knownOn(connection: pg.Connection): Map<string, RowOf> {
  const builders = known.get(connection) ?? new Map<string, RowOf>();
  known.set(connection, builders);
  return builders;
}

/** A parameter as text, as pg encodes it; pg does not export its function. */
function encoded(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return arrayLiteral(value);
  return JSON.stringify(value);
}

/** An array as PostgreSQL reads it. */
export const arrayLiteral = (values: readonly unknown[]): string => `{${values.map(element).join(',')}}`;

const escaped = String.raw`\$&`;

function element(value: unknown): string {
  const text = encoded(value);
  return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, escaped)}"`;
}

/** The rows of a statement have more bytes than it may read. */
export class TooManyBytes extends Error {}

/** What pg's connections have besides their declared methods. */
type Sending = pg.Connection & {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
};

export type Sharing = {
  /** Called once the server has finished with a statement, or never will; returns whether it is repeated. */
  end(statement: Pick<Statement<object>, 'repeat'>, error?: Error): boolean;
};

/** Passed to a client's `query`, which calls its methods as the server responds. The server does not keep an unnamed one. */
export class Statement<Row extends object> {
  readonly text: string;
  readonly values: readonly unknown[];
  name: string;
  readonly mostBytes: number;
  /** The connection that it shares. A closure instead would keep its rows alive until the next full GC. */
  sharing: Sharing | undefined;
  readonly #parameters: (string | null)[];
  readonly #result = Promise.withResolvers<Row[]>();
  readonly #rows: Row[] = [];
  #bytes = 0;
  #builders: Map<string, RowOf> | undefined;
  #rowOf: RowOf | undefined;

  constructor(text: string, values: readonly unknown[], name = '', mostBytes = Number.POSITIVE_INFINITY) {
    this.text = text;
    this.values = values;
    this.name = name;
    this.mostBytes = mostBytes;
    // Encoded here, because a value that cannot be sent must fail before anything is sent.
    this.#parameters = values.map(encoded);
  }

  get result(): Promise<Row[]> {
    return this.#result.promise;
  }

  /** Takes the result of another execution, if it comes first. */
  repeat(run: <Any extends object>(again: Statement<Any>) => Promise<Any[]>): void {
    run(new Statement<Row>(this.text, this.values, this.name, this.mostBytes)).then(
      this.#result.resolve,
      this.#result.reject,
    );
  }

  submit(connection: pg.Connection): void {
    const { name, text } = this;
    this.#builders = knownOn(connection);
    this.#rowOf = name === '' ? undefined : this.#builders.get(name);
    if (this.#rowOf) {
      // As pg does: the end of the connection is reported by an event.
      if (connection.stream.writable) connection.stream.write(executionOf(name, this.#parameters));
      return;
    }
    // These two internal tables of pg record what the server has parsed.
    const { parsedStatements, submittedNamedStatements } = connection as Sending;
    connection.stream.cork();
    if (name === '' || !(parsedStatements[name] ?? submittedNamedStatements[name])) {
      connection.parse({ text, name, types: [] }, true);
      if (name !== '') submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#parameters }, true);
    connection.describe({ type: 'P' }, true);
    connection.execute({}, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription(described: Described): void {
    this.#rowOf = rowBuilder(described);
    if (this.name !== '') this.#builders?.set(this.name, this.#rowOf);
  }

  handleDataRow({ fields, length }: { fields: (string | null)[]; length: number }): void {
    if (this.#bytes > this.mostBytes) return;
    this.#bytes += length;
    if (this.#bytes > this.mostBytes) {
      this.#rows.length = 0;
      return this.#result.reject(new TooManyBytes(`The rows have more than ${this.mostBytes} bytes.`));
    }
    try {
      // The description came first, now or in an earlier execution; the columns are the row's properties.
      if (this.#rowOf) this.#rows.push(this.#rowOf(fields) as Row);
    } catch (error) {
      this.#result.reject(error);
    }
  }

  handleError(error: Error): void {
    if (!this.sharing?.end(this, error)) this.#result.reject(error);
  }

  handleReadyForQuery(): void {
    this.#result.resolve(this.#rows);
    this.sharing?.end(this);
  }

  handleCommandComplete(): void {}
}
