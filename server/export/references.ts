/** What an exported proposal takes from other records: its lines, and the externalIds of its customer and items. */
import type { Database } from '../database/orm.ts';
import type { Session } from '../database/session.ts';
import { ProposalLine } from '../entities/proposal.ts';
import type { Proposal } from '../entities/proposal.ts';
import { recordTable } from '../records/record-table.ts';

/** A proposal together with what the file needs from other records. */
export type ExportedProposal = Proposal & {
  customerExternalId: string | null;
  lines: (ProposalLine & { itemExternalId: string | null })[];
};

/** How many lines to read at a time; a proposal has up to 500. */
const mostLines = 500;

/** Reads the proposals in groups that have few lines in total, or all at once without their lines. */
export function* withReferences(
  session: Session,
  orm: Database['orm'],
  page: readonly Proposal[],
  hasLines: boolean,
): Generator<Promise<ExportedProposal[]>> {
  if (hasLines)
    for (const group of groupsOf(page))
      yield readLines(session, orm, group).then((lines) => referencesOf(session, group, lines));
  else yield referencesOf(session, page, []);
}

function* groupsOf(page: readonly Proposal[]): Generator<Proposal[]> {
  let group: Proposal[] = [];
  let lines = 0;
  for (const proposal of page) {
    lines += proposal.lineItemCount;
    if (lines > mostLines) {
      yield group;
      group = [];
      lines = proposal.lineItemCount;
    }
    group.push(proposal);
  }
  yield group;
}

async function readLines(session: Session, orm: Database['orm'], page: readonly Proposal[]): Promise<ProposalLine[]> {
  const table = recordTable(ProposalLine, () => orm);
  const rows = await session.query(
    `select ${table.selection} from proposal_lines t
     where t.organization_id = $1 and t.proposal_id = any($2) order by t.proposal_id, t.position`,
    [page.map(({ id }) => id)],
  );
  return rows.map((row) => table.parse(row));
}

async function referencesOf(
  session: Session,
  page: readonly Proposal[],
  lines: readonly ProposalLine[],
): Promise<ExportedProposal[]> {
  const items = await externalIds(session, 'items', new Set(lines.map(({ itemId }) => itemId)));
  const customers = await externalIds(session, 'customers', new Set(page.map(({ customerId }) => customerId)));
  const shown = lines.map((line) => ({ ...line, itemExternalId: items.get(line.itemId ?? '') ?? null }));
  const linesOf = Map.groupBy(shown, ({ proposalId }) => proposalId);
  return page.map((proposal) => ({
    ...proposal,
    customerExternalId: customers.get(proposal.customerId ?? '') ?? null,
    lines: linesOf.get(proposal.id) ?? [],
  }));
}

async function externalIds(session: Session, table: 'customers' | 'items', ids: ReadonlySet<string | null>) {
  const text = `select id, external_id from ${table} where organization_id = $1 and id = any($2)`;
  const known = [...ids].filter((id) => id !== null);
  const rows = known.length === 0 ? [] : await session.query(text, [known]);
  return new Map(rows.map(([id, externalId]) => [String(id), typeof externalId === 'string' ? externalId : null]));
}
