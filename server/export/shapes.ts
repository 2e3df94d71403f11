/** Turns stored records into exported ones, with every field that an import reads: a missing field does not compile. */
import type { z } from 'zod';
import type { ResourceName } from '../../contract/v1.ts';
import type { Database } from '../database/orm.ts';
import type { Session } from '../database/session.ts';
import type { Customer } from '../entities/customer.ts';
import type { Item } from '../entities/item.ts';
import type { Proposal } from '../entities/proposal.ts';
import { columnsOf } from '../import/fields.ts';
import { customerImport, itemImport, proposalImport } from '../import/schemas.ts';
import type { CustomerImport, ItemImport, LineImport, ProposalImport } from '../import/schemas.ts';
import { presentCustomer } from '../records/customer.ts';
import { presentItem } from '../records/item.ts';
import { presentMetadata } from '../records/metadata.ts';
import { printNumber, printPrice, printTotal } from '../records/money.ts';
import { publicId } from '../records/public-id.ts';
import { withReferences } from './references.ts';
import type { ExportedProposal } from './references.ts';

export type Shape<Read, Shown = Read, Fields = Record<string, unknown>> = {
  /** Of a CSV file: fields of the document, with a dot for one inside an object; metadata follows. */
  columns: readonly string[];
  /** The records of a page in groups, together with what the file needs from other records; none if it needs nothing. */
  complete?(session: Session, orm: Database['orm'], page: Read[], hasLines: boolean): Iterable<Promise<Shown[]>>;
  document(shown: Shown): Record<keyof Fields, unknown>;
};

/** The columns that an import of the kind knows, starting with those that identify the record. */
const columnsFor = (schema: z.ZodObject) => [...new Set(['id', 'externalId', ...columnsOf(schema)])];

const customers: Shape<Customer, Customer, CustomerImport> = {
  columns: columnsFor(customerImport),
  document(customer) {
    const { id, externalId, erasedAt: _erased, updatedAt: _updated, etag: _etag, ...rest } = presentCustomer(customer);
    return { id, externalId, ...rest, website: customer.website };
  },
};

const items: Shape<Item, Item, ItemImport> = {
  columns: columnsFor(itemImport),
  document(item) {
    const { id, externalId, updatedAt: _updated, etag: _etag, ...rest } = presentItem(item);
    return { id, externalId, ...rest, imageUrl: item.imageUrl };
  },
};

const totalFields = ({ currency, subtotal, discountTotal, taxTotal, total }: Proposal) => ({
  subtotal: printTotal(subtotal, currency),
  discountTotal: printTotal(discountTotal, currency),
  taxTotal: printTotal(taxTotal, currency),
  total: printTotal(total, currency),
});

/** A record is referred to by its externalId, or by its id if it has none: an id is valid only in its organization. */
const idOf = (kind: 'customer' | 'item', externalId: string | null, id: string | null) =>
  externalId === null && id !== null ? publicId(kind, id) : undefined;

const proposals: Shape<Proposal, ExportedProposal, ProposalImport> = {
  columns: columnsFor(proposalImport),
  complete: withReferences,
  document(proposal) {
    const { externalId, number, title, status, statusChangedAt, customerExternalId, currency } = proposal;
    const { sentAt, viewedAt, acceptedAt, declinedAt, expiredAt, canceledAt, expiresAt } = proposal;
    const { acceptedBy, owner, notes, terms, declineReason, publicUrl, createdAt } = proposal;
    const id = publicId('proposal', proposal.id);
    const customerId = idOf('customer', customerExternalId, proposal.customerId);
    const head = { id, externalId, number, title, status, statusChangedAt, customerExternalId, customerId, currency };
    const events = { sentAt, viewedAt, acceptedAt, declinedAt, expiredAt, canceledAt, expiresAt };
    const rest = { acceptedBy, owner, notes, terms, declineReason, publicUrl, createdAt };
    const metadata = presentMetadata(proposal.metadata);
    const lineItems = proposal.lines.map((line) => lineDocument(line, currency));
    return { ...head, ...totalFields(proposal), ...events, ...rest, metadata, lineItems };
  },
};

export const shapes = { customers, items, proposals } satisfies Record<ResourceName, object>;

function lineDocument(line: ExportedProposal['lines'][number], currency: string): Record<keyof LineImport, unknown> {
  const { itemExternalId, type, name, description, sku, unit, optional, selected } = line;
  const itemId = idOf('item', itemExternalId, line.itemId);
  const quantity = printNumber(line.quantity);
  const unitPrice = printPrice(line.unitPrice, currency);
  const discountAmount = printTotal(line.discountAmount, currency);
  const taxRate = line.taxRate === null ? null : printNumber(line.taxRate);
  const what = { type, name, description, sku, quantity, unit, unitPrice, discountAmount, taxRate, optional, selected };
  return { itemExternalId, itemId, ...what };
}

/** The cells of a record, in the order of the columns; a dot stands for a field inside an object. */
export function cellsOf(columns: readonly string[]): (document: object) => string[] {
  const paths = columns.map((column) => {
    const [field = ''] = column.split('.', 1);
    return { field, inner: field === column ? undefined : column.slice(field.length + 1) };
  });
  return (document) =>
    paths.map(({ field, inner }) => {
      const value: unknown = Reflect.get(document, field);
      if (inner === undefined) return cellOf(value);
      // A metadata key can be `toString`.
      return Object.hasOwn(Object(value), inner) ? cellOf(Reflect.get(Object(value), inner)) : '';
    });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? tagsCell(value.map(String)) : JSON.stringify(value);
}

/** Tags are separated by semicolons; if one contains a semicolon, they are a JSON array. */
function tagsCell(tags: readonly string[]): string {
  const isAmbiguous = tags.some((tag) => tag.includes(';')) || tags[0]?.startsWith('[');
  return isAmbiguous ? JSON.stringify(tags) : tags.join(';');
}
