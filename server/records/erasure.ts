/**
 * What an erasure does to each table that may hold a customer's personal data. Every stored property is listed: adding one
 * to an entity but not here does not compile.
 */
import type { AuditEvent } from '../entities/audit-event.ts';
import type { IdempotencyKey } from '../entities/idempotency-key.ts';
import type { Proposal, ProposalLine } from '../entities/proposal.ts';
import type { ImportMapping, Upload } from '../entities/upload.ts';
import type { WebhookDelivery } from '../entities/webhook.ts';
import type { Redaction } from './redaction.ts';

export const kept = Symbol('kept');
type Column<Row, Name extends keyof Row> =
  | typeof kept
  | ((value: Row[Name], redaction: Redaction, row: { id: string }) => Row[Name]);
/** Derived columns are recomputed; `transactionStart` is not stored. */
type Derived = 'nameKey' | 'nameSearch' | 'emailKey' | 'phoneKey' | 'search' | 'tokens' | 'transactionStart';
export type Erasure<Row> = { readonly [Name in Exclude<keyof Row, Derived | symbol>]: Column<Row, Name> };

/** The properties that an erasure changes, with their new values. */
export function erasedFrom<Row extends { id: string }>(
  erasure: Erasure<Row>,
  row: { id: string },
  redaction: Redaction,
): Partial<Row> {
  const changes = Object.entries(erasure).flatMap(([name, column]) =>
    typeof column === 'function' ? [[name, column(Reflect.get(row, name), redaction, row)]] : [],
  );
  // Object.fromEntries loses the types of the values.
  return Object.fromEntries(changes) as Partial<Row>;
}

export const erased = () => null;
const redacted = <T extends string | null>(text: T, redaction: Redaction): T | string => redaction.redact(text);

export const erasedName = 'Erased customer';

export const alwaysKept = { organizationId: kept, id: kept, createdAt: kept } as const;

/** Number, owner and externalId belong to the organization; free text is redacted. */
export const proposalErasure: Erasure<Proposal> = {
  ...alwaysKept,
  number: kept,
  title: redacted,
  status: kept,
  statusChangedAt: kept,
  customerId: kept,
  currency: kept,
  subtotal: kept,
  discountTotal: kept,
  taxTotal: kept,
  total: kept,
  lineItemCount: kept,
  notes: redacted,
  terms: redacted,
  sentAt: kept,
  viewedAt: kept,
  acceptedAt: kept,
  declinedAt: kept,
  expiredAt: kept,
  canceledAt: kept,
  acceptedBy: (person) => person && { name: erasedName, email: null },
  declineReason: redacted,
  expiresAt: kept,
  publicUrl: (url, redaction) => (redaction.finds(url) ? null : url),
  owner: kept,
  externalId: kept,
  metadata: (metadata, redaction) => redaction.redactMembers(metadata),
  revision: kept,
  updatedAt: kept,
  // Changed with the customer's name, in the same statement.
  customerKey: kept,
};

export const lineErasure: Erasure<ProposalLine> = {
  organizationId: kept,
  id: kept,
  proposalId: kept,
  position: kept,
  itemId: kept,
  type: kept,
  name: redacted,
  description: redacted,
  sku: redacted,
  quantity: kept,
  unit: redacted,
  unitPrice: kept,
  discountAmount: kept,
  taxRate: kept,
  subtotal: kept,
  taxAmount: kept,
  total: kept,
  optional: kept,
  selected: kept,
};

export const auditErasure: Erasure<AuditEvent> = {
  ...alwaysKept,
  kind: kept,
  action: kept,
  memberId: kept,
  keyId: kept,
  subjectId: kept,
  detail: redacted,
  previous: redacted,
  reason: kept,
  ipAddress: kept,
};

/** The results of an import stay. What is known about the file is erased with it, because it may hold anyone's data. */
export const uploadErasure: Erasure<Upload> = {
  ...alwaysKept,
  memberId: kept,
  kind: kept,
  fileName: redacted,
  mapping: () => ({}),
  inspection: erased,
  state: (state) => (state === 'imported' ? state : 'failed'),
  bytesRead: kept,
  bytesTotal: kept,
  rowsRead: kept,
  rows: () => [],
  summary: (summary) => summary && { ...summary, notes: [], errors: [] },
  records: kept,
  failure: erased,
  // Set separately, to the time of the erasure.
  erasedAt: kept,
  activeAt: kept,
};

/** A file without a header has data where others have column names. */
export const mappingErasure: Erasure<ImportMapping> = {
  organizationId: kept,
  id: kept,
  kind: kept,
  choices: ({ map, columns, ...choices }, redaction) => ({
    ...choices,
    ...(map && { map: Object.fromEntries(Object.entries(map).filter(([column]) => !redaction.finds(column))) }),
    ...(columns && { columns: columns.filter((column) => !redaction.finds(column)) }),
  }),
};

/** Erases what was sent, and what the receiver responded. */
export const deliveryErasure: Erasure<WebhookDelivery> = {
  organizationId: kept,
  id: kept,
  endpointId: kept,
  type: kept,
  recordId: kept,
  happenedAt: kept,
  foundAt: kept,
  state: kept,
  dueAt: kept,
  attempts: kept,
  attemptedAt: kept,
  status: kept,
  durationMs: kept,
  error: kept,
  request: erased,
  response: erased,
};

/** A repeated request gets the response that it would get if the customer had been created without its data. */
export const responseErasure = (customerId: string, shown: object): Erasure<IdempotencyKey> => ({
  ...alwaysKept,
  operation: kept,
  key: (key, redaction, { id }) => (redaction.finds(key) ? `erased ${id}` : key),
  // Kept, although it could confirm a guess at the customer's data.
  fingerprint: kept,
  status: kept,
  location: kept,
  body(text) {
    const body: unknown = JSON.parse(text);
    return Reflect.get(Object(body), 'id') === customerId ? JSON.stringify({ ...Object(body), ...shown }) : text;
  },
});
