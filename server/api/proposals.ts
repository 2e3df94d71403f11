/** The proposals of the calling organization; v1 reads them. */
import type { ListedProposal, ProposalListQuery, Proposal as ProposalBody } from '../../contract/proposals.ts';
import type { V1 } from '../../contract/v1.ts';
import { Proposal } from '../entities/proposal.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { printTotal } from '../records/money.ts';
import { Problem } from '../problems/problem.ts';
import type { Handlers } from './handler.ts';
import { holdsWord, listPage, searchFor, when } from './list.ts';
import type { ListOf } from './list.ts';
import { presentMetadata } from '../records/metadata.ts';
import { lineColumn, presentLine } from './proposal-lines.ts';
import type { LineRow } from './proposal-lines.ts';
import { atLeast, below, columnsOf, equal, nothing, readOne } from '../records/read.ts';
import type { Condition, Source } from '../records/read.ts';

type Row = Omit<Proposal, 'transactionStart'> & {
  customerName: string | null;
  customerCompanyName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
};

export const proposals: Handlers<V1['proposals']> = {
  async list({ query, baseUrl }, caller) {
    const { include } = query;
    const list = include?.includes('lineItems') ? listWithLines : plainList;
    return { status: 200, body: await listPage(caller, baseUrl, query, list) };
  },

  async get({ params }, caller) {
    const row = await readOne<Row & { lines: LineRow[] }>(caller, withLines, storedId('proposal', params.proposalId));
    if (!row) throw new Problem('not_found', 'There is no proposal with this id.');
    return { status: 200, body: presentWithLines(row) };
  },
};

const source: Source = {
  from: 'proposals t left join customers c on c.organization_id = t.organization_id and c.id = t.customer_id',
  columns: `${columnsOf(Proposal, 't')}, c.name as "customerName", c.company_name as "customerCompanyName",
    c.email as "customerEmail", c.phone as "customerPhone"`,
};
/** In the same statement as the proposal, so that lines and totals are of one moment. */
const withLines: Source = { from: source.from, columns: `${source.columns}, ${lineColumn} as "lines"` };

type Filters = Omit<ProposalListQuery, 'limit' | 'cursor' | 'sort' | 'include'>;

const plainList: ListOf<Row, ListedProposal, Filters> = {
  path: 'proposals',
  source,
  orders: {
    createdAt: { column: 'created_at', value: ({ createdAt }) => createdAt },
    updatedAt: { column: 'updated_at', value: ({ updatedAt }) => updatedAt },
    statusChangedAt: { column: 'status_changed_at', value: ({ statusChangedAt }) => statusChangedAt },
  },
  conditions: ({ status, customerId, number, expiresBefore, statusChangedSince, statusChangedBefore, q }) => [
    ...when(
      status,
      (values): Condition =>
        (bind) =>
          `t.status = any(${bind(values)})`,
    ),
    ...when(customerId, isCustomer),
    ...when(number, (value) => equal('t.number', value)),
    ...when(expiresBefore, (time) => below('t.expires_at', time)),
    ...when(statusChangedSince, (time) => atLeast('t.status_changed_at', time)),
    ...when(statusChangedBefore, (time) => below('t.status_changed_at', time)),
    ...searchFor(q, inProposalOrCustomerName),
  ],
  present: presentHead,
};
const listWithLines: ListOf<Row & { lines: LineRow[] }, ListedProposal, Filters> = {
  ...plainList,
  source: withLines,
  present: presentWithLines,
};

function isCustomer(id: string): Condition {
  const stored = storedId('customer', id);
  return stored ? equal('t.customer_id', stored) : nothing;
}

/** The customers are found first, in their own index, so that the proposals can be found in theirs. */
function inProposalOrCustomerName(word: string): Condition {
  return (bind) => {
    const named = `select n.id from customers n where n.organization_id = $1
      and ${holdsWord('n.search', word)(bind)} and ${holdsWord('n.name_key', word)(bind)}`;
    return `(${holdsWord('t.search', word)(bind)} or t.customer_id = any(array(${named})))`;
  };
}

const headOf = (row: Row) => ({
  id: publicId('proposal', row.id),
  number: row.number,
  title: row.title,
  status: row.status,
  statusChangedAt: row.statusChangedAt,
  customerId: row.customerId && publicId('customer', row.customerId),
  customer:
    row.customerId === null || row.customerName === null
      ? null
      : {
          id: publicId('customer', row.customerId),
          name: row.customerName,
          companyName: row.customerCompanyName,
          email: row.customerEmail,
          phone: row.customerPhone,
        },
  currency: row.currency,
  subtotal: printTotal(row.subtotal, row.currency),
  discountTotal: printTotal(row.discountTotal, row.currency),
  taxTotal: printTotal(row.taxTotal, row.currency),
  total: printTotal(row.total, row.currency),
});

const tailOf = (row: Row) => ({
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

function presentHead(row: Row): ListedProposal {
  return { ...headOf(row), ...tailOf(row) };
}

function presentWithLines(row: Row & { lines: LineRow[] }): ProposalBody {
  const lineItems = row.lines.map((line) => presentLine(line, row.currency));
  return { ...headOf(row), lineItems, ...tailOf(row) };
}
