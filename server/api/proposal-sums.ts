/** Sums of proposals by currency, for agents that would otherwise read every page. Not an operation of the HTTP API. */
import { z } from 'zod';
import { choicesParameter } from '../../contract/parameters.ts';
import { proposalListQuery, proposals } from '../../contract/proposals.ts';
import type { Proposal } from '../entities/proposal.ts';
import type { Caller } from '../keys/caller.ts';
import { parameterProblem } from '../problems/problem.ts';
import type { Problem } from '../problems/problem.ts';
import { printTotal } from '../records/money.ts';
import { proposalIndex, proposalSelection } from '../records/proposal.ts';
import { readSums, sumBounds } from '../records/sums.ts';
import type { ExceededBound, Grouping } from '../records/sums.ts';
import { conditionsOf, explainSlowRead } from './list.ts';
import { proposalList } from './proposals.ts';
import { plain } from './reply.ts';

const groupings = {
  status: { property: 'status' },
  createdMonth: { property: 'createdAt', month: true },
  sentMonth: { property: 'sentAt', month: true },
  acceptedMonth: { property: 'acceptedAt', month: true },
} as const satisfies Grouping<Proposal>['by'];
// Object.keys gives the names of the object above.
const groupNames = Object.keys(groupings) as (keyof typeof groupings)[];

const { limit: _limit, cursor: _cursor, sort: _sort, include: _include, ...filters } = proposalListQuery.shape;
const sumProposalsQuery = z.strictObject({
  ...filters,
  groupBy: choicesParameter(groupNames, { description: 'Besides currency; months are UTC.' }),
});

export const sumProposals = {
  ...proposals.list,
  summary: 'Sum proposals',
  query: sumProposalsQuery,
  metadata: { ...proposals.list.metadata, operationId: 'sumProposals' },
};

type Query = z.output<typeof sumProposalsQuery>;

export async function handleSums({ query: { groupBy = [], ...query } }: { query: Query }, caller: Caller) {
  const by = Object.fromEntries(groupBy.map((name) => [name, groupings[name]]));
  const conditions = conditionsOf(query, proposalList.filters);
  const sums = await explainSlowRead(query, proposalList.filters, () =>
    readSums(
      caller,
      { selection: proposalSelection, index: proposalIndex, conditions },
      { summed: 'total', by: { currency: { property: 'currency' }, ...by } },
    ),
  );
  if (typeof sums === 'string') throw boundExceeded(sums);
  return plain({
    count: sums.reduce((all, { count }) => all + count, 0),
    sums: sums.map(({ count, sum, group }) => ({ ...group, count, total: printTotal(sum, group.currency ?? '') })),
  });
}

function boundExceeded(excess: ExceededBound): Problem {
  const most = sumBounds[excess].toLocaleString('en-US');
  return excess === 'groups'
    ? parameterProblem('groupBy', `makes more than ${most} groups: group by fewer fields, or filter by time`)
    : parameterProblem('createdSince', `or another filter must narrow the sum: more than ${most} proposals match`);
}
