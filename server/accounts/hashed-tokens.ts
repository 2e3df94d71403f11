/** The database stores only the SHA-256 of session tokens, so a copy of it cannot be used to sign in. */
import { hash } from 'node:crypto';
import { kyselyAdapter } from '@better-auth/kysely-adapter';
import type { BetterAuthOptions } from 'better-auth';
import type { Kysely } from 'kysely';

type Adapter = ReturnType<ReturnType<typeof kyselyAdapter>>;
type Condition = { field: string; value: unknown };
type Row = Record<string, unknown>;
type Call = { model: string; where?: Condition[]; data?: Row; update?: Row };
type Method = (call: Call) => Promise<unknown>;

const methods = [
  'create',
  'findOne',
  'findMany',
  'update',
  'updateMany',
  'delete',
  'deleteMany',
  'consumeOne',
] as const;

/** The library's own adapter, for the `database` option. */
export function hashedTokenAdapter(db: Kysely<unknown>): (options: BetterAuthOptions) => Adapter {
  const create = kyselyAdapter(db, { type: 'postgres' });
  return (options) => {
    const adapter = create(options);
    return {
      ...adapter,
      ...hashing(adapter),
      transaction: (work) => adapter.transaction((inner) => work({ ...inner, ...hashing(inner) })),
    };
  };
}

function hashing(adapter: Omit<Adapter, 'transaction'>): Pick<Adapter, (typeof methods)[number]> {
  const wrapped = methods.map((name) => {
    // Each of them takes one object with a model; their results are returned unchanged except for the token.
    const method = adapter[name] as Method;
    return [name, (call: Call) => (call.model === 'session' ? callHashed(method, call) : method(call))];
  });
  return Object.fromEntries(wrapped) as Pick<Adapter, (typeof methods)[number]>;
}

async function callHashed(method: Method, call: Call): Promise<unknown> {
  const raw = new Map<unknown, string>();
  const seal = (token: unknown) => {
    if (typeof token !== 'string') return token;
    const sealed = hash('sha256', token, 'base64url');
    raw.set(sealed, token);
    return sealed;
  };
  const sealRow = (row: Row | undefined) => row && ('token' in row ? { ...row, token: seal(row.token) } : row);
  const sealValue = ({ field, value, ...rest }: Condition) =>
    field === 'token'
      ? { field, value: Array.isArray(value) ? value.map(seal) : seal(value), ...rest }
      : { field, value, ...rest };
  const { where, data, update, ...rest } = call;
  const result = await method({
    ...rest,
    ...(where && { where: where.map(sealValue) }),
    ...(data && { data: sealRow(data) ?? {} }),
    ...(update && { update: sealRow(update) ?? {} }),
  });
  const unseal = (row: unknown) => {
    if (typeof row !== 'object' || row === null || !('token' in row)) return row;
    return { ...row, token: raw.get(row.token) ?? row.token };
  };
  return Array.isArray(result) ? result.map(unseal) : unseal(result);
}
