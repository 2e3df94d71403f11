/** Lets tracing see every statement of the process; nothing is changed unless it asks. */
import pg from 'pg';
import { Statement } from './statement.ts';

/** Called when a statement begins, and returns what to call when it ends, with its error if it failed. */
type StatementObserver = (name: string) => (error?: unknown) => void;

type Query = (this: unknown, ...words: unknown[]) => unknown;

/** On pools, with the wait for a connection, and on connections that were taken from one. Returns how to stop. */
export function observeStatements(observe: StatementObserver): () => void {
  const restores = [pg.Pool.prototype, pg.Client.prototype].map((prototype: object) => {
    const query: Query = Reflect.get(prototype, 'query');
    Reflect.set(prototype, 'query', function observed(this: unknown, ...words: unknown[]): unknown {
      // A pool calls its connection with a callback, and was itself observed.
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

/** `SELECT customers`: what is done, and to which table. The text itself may contain values. */
export function statementName(statement: unknown): string {
  const given: unknown = typeof statement === 'string' ? statement : Reflect.get(Object(statement), 'text');
  const text = String(given).replaceAll(/'(?:[^']|'')*'|extract\s*\(\w+ from/gi, '');
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+(?:only\s+)?"?(?:\w+"?\."?)?(\w+)/i.exec(text) ?? [];
  return table ? `${verb.toUpperCase()} ${table}` : verb.toUpperCase();
}
