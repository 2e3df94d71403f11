import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/core';
import { z } from 'zod';
import { customer, requireName } from '../../contract/customers.ts';
import { customerImport } from './schemas.ts';
import type { CustomerImport } from './schemas.ts';
import { Customer, defaultType, displayName, storedAddress } from '../entities/customer.ts';
import type { StoredAddress } from '../entities/customer.ts';
import { columnsOf } from './csv-columns.ts';
import type { Kind, Outcome, Refusal } from './kind.ts';
import { byExternalId, change, externalIds, given, mergeMetadata, refuseMetadata } from './merge.ts';

export const customers: Kind<CustomerImport> = {
  schema: customerImport,
  record: customer,
  columns: columnsOf(customerImport.shape),
  tables: ['customers'],
  weigh: () => 1,
  async load(em, _organization, rows) {
    const where = { externalId: { $in: externalIds(rows) } };
    const stored = byExternalId(
      await em.find(Customer, where, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } }),
    );
    return (row) => {
      const found = stored.get(row.externalId);
      return found ? update(found, row) : create(em, row);
    };
  },
};

const named = requireName(z.unknown());

function create(em: EntityManager, row: CustomerImport): Outcome {
  const missing = named.safeParse(row).error?.issues ?? [];
  if (missing.length > 0) return missing.map(({ message }): Refusal => ({ field: 'name', code: 'required', message }));
  const merged = merge(row);
  const refusals = refuseMetadata(merged.metadata);
  if (refusals.length > 0) return refusals;
  em.create(Customer, { ...merged, type: row.type ?? defaultType(row), name: displayName(row) });
  return 'created';
}

function update(stored: Customer, row: CustomerImport): Outcome {
  const merged = merge(row, stored);
  const refusals = refuseMetadata(merged.metadata);
  if (refusals.length > 0) return refusals;
  return change(stored, merged) ? 'updated' : 'unchanged';
}

function merge({ address, shippingAddress, metadata, ...row }: CustomerImport, stored?: Customer) {
  return {
    ...given(row),
    address: mergeAddress(stored?.address, address),
    shippingAddress: mergeAddress(stored?.shippingAddress, shippingAddress),
    metadata: mergeMetadata(stored?.metadata ?? {}, metadata),
  };
}

function mergeAddress(
  stored: StoredAddress | null | undefined,
  patch: CustomerImport['address'],
): StoredAddress | null {
  if (patch === null) return null;
  return storedAddress({ ...stored, ...given(patch ?? {}) });
}
