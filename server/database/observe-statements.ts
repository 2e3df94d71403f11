/** Lets tracing observe every statement of the process. Nothing is patched until it does. */
import pg from 'pg';
import { Statement } from './statement.ts';

/** Called when a statement begins; returns a function to call when it ends, with the error if it failed. */
type StatementObserver = (name: string) => (error?: unknown) => void;

type Query = (this: unknown, ...words: unknown[]) => unknown;

/** Observes pools, with the wait for a connection, and connections taken from them. Returns a function that stops it. */
export function observeStatements(observe: StatementObserver): () => void {
  const restores = [pg.Pool.prototype, pg.Client.prototype].map((prototype: object) => {
    const query = Reflect.get(prototype, 'query') as Query;
    Reflect.set(prototype, 'query', function observed(this: unknown, ...words: unknown[]): unknown {
      // A pool, which is observed itself, calls its connection with a callback.
      if (typeof words.at(-1) === 'function') return query.apply(this, words);
      const ended = observe(statementName(words[0]));
      const sent = query.apply(this, words);
      const result = sent instanceof Statement ? sent.result : sent;
      if (result instanceof Promise) result.then(() => ended(), ended);
      else ended();
      return sent;
    });
    return () => void Reflect.set(prototype, 'query', query);
  });
  return () => {
    for (const restore of restores) restore();
  };
}

/** `SELECT customers`: the verb and the table. The text itself may contain values. */
export function statementName(statement: unknown): string {
  const given: unknown = typeof statement === 'string' ? statement : Reflect.get(Object(statement), 'text');
  const text = String(given).replaceAll(/'(?:[^']|'')*'|extract\s*\(\w+ from/gi, '');
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+(?:only\s+)?"?(?:\w+"?\."?)?(\w+)/i.exec(text) ?? [];
  return table ? `${verb.toUpperCase()} ${table}` : verb.toUpperCase();
}
