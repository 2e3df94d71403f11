import type pg from 'pg';

/** The pool, except that the statements for which `fails` is true cannot be sent. */
export const breakablePool = (pool: pg.Pool, fails: (statement: unknown) => boolean): pg.Pool =>
  new Proxy(pool, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      return (...given: unknown[]) =>
        name === 'query' && fails(given[0])
          ? Promise.reject(new Error('Connection terminated'))
          : (Reflect.apply(found, target, given) as unknown);
    },
  });
