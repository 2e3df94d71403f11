/** The proposals of the calling organization; read-only in v1. */
import { proposalListQuery } from '../../contract/proposals.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Proposal } from '../entities/proposal.ts';
import { Problem } from '../problems/problem.ts';
import {
  presentListed,
  presentProposal,
  presentWithBoth,
  presentWithCustomer,
  proposalIndex,
  proposalSelection,
  proposalWithBoth,
  proposalWithCustomer,
  proposalWithLines,
} from '../records/proposal.ts';
import { storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { atLeast, below, equal, exactly, marked, nothing } from '../records/sql.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listOf, listPage } from './list.ts';
import { record } from './reply.ts';
import { textSearch } from './search.ts';

export const proposals: Handlers<V1['proposals']> = {
  list(request, caller) {
    const include = request.query.include ?? [];
    const [lines, customer] = [include.includes('lineItems'), include.includes('customer')];
    if (lines && customer) return listPage(caller, request, listWithBoth);
    if (lines) return listPage(caller, request, listWithLines);
    return customer ? listPage(caller, request, listWithCustomer) : listPage(caller, request, proposalList);
  },

  async get({ params }, caller) {
    const id = storedId('proposal', params.proposalId);
    const row = id && (await readOne(caller, proposalWithLines, exactly('id', id)));
    if (!row) throw new Problem('not_found', { record: 'proposal' });
    return record(presentProposal(row));
  },
};

export const proposalList = listOf({
  path: 'proposals',
  query: proposalListQuery,
  selection: proposalSelection,
  index: proposalIndex,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', statusChangedAt: 'statusChangedAt' },
  filters: {
    ...commonFilters<Proposal>('proposal'),
    status: (values) => marked('status', ...values),
    customerId: (id) => {
      const stored = storedId('customer', id);
      return stored ? equal('customerId', stored, { type: 'uuid', ordered: 'createdAt' }) : nothing();
    },
    number: (value) => exactly('number', value),
    currency: (code) => marked('currency', code),
    acceptedSince: (time) => atLeast('acceptedAt', time),
    acceptedBefore: (time) => below('acceptedAt', time),
    expiresSince: (time) => atLeast('expiresAt', time),
    expiresBefore: (time) => below('expiresAt', time),
    statusChangedSince: (time) => atLeast('statusChangedAt', time),
    statusChangedBefore: (time) => below('statusChangedAt', time),
    q: textSearch<Proposal>,
  },
  present: presentListed,
});
const listWithLines = listOf({ ...proposalList, selection: proposalWithLines, present: presentProposal });
const listWithCustomer = listOf({ ...proposalList, selection: proposalWithCustomer, present: presentWithCustomer });
const listWithBoth = listOf({ ...proposalList, selection: proposalWithBoth, present: presentWithBoth });
