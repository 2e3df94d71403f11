/**
 * What an erasure does to each table that may hold a customer's personal data. Every stored property is listed: adding one
 * to an entity but not here does not compile.
 */
import type { AuditEvent } from '../entities/audit-event.ts';
import type { IdempotencyKey } from '../entities/idempotency-key.ts';
import type { Proposal, ProposalLine } from '../entities/proposal.ts';
import type { ImportMapping, Upload } from '../entities/upload.ts';
import type { WebhookDelivery } from '../entities/webhook.ts';
import { exactFields } from './merge-patch.ts';
import type { Redaction } from './redaction.ts';

const isKept = Symbol('kept');
type Column<Row, Name extends keyof Row> =
  | typeof isKept
  | ((value: Row[Name], redaction: Redaction, row: { id: string }) => Row[Name]);
/** Derived columns are recomputed; the last two are not stored. */
type Derived =
  | 'nameKey'
  | 'nameSearch'
  | 'emailKey'
  | 'phoneKey'
  | 'search'
  | 'tokens'
  | 'transactionStart'
  | 'requestStart';
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

/** One rule for several properties. */
const each = <Rule, const Name extends string>(rule: Rule, names: readonly Name[]) =>
  // Object.fromEntries loses the names.
  Object.fromEntries(names.map((name) => [name, rule])) as { [Property in Name]: Rule };

/** Properties that stay as they are. */
export const kept = <const Name extends string>(...names: Name[]) => each(isKept, names);
export const erased = <const Name extends string>(...names: Name[]) => each(() => null, names);
const redacted = <const Name extends string>(...names: Name[]) =>
  each(<T extends string | null>(text: T, redaction: Redaction): T | string => redaction.redact(text), names);

/** Neither more nor less than the stored properties. */
export const erasureOf = <Row>() => exactFields<Erasure<Row>>();

export const erasedName = 'Erased customer';

export const alwaysKept = kept('organizationId', 'id', 'createdAt');

/** Number, owner and externalId belong to the organization; free text is redacted. */
export const proposalErasure = erasureOf<Proposal>()({
  ...alwaysKept,
  ...kept('number', 'status', 'statusChangedAt', 'customerId', 'currency', 'lineItemCount', 'owner', 'externalId'),
  ...kept('subtotal', 'discountTotal', 'taxTotal', 'total', 'revision', 'updatedAt'),
  ...kept('sentAt', 'viewedAt', 'acceptedAt', 'declinedAt', 'expiredAt', 'canceledAt', 'expiresAt'),
  // Changed with the customer's name, in the same statement.
  ...kept('customerKey'),
  ...redacted('title', 'notes', 'terms', 'declineReason'),
  acceptedBy: (person) => person && { name: erasedName, email: null },
  publicUrl: (url, redaction) => (redaction.finds(url) ? null : url),
  metadata: (metadata, redaction) => redaction.redactMembers(metadata),
});

export const lineErasure = erasureOf<ProposalLine>()({
  ...kept('organizationId', 'id', 'proposalId', 'position', 'itemId', 'type', 'optional', 'selected'),
  ...kept('quantity', 'unitPrice', 'discountAmount', 'taxRate', 'subtotal', 'taxAmount', 'total'),
  ...redacted('name', 'description', 'sku', 'unit'),
});

export const auditErasure = erasureOf<AuditEvent>()({
  ...alwaysKept,
  ...kept('kind', 'action', 'memberId', 'keyId', 'subjectId', 'reason', 'ipAddress'),
  ...redacted('detail', 'previous'),
});

/** The results of an import stay. What is known about the file is erased with it, because it may hold anyone's data. */
export const uploadErasure = erasureOf<Upload>()({
  ...alwaysKept,
  ...kept('memberId', 'kind', 'bytesRead', 'bytesTotal', 'rowsRead', 'records', 'activeAt'),
  // Set separately, to the time of the erasure.
  ...kept('erasedAt'),
  ...redacted('fileName'),
  ...erased('inspection', 'failure'),
  mapping: () => ({}),
  state: (state) => (state === 'imported' ? state : 'failed'),
  rows: () => [],
  summary: (summary) => summary && { ...summary, notes: [], errors: [] },
});

/** A file without a header has data where others have column names. */
export const mappingErasure = erasureOf<ImportMapping>()({
  ...kept('organizationId', 'id', 'kind'),
  choices: ({ map, columns, ...choices }, redaction) => ({
    ...choices,
    ...(map && { map: Object.fromEntries(Object.entries(map).filter(([column]) => !redaction.finds(column))) }),
    ...(columns && { columns: columns.filter((column) => !redaction.finds(column)) }),
  }),
});

/** Erases what was sent, and what the receiver responded. */
export const deliveryErasure = erasureOf<WebhookDelivery>()({
  ...kept('organizationId', 'id', 'endpointId', 'type', 'recordId', 'happenedAt', 'foundAt', 'state', 'dueAt'),
  ...kept('attempts', 'attemptedAt', 'status', 'durationMs', 'error'),
  ...erased('request', 'response'),
});

/** A repeated request gets the response that it would get if the customer had been created without its data. */
export const responseErasure = (customerId: string, shown: object) =>
  erasureOf<IdempotencyKey>()({
    ...alwaysKept,
    // The fingerprint too, although it could confirm a guess at the customer's data.
    ...kept('operation', 'fingerprint', 'status', 'location'),
    key: (key, redaction, { id }) => (redaction.finds(key) ? `erased ${id}` : key),
    body(text) {
      const body: unknown = JSON.parse(text);
      return Reflect.get(Object(body), 'id') === customerId ? JSON.stringify({ ...Object(body), ...shown }) : text;
    },
  });
