/** The tools that write. */
import { hash } from 'node:crypto';
import type { AppRoute } from '@ts-rest/core';
import { bodyOf } from '../../contract/operations.ts';
import { isBlank } from '../../contract/text.ts';
import { v1 } from '../../contract/v1.ts';
import type { RecordName } from '../../contract/v1.ts';
import { Problem } from '../problems/problem.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { idIn } from './arguments.ts';
import { presented } from './result.ts';
import { fieldsOf, inputsOf, schemaOf } from './schema.ts';
import { untrustedNotice } from './tool.ts';
import type { Arguments, CallOperation, Tool } from './tool.ts';

const texts = { type: 'array', items: { type: 'string' } } as const;
/** As the contract accepts them. */
const tags = {
  anyOf: [
    texts,
    { type: 'object', properties: { add: texts, remove: texts }, additionalProperties: false },
    { type: 'null' },
  ],
  description: 'A list replaces all tags; add and remove keep the others',
};

type CreateOnce = { create: AppRoute; get: AppRoute; idName: string };

/** Creates a record, or returns its current state if an earlier call created it. */
async function createOnce(call: CallOperation, { create, get, idName }: CreateOnce, body: Arguments) {
  // The same call within 24 hours creates one record, however often an agent repeats it.
  const key = `mcp-${hash('sha256', canonicalJson(body), 'hex')}`;
  const made = await call(create, { body, headers: { 'idempotency-key': key } });
  if (!made.replayed) return presented(made.body, fieldsOf(create));
  const now = await call(get, { params: { [idName]: Object(made.body).id } });
  return { replayed: true, ...presented(now.body, fieldsOf(get)) };
}

export function saveCustomer(): Tool {
  const { create, update, get } = v1.customers;
  const { properties, definitions } = inputsOf(schemaOf(create.body));
  const known = fieldsOf(create);
  return {
    name: 'save_customer',
    title: 'Create or update a customer',
    description: `Create a customer, or update one by customerId, or by externalId if a customer already has it. Omitted fields keep their values; null clears a field or a metadata key. Repeating a create within 24 hours creates nothing and returns the record as it is now, with replayed. ${untrustedNotice}`,
    properties: { customerId: { type: 'string', description: 'The customer to update' }, ...properties, tags },
    definitions: { AddressInput: definitions.AddressInput ?? {} },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ customerId, ...body }, { call }) {
      if (customerId !== undefined) {
        const hint = 'Leave it out to create a customer, or to update one by externalId.';
        const params = { customerId: idIn({ customerId }, 'customerId', hint) };
        return presented((await call(update, { params, body })).body, known);
      }
      const isUpsert = typeof body.externalId === 'string' && !isBlank(body.externalId);
      // An upsert is safe to repeat.
      if (isUpsert) return presented((await call(create, { body, query: { onConflict: 'update' } })).body, known);
      return createOnce(call, { create, get, idName: 'customerId' }, body);
    },
  };
}

/** For records that no operation changes. */
export function createTool(record: RecordName, { create, get }: { create: AppRoute; get: AppRoute }): Tool {
  const name = `create_${record}`;
  const { properties, required } = inputsOf(schemaOf(bodyOf(create)));
  return {
    name,
    title: create.summary ?? name,
    description: `${create.description} Repeating the same call within 24 hours creates nothing and returns the ${record} as it is now, with replayed. ${untrustedNotice}`,
    properties,
    required,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    run: (body, { call }) =>
      createOnce(call, { create, get, idName: `${record}Id` }, body).catch((error: unknown) => {
        if (!(error instanceof Problem && error.code === 'external_id_taken')) throw error;
        // This tool has no onConflict, so its advice is that for an update.
        const { existingId } = error.body('', '');
        throw new Problem('external_id_taken', { record, existingId, isUpdate: true });
      }),
  };
}
