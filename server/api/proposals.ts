/** The proposals of the calling organization; read-only in v1. */
import { proposalListQuery } from '../../contract/proposals.ts';
import type { ListedProposal, Proposal as ProposalBody } from '../../contract/proposals.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Proposal } from '../entities/proposal.ts';
import { Problem } from '../problems/problem.ts';
import { presentMetadata } from '../records/metadata.ts';
import { printTotal } from '../records/money.ts';
import { proposalSelection, proposalWithLines } from '../records/proposal.ts';
import type { ProposalRow, ProposalWithLinesRow } from '../records/proposal.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { anyOf, atLeast, below, equal, exactly, nothing } from '../records/sql.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listPage } from './list.ts';
import type { ListOf } from './list.ts';
import { presentLine } from './proposal-lines.ts';
import { record } from './reply.ts';
import { inText } from './search.ts';

export const proposals: Handlers<V1['proposals']> = {
  list(request, caller) {
    return request.query.include?.includes('lineItems')
      ? listPage(caller, request, listWithLines)
      : listPage(caller, request, list);
  },

  async get({ params }, caller) {
    const id = storedId('proposal', params.proposalId);
    const row = id && (await readOne(caller, proposalWithLines, exactly('id', id)));
    if (!row) throw new Problem('not_found', { record: 'proposal' });
    return record(presentWithLines(row));
  },
};

const list: ListOf<typeof proposalListQuery, Proposal, ProposalRow, ListedProposal> = {
  path: 'proposals',
  query: proposalListQuery,
  selection: proposalSelection,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', statusChangedAt: 'statusChangedAt' },
  filters: {
    ...commonFilters<Proposal>(),
    status: (values) => anyOf('status', values),
    customerId: (id) => {
      const stored = storedId('customer', id);
      return stored ? equal('customerId', stored) : nothing();
    },
    number: (value) => exactly('number', value),
    expiresBefore: (time) => below('expiresAt', time),
    statusChangedSince: (time) => atLeast('statusChangedAt', time),
    statusChangedBefore: (time) => below('statusChangedAt', time),
    q: inText<Proposal>,
  },
  present: (row) => ({ ...headOf(row), ...tailOf(row) }),
};
const listWithLines: ListOf<typeof proposalListQuery, Proposal, ProposalWithLinesRow, ListedProposal> = {
  ...list,
  selection: proposalWithLines,
  present: presentWithLines,
};

const headOf = (row: ProposalRow) => ({
  id: publicId('proposal', row.id),
  number: row.number,
  title: row.title,
  status: row.status,
  statusChangedAt: row.statusChangedAt,
  customerId: row.customerId && publicId('customer', row.customerId),
  customer:
    row.customerId === null || row['customer.name'] === null
      ? null
      : {
          id: publicId('customer', row.customerId),
          name: row['customer.name'],
          companyName: row['customer.companyName'],
          email: row['customer.email'],
          phone: row['customer.phone'],
        },
  currency: row.currency,
  subtotal: printTotal(row.subtotal, row.currency),
  discountTotal: printTotal(row.discountTotal, row.currency),
  taxTotal: printTotal(row.taxTotal, row.currency),
  total: printTotal(row.total, row.currency),
});

const tailOf = (row: ProposalRow) => ({
  lineItemCount: row.lineItemCount,
  notes: row.notes,
  terms: row.terms,
  sentAt: row.sentAt,
  viewedAt: row.viewedAt,
  acceptedAt: row.acceptedAt,
  declinedAt: row.declinedAt,
  expiredAt: row.expiredAt,
  canceledAt: row.canceledAt,
  acceptedBy: row.acceptedBy && { name: row.acceptedBy.name, email: row.acceptedBy.email },
  declineReason: row.declineReason,
  expiresAt: row.expiresAt,
  publicUrl: row.publicUrl,
  owner: row.owner && { name: row.owner.name, email: row.owner.email },
  externalId: row.externalId,
  metadata: presentMetadata(row.metadata),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

function presentWithLines(row: ProposalWithLinesRow): ProposalBody {
  const lineItems = row.lines.map((line) => presentLine(line, row.currency));
  return { ...headOf(row), lineItems, ...tailOf(row) };
}
