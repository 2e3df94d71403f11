/** A record that cannot be stored because another has its externalId or sku: decided by the unique index alone. */
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Caller } from '../access/caller.ts';
import type { Kind } from '../../contract/fields.ts';
import { publicId } from '../entities/uuid.ts';
import { Problem } from '../problems.ts';
import { equal, readPage } from './read.ts';
import type { Condition, Source } from './read.ts';

type Unique = { externalId?: string | null | undefined; sku?: string | null | undefined };

/** Does the write; where an index refuses it, answers 409 with the id of the record that was there first. */
export async function orConflict<T>(caller: Caller, source: Source, kind: Kind, body: Unique, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    const constraint = String(Reflect.get(error, 'constraint'));
    const onSku = constraint.endsWith('_sku');
    if (!onSku && !constraint.endsWith('_external_id')) throw error;
    const condition = onSku ? equal('t.sku_key', body.sku?.toLowerCase()) : equal('t.external_id', body.externalId);
    const existingId = await idOf(caller, source, kind, condition);
    const field = onSku ? 'sku' : 'externalId';
    throw new Problem(onSku ? 'sku_taken' : 'external_id_taken', `Another ${kind} already has this ${field}.`, {
      ...(existingId && { existingId }),
      errors: [{ in: 'body', field, pointer: `/${field}`, code: onSku ? 'sku_taken' : 'external_id_taken', message: 'is taken by another record' }],
    });
  }
}

async function idOf(caller: Caller, source: Source, kind: Kind, condition: Condition): Promise<string | undefined> {
  const request = { conditions: [condition], order: { column: 'id', descending: false }, limit: 1 };
  const [row] = await readPage<{ id: string }>(caller, source, request);
  return row && publicId(kind, row.id);
}
