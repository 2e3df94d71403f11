/** The organization that an empty database starts with, so that the first `curl` has something to show. */
import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { Customer } from '../entities/customer.ts';
import { Item } from '../entities/item.ts';
import { Member, Organization } from '../entities/organization.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { issueKey } from '../keys/issue.ts';
import { makeCustomers } from './customers.ts';
import { diceOf } from './dice.ts';
import { makeItems } from './items.ts';
import { morning, timestamp } from './past.ts';
import { makeProposals } from './proposals.ts';

const demoLock = 7_203_611_403;
const seeds = { organization: 11, items: 23, customers: 37, proposals: 58 };

const people = [
  { name: 'Mara Ellison', email: 'mara@demo.example', role: 'admin' },
  { name: 'Tomás Reyes', email: 'tomas@demo.example', role: 'member' },
] as const;
/** She has left: her name is still on what she wrote. */
const formerOwner = { name: 'Priya Raman', email: null };

type Say = (line: string) => void;
type SetPassword = (member: { name: string; email: string }, password: string) => Promise<void>;
type SignIn = { email: string; role: string; password: string };
type Made = { organization: string; customers: number; items: number; proposals: number };

/**
 * Makes the demo organization in a database that has no organization, and prints its key. All of it is one transaction
 * that ends after the printing: a process that is killed before leaves an empty database, and the next one starts anew.
 */
export async function ensureDemo(database: Database, url: string, say: Say, setPassword: SetPassword): Promise<void> {
  const id = uuidv7();
  await forOrganization(database, id).transaction(async (inner) => {
    // Two processes that find the same empty database: the second waits, and then finds an organization.
    await inner.execute('select pg_advisory_xact_lock(?)', [demoLock]);
    if ((await inner.count(Organization)) > 0) return;
    const { made, admin } = await fill(inner, id, Date.now());
    const { raw } = await issueKey(inner, admin, 'Demo');
    const signIns = people.map((person) => ({ ...person, password: randomBytes(12).toString('base64url') }));
    // On connections of their own, of which there are enough while nothing is served yet. A password without its member
    // opens nothing, and the next start sets another.
    for (const { password, ...person } of signIns) await setPassword(person, password);
    for (const line of announcement(made, raw, url, signIns)) say(line);
  });
}

/** Stores the whole demo, owners before what they own. */
async function fill(em: EntityManager, id: string, nowMs: number): Promise<{ made: Made; admin: Member }> {
  const createdAt = timestamp(morning(nowMs, 660, diceOf(seeds.organization)));
  const { name } = em.create(Organization, {
    id,
    name: 'Larkmoor Studio',
    slug: 'demo',
    plan: 'team',
    currency: 'USD',
    createdAt,
  });
  await em.flush();
  const [admin] = people.map((person) => em.create(Member, { ...person, emailKey: person.email, createdAt }));
  if (!admin) throw new Error('The demo has no admin.');
  const items = makeItems(nowMs, diceOf(seeds.items));
  const customers = makeCustomers(nowMs, diceOf(seeds.customers));
  for (const item of items) em.create(Item, item);
  for (const { record } of customers) em.create(Customer, record);
  await em.flush();
  const owners = [...people.map((person) => ({ name: person.name, email: person.email })), formerOwner];
  const proposals = makeProposals({ customers, items, owners }, nowMs, diceOf(seeds.proposals));
  for (const { record, lines } of proposals) {
    em.create(Proposal, record);
    for (const line of lines) em.create(ProposalLine, line);
  }
  await em.flush();
  // The key is issued next, and would look through all of this for changes.
  em.clear();
  return {
    made: { organization: name, customers: customers.length, items: items.length, proposals: proposals.length },
    admin,
  };
}

function announcement(
  { organization, customers, items, proposals }: Made,
  key: string,
  url: string,
  signIns: SignIn[],
): string[] {
  return [
    '',
    `Made a demo organization, ${organization}: ${customers} customers, ${items} items, ${proposals} proposals.`,
    '',
    '  Its API key, shown only now:',
    '',
    `    ${key}`,
    '',
    '  Try it:',
    '',
    `    curl -H "Authorization: Bearer ${key}" "${url}/v1/customers?limit=5"`,
    '',
    `  Documentation: ${url}/docs`,
    '',
    `  Its settings, where keys are made: ${url}/settings`,
    ...signIns.map(({ email, role, password }) => `    ${email}  ${password}  (${role})`),
    '',
  ];
}
