import { proposalImport, requiredOfNewProposal } from './schemas.ts';
import type { ProposalImport } from './schemas.ts';
import { trimDecimal } from '../../contract/decimal.ts';
import { proposal } from '../../contract/proposals.ts';
import { proposalTotals } from '../records/money.ts';
import type { ProposalTotals } from '../records/money.ts';
import type { Proposal, ProposalLine } from '../entities/proposal.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { columnsOf } from './fields.ts';
import { rejectMissing } from './kind.ts';
import type { Kind, Rejection, RowResult } from './kind.ts';
import { changesOf, costLines, itemOf, resolveLines } from './proposal-lines.ts';
import type { CostedLine } from './proposal-lines.ts';
import { mergeHead, rejectHead } from './proposal-head.ts';
import type { Base, Head } from './proposal-head.ts';
import { loadReferences } from './references.ts';
import type { References } from './references.ts';
import type { Store } from './store.ts';

export const proposals: Kind<ProposalImport, Proposal> = {
  name: 'proposals',
  id: 'proposal',
  schema: proposalImport,
  record: proposal,
  columns: columnsOf(proposalImport),
  required: requiredOfNewProposal,
  matches: ['externalId'],
  unique: { field: 'number', property: 'number', column: 'number', code: 'number_taken' },
  isFlat: false,
  weigh: ({ lineItems = [] }) => 1 + lineItems.length,
  async planner(store, rows, stored) {
    const lines = rows.flatMap(({ lineItems = [] }) => lineItems);
    const loaded: Loaded = {
      store,
      linesOf: await loadLines(store, rows, stored),
      customers: await loadReferences(store, store.customers, 'customer', rows.map(customerOf)),
      items: await loadReferences(store, store.items, 'item', lines.map(itemOf)),
    };
    return (row, found) => plan(row, found, loaded);
  },
};

const customerOf = ({ customerExternalId: externalId, customerId: id }: ProposalImport) => ({ externalId, id });

type Loaded = { store: Store; linesOf: Map<string, ProposalLine[]>; customers: References; items: References };

/** The lines of the proposals whose lines may change: replaced, or priced again in a different currency. */
async function loadLines(store: Store, rows: readonly ProposalImport[], stored: readonly (Proposal | undefined)[]) {
  const linesOf = new Map<string, ProposalLine[]>();
  rows.forEach((row, index) => {
    const found = stored[index];
    if (found && (row.lineItems || (row.currency ?? found.currency) !== found.currency)) linesOf.set(found.id, []);
  });
  if (linesOf.size === 0) return linesOf;
  const { lines } = store;
  const those = { column: 'proposal_id', values: [...linesOf.keys()], rest: 'order by t.position' };
  for (const row of await store.select(lines, lines.selection, those)) {
    const line = lines.parse(row);
    linesOf.get(line.proposalId)?.push(line);
  }
  return linesOf;
}

function plan(row: ProposalImport, stored: Proposal | undefined, loaded: Loaded): RowResult | Rejection[] {
  const unknown: Rejection[] = [];
  const customerId = loaded.customers.resolve('customer', customerOf(row), unknown);
  const given = row.lineItems && resolveLines(row.lineItems, loaded.items, unknown);
  const base = stored ?? fresh(row, loaded.store);
  if (!base) return [...rejectMissing(row, requiredOfNewProposal), ...unknown];
  const head = mergeHead(row, customerId, base, loaded.store.startedAt);
  const before = loaded.linesOf.get(stored?.id ?? '') ?? [];
  const lines = given ?? (head.currency === stored?.currency ? undefined : before);
  const { costed, rejections } = costLines(lines ?? [], head.currency);
  const totals = lines ? proposalTotals(costed, head.currency) : undefined;
  const wrong = [...unknown, ...rejectHead(head, unknown), ...rejections];
  // Totals computed from wrong values would only repeat the error.
  if (wrong.length === 0) wrong.push(...rejectTotals(row, totals ?? base));
  return wrong.length > 0 ? wrong : result(head, lines && { before, costed, totals }, stored, loaded);
}

function fresh({ number, title, status }: ProposalImport, { organization, startedAt }: Store): Base | undefined {
  if (number === undefined || title === undefined || status === undefined) return undefined;
  const { currency } = organization;
  return { number, title, status, customerId: null, currency, createdAt: startedAt, metadata: {} };
}

type Lines = { before: readonly ProposalLine[]; costed: CostedLine[]; totals: ProposalTotals | undefined };

function result(head: Head, lines: Lines | undefined, stored: Proposal | undefined, { store, customers }: Loaded) {
  const id = stored?.id ?? uuidv7();
  const customerKey = head.customerId ? (customers.nameSearchOf(head.customerId) ?? stored?.customerKey ?? null) : null;
  if (!lines) return { values: { ...head, customerKey, id } };
  const owner = { organizationId: store.session.organizationId, proposalId: id };
  const changes = changesOf(store.lines, owner, lines.before, lines.costed);
  const values = { ...head, customerKey, ...lines.totals, id, lineItemCount: lines.costed.length };
  return { values, ...(changes && { lines: changes }) };
}

const totalNames = ['subtotal', 'discountTotal', 'taxTotal', 'total'] as const;

/** Totals are computed. If a file gives them, they must match, so that a difference is found before a customer sees it. */
function rejectTotals(row: ProposalImport, computed: Partial<ProposalTotals>): Rejection[] {
  return totalNames.flatMap((field) => {
    const [given, come] = [row[field], computed[field]];
    if (given === undefined || come === undefined || trimDecimal(given) === trimDecimal(come)) return [];
    return [{ field, code: 'read_only_field', message: `must be ${trimDecimal(come)}, as computed from the lines` }];
  });
}
