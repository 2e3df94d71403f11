import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/core';
import { proposalImport, requiredOfNewProposal } from './schemas.ts';
import type { ProposalImport } from './schemas.ts';
import { proposal } from '../../contract/proposals.ts';
import { proposalTotals } from '../records/money.ts';
import { Customer } from '../entities/customer.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { publicId } from '../records/public-id.ts';
import { Claims } from './claims.ts';
import type { Kind, Outcome, Refusal } from './kind.ts';
import { byExternalId, change, externalIds, refuseMissing } from './merge.ts';
import { costLines, loadItemIds, replaceLines, resolveLines } from './proposal-lines.ts';
import type { CostedLine, LineInput } from './proposal-lines.ts';
import { mergeHead, refuseHead } from './proposal-head.ts';
import type { Head } from './proposal-head.ts';

type Loaded = {
  em: EntityManager;
  currency: string;
  proposals: Map<string, Proposal>;
  linesOf: Map<string, ProposalLine[]>;
  customerIds: Map<string, string>;
  itemIds: Map<string, string>;
};

export const proposals: Kind<ProposalImport> = {
  schema: proposalImport,
  record: proposal,
  tables: ['proposals', 'proposal_lines'],
  weigh: ({ lineItems = [] }) => 1 + lineItems.length,
  async load(em, { currency }, rows) {
    const where = { externalId: { $in: externalIds(rows) } };
    const stored = byExternalId(
      await em.find(Proposal, where, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } }),
    );
    const loaded = {
      em,
      currency,
      proposals: stored,
      linesOf: await loadLines(em, rows, stored),
      customerIds: await loadCustomerIds(em, rows),
      itemIds: await loadItemIds(em, rows),
    };
    const numbers = await loadClaims(em, rows);
    return (row) => {
      const clash = numbers.refuse('number', row.number);
      if (clash.length > 0) return clash;
      const outcome = importProposal(row, loaded);
      if (typeof outcome === 'string') numbers.claim(row.number, row);
      return outcome;
    };
  },
};

async function loadClaims(em: EntityManager, rows: readonly ProposalImport[]): Promise<Claims> {
  const numbers = rows.map(({ number }) => number).filter((number) => number !== undefined);
  const holders = await em.find(
    Proposal,
    { number: { $in: numbers } },
    { fields: ['number', 'externalId'], disableIdentityMap: true },
  );
  return new Claims(
    'number_taken',
    holders.map(({ number, externalId, id }) => ({ key: number, externalId, holder: publicId('proposal', id) })),
    rows,
  );
}

async function loadCustomerIds(em: EntityManager, rows: readonly ProposalImport[]): Promise<Map<string, string>> {
  const wanted = new Set(rows.map((row) => row.customerExternalId).filter((id) => typeof id === 'string'));
  if (wanted.size === 0) return new Map();
  const where = { externalId: { $in: [...wanted] } };
  const found = await em.find(Customer, where, { fields: ['externalId'], disableIdentityMap: true });
  return new Map(found.map(({ externalId, id }) => [externalId ?? '', id]));
}

/** The lines of those proposals whose lines may change: replaced, or costed anew in another currency. */
async function loadLines(em: EntityManager, rows: readonly ProposalImport[], stored: Map<string, Proposal>) {
  const linesOf = new Map<string, ProposalLine[]>();
  for (const row of rows) {
    const found = stored.get(row.externalId);
    if (found && (row.lineItems || (row.currency ?? found.currency) !== found.currency)) linesOf.set(found.id, []);
  }
  if (linesOf.size === 0) return linesOf;
  const lines = await em.find(
    ProposalLine,
    { proposalId: { $in: [...linesOf.keys()] } },
    { orderBy: { position: 'asc' } },
  );
  for (const line of lines) linesOf.get(line.proposalId)?.push(line);
  return linesOf;
}

function importProposal(row: ProposalImport, loaded: Loaded): Outcome {
  const stored = loaded.proposals.get(row.externalId);
  const { number, title, status, customerExternalId } = row;
  const unknown: Refusal[] = [];
  const customerId =
    typeof customerExternalId === 'string' ? loaded.customerIds.get(customerExternalId) : customerExternalId;
  if (typeof customerExternalId === 'string' && customerId === undefined) {
    unknown.push({
      field: 'customerExternalId',
      code: 'not_found',
      message: `is the externalId of no customer: ${customerExternalId}`,
    });
  }
  const lines = row.lineItems && resolveLines(row.lineItems, loaded.itemIds, unknown);
  if (stored) {
    const head = mergeHead(row, customerId, stored);
    const kept = head.currency === stored.currency ? undefined : loaded.linesOf.get(stored.id);
    return update(stored, head, lines ?? kept, unknown, loaded);
  }
  if (number === undefined || title === undefined || status === undefined) {
    return [...refuseMissing(row, requiredOfNewProposal), ...unknown];
  }
  const fresh = { number, title, status, currency: loaded.currency, createdAt: new Date().toISOString(), metadata: {} };
  return create(mergeHead(row, customerId, fresh), lines ?? [], unknown, loaded);
}

function create(head: Head, lines: LineInput[], unknown: Refusal[], { em }: Loaded): Outcome {
  const { costed, refusals } = costLines(lines, head.currency);
  const refused = [...unknown, ...refuseHead(head, unknown), ...refusals];
  if (refused.length > 0) return refused;
  const id = uuidv7();
  em.create(Proposal, { id, ...head, ...countedIn(costed, head.currency) });
  replaceLines(em, id, [], costed);
  return 'created';
}

/** `lines` is undefined where they stay as they are. */
function update(
  stored: Proposal,
  head: Head,
  lines: LineInput[] | undefined,
  unknown: Refusal[],
  loaded: Loaded,
): Outcome {
  const { costed, refusals } = costLines(lines ?? [], head.currency);
  const refused = [...unknown, ...refuseHead(head, unknown), ...refusals];
  if (refused.length > 0) return refused;
  const totals = lines ? countedIn(costed, head.currency) : {};
  const linesChanged =
    lines !== undefined && replaceLines(loaded.em, stored.id, loaded.linesOf.get(stored.id) ?? [], costed);
  const headChanged = change(stored, { ...head, ...totals });
  // Lines are rows of their own: without this, the proposal's would not be written, nor its updatedAt moved.
  if (linesChanged && !headChanged) moveUpdatedAt(stored);
  return linesChanged || headChanged ? 'updated' : 'unchanged';
}

function moveUpdatedAt(stored: Proposal): void {
  const { transactionStart, updatedAt } = stored;
  if (transactionStart > updatedAt) stored.updatedAt = transactionStart;
}

function countedIn(lines: readonly CostedLine[], currency: string) {
  return { ...proposalTotals(lines, currency), lineItemCount: lines.length };
}
