/**
 * Erases the personal data of one customer, in one transaction: in the record, in its proposals, in stored idempotent
 * responses and in the audit log. The customer keeps its id, and its proposals keep their amounts, states and times.
 */
import type { Scope, Tenant } from '../database/tenant.ts';
import { AuditEvent } from '../entities/audit-event.ts';
import { Proposal } from '../entities/proposal.ts';
import { customerTable } from './customer.ts';
import type { CustomerRow } from './customer.ts';
import { changesTo } from './merge-patch.ts';
import { publicId } from './public-id.ts';
import { Redaction } from './redaction.ts';
import { readOne } from './reader.ts';
import { select, storedProperties, versioned } from './selection.ts';
import { exactly } from './sql.ts';
import { completed, insertOf, updateLocked } from './writer.ts';

const anonymous = 'Erased customer';

/** An externalId goes, too: in files from other tools it is often a name. */
const erased = {
  name: anonymous,
  firstName: null,
  lastName: null,
  companyName: null,
  email: null,
  phone: null,
  address: null,
  shippingAddress: null,
  taxId: null,
  website: null,
  notes: null,
  tags: [],
  externalId: null,
  metadata: {},
  status: 'archived',
} as const satisfies Partial<Record<keyof CustomerRow, unknown>>;

/** Returns false if the data was erased before, and undefined if there is no such customer; neither changes anything. */
export function eraseCustomer(tenant: Tenant, id: string, memberId: string | null): Promise<boolean | undefined> {
  return tenant.transact(async (scope) => {
    const stored = await readOne(scope, customerTable.selection, exactly('id', id), { lock: true });
    if (!stored) return undefined;
    const values: Partial<CustomerRow> = { ...erased, tags: [] };
    if (!changesTo<Partial<CustomerRow>>(stored, values)) return false;
    const { names, words } = identifying(stored);
    await updateLocked(scope, customerTable, exactly('id', id), () => values);
    await eraseInProposals(scope, id, new Redaction(names, words));
    await eraseInResponses(scope, publicId('customer', id), new Redaction(names));
    await eraseInAuditLog(scope, new Redaction(names));
    const event = { kind: 'change', action: 'customer_erased', memberId, detail: publicId('customer', id) } as const;
    const { into, parameters, values: valuesOf } = insertOf(scope, AuditEvent);
    await scope.query(`${into} values (${parameters})`, valuesOf(completed(scope, AuditEvent, event)));
    return true;
  });
}

/** How many proposals name the customer. */
export async function countProposals(scope: Scope, id: string): Promise<number> {
  const text = 'select count(*)::int as count from proposals where organization_id = $1 and customer_id = $2';
  const [row] = await scope.query<{ count: number }>(text, [id]);
  return row?.count ?? 0;
}

/**
 * What would tell in other texts who the customer is; city, tags and the like are shared with others. First and last
 * names may be ordinary words, and other people's: they count in the customer's own proposals.
 */
function identifying(customer: CustomerRow) {
  const { name, companyName, firstName, lastName, email, phone, taxId, website, externalId } = customer;
  const person = firstName && lastName ? [`${firstName} ${lastName}`, `${lastName}, ${firstName}`] : [];
  const streets = [customer.address, customer.shippingAddress].flatMap((place) => [place?.line1, place?.line2]);
  const key = /\D/.test(externalId ?? '') ? [externalId] : [];
  return {
    names: [name, companyName, ...person, email, phone, taxId, website, ...key, ...streets],
    words: [firstName, lastName],
  };
}

const proposalTable = {
  entity: Proposal,
  selection: versioned(
    select(
      Proposal,
      storedProperties<Proposal, 'organizationId' | 'search' | 'transactionStart'>(Proposal, [
        'organizationId',
        'search',
        'transactionStart',
      ]),
    ),
  ),
};

/** The search text follows from the customer's new name; what people wrote is redacted. */
async function eraseInProposals(scope: Scope, customerId: string, redaction: Redaction): Promise<void> {
  const proposals = await scope.query<{ id: string }>(
    'select id from proposals where organization_id = $1 and customer_id = $2 order by id for update',
    [customerId],
  );
  for (const { id } of proposals) {
    await updateLocked(scope, proposalTable, exactly('id', id), (proposal) =>
      changesTo<Partial<typeof proposal>>(proposal, {
        title: redaction.of(proposal.title),
        notes: redaction.of(proposal.notes),
        terms: redaction.of(proposal.terms),
        declineReason: redaction.of(proposal.declineReason),
        publicUrl: redaction.finds(proposal.publicUrl) ? null : proposal.publicUrl,
        acceptedBy: proposal.acceptedBy && { name: anonymous, email: null },
        metadata: redaction.ofMembers(proposal.metadata),
      }),
    );
  }
  await eraseInLines(scope, customerId, redaction);
}

async function eraseInLines(scope: Scope, customerId: string, redaction: Redaction): Promise<void> {
  const lines = await scope.query<{ id: string; name: string; description: string | null }>(
    `select l.id, l.name, l.description from proposal_lines l
     join proposals p on p.organization_id = l.organization_id and p.id = l.proposal_id
     where l.organization_id = $1 and p.customer_id = $2 order by l.id for update of l`,
    [customerId],
  );
  for (const { id, name, description } of lines) {
    if (!redaction.finds(name) && !redaction.finds(description)) continue;
    await scope.query('update proposal_lines set name = $3, description = $4 where organization_id = $1 and id = $2', [
      id,
      redaction.of(name),
      redaction.of(description),
    ]);
  }
}

/** A repeated request gets the response that it would get if the customer had been created without its data. */
async function eraseInResponses(scope: Scope, id: string, redaction: Redaction): Promise<void> {
  const rows = await scope.query<{ id: string; key: string; body: string }>(
    `select id, key, body from idempotency_keys
     where organization_id = $1 and (position($2 in body) > 0 or key ilike any($3)) for update`,
    [id, redaction.patterns],
  );
  for (const row of rows) {
    const body: unknown = JSON.parse(row.body);
    const isOfCustomer = Reflect.get(Object(body), 'id') === id;
    await scope.query('update idempotency_keys set key = $3, body = $4 where organization_id = $1 and id = $2', [
      row.id,
      redaction.finds(row.key) ? `erased ${row.id}` : row.key,
      isOfCustomer ? JSON.stringify({ ...Object(body), ...erased }) : row.body,
    ]);
  }
}

async function eraseInAuditLog(scope: Scope, redaction: Redaction): Promise<void> {
  const events = await scope.query<{ id: string; detail: string | null; previous: string | null }>(
    `select id, detail, previous from audit_events
     where organization_id = $1 and (detail ilike any($2) or previous ilike any($2)) for update`,
    [redaction.patterns],
  );
  for (const { id, detail, previous } of events) {
    await scope.query('update audit_events set detail = $3, previous = $4 where organization_id = $1 and id = $2', [
      id,
      redaction.of(detail),
      redaction.of(previous),
    ]);
  }
}
