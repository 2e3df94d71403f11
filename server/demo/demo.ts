/** The organization that an empty database starts with, so that the first `curl` has something to show. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Database } from '../database/orm.ts';
import { withSession } from '../database/session.ts';
import { removeOrganization } from '../accounts/organizations.ts';
import { forOrganization } from '../database/tenant.ts';
import { ApiKey, Member, newOrganizationId, Organization } from '../entities/organization.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { importKinds } from '../entities/upload.ts';
import { ownFile } from '../files.ts';
import { issueKey } from '../keys/issue.ts';
import { nameExampleRecords } from './example-records.ts';
import { moveDates, withMovedDates } from './dates.ts';

const demoLock = 7_203_611_403;

/** Earlier than all of its records. */
const foundedAt = '2024-05-10T09:12:00.000Z';
const people = [
  { name: 'Mara Ellison', email: 'mara@demo.example', role: 'admin' },
  { name: 'Tomás Reyes', email: 'tomas@demo.example', role: 'member' },
] as const;

type PrintLine = (line: string) => void;
type SignIn = { member: Pick<Member, 'email' | 'role'>; password: string };
/** The name of the organization, and its records: `64 customers`. */
type Made = { name: string; records: string[] };

/**
 * Creates the demo organization in a database that has no organization, and prints its key. A demo without a key was left
 * by a process that was killed before it printed the key: it is removed and created again. Returns whether it was created.
 */
export async function ensureDemo(database: Database, url: string, printLine: PrintLine): Promise<boolean> {
  const id = newOrganizationId();
  // If two processes find the same empty database, the second waits, and then finds an organization.
  return withSession(database.pool, id, async (session) => {
    await session.command(`select pg_advisory_lock(${demoLock})`);
    if (!(await isWanted(database))) return false;
    try {
      const made = await fill(database, id);
      await announce(database, id, made, { url, printLine });
      return true;
    } catch (error) {
      await removeOrganization(database, id);
      throw error;
    }
  });
}

async function isWanted(database: Database): Promise<boolean> {
  const [found, ...others] = await database.orm.em.fork().find(Organization, {}, { limit: 2 });
  if (!found) return true;
  if (others.length > 0 || found.slug !== 'demo') return false;
  const em = forOrganization(database, found.id).em();
  // A different organization may have the same slug.
  const isOurs = (await em.count(Member, { email: people[0].email })) > 0;
  if (!isOurs || (await em.count(ApiKey)) > 0) return false;
  await removeOrganization(database, found.id);
  return true;
}

/** Imports the demo's files, as a user would, with their dates shifted so that the last of them is recent. */
async function fill(database: Database, id: OrganizationId): Promise<Made> {
  const createdAt = moveDates(foundedAt, Date.now());
  const organization = await forOrganization(database, id).transaction(async (em) => {
    const created = em.create(Organization, {
      id,
      name: 'Larkmoor Studio',
      slug: 'demo',
      plan: 'team',
      currency: 'USD',
      createdAt,
    });
    await em.flush();
    for (const person of people) em.create(Member, { ...person, emailKey: person.email, createdAt });
    return created;
  });
  const records: string[] = [];
  // Most starts find a database with an organization, and need no importer.
  const { importFile } = await import('../import/import-file.ts');
  for (const kind of importKinds) {
    const name = kind === 'proposals' ? 'proposals.jsonl' : `${kind}.csv`;
    const source = fileURLToPath(ownFile(`demo/${name}`));
    const report = await withMovedDates(source, Date.now(), (file) =>
      importFile({ database, organization, kind, file }),
    );
    const [error] = report.errors;
    if (error) throw new Error(`${name}, line ${error.line}: ${error.field} ${error.message}`);
    records.push(`${report.created} ${kind}`);
  }
  await nameExampleRecords(forOrganization(database, id));
  return { name: organization.name, records };
}

/** Issues the key and prints it in one transaction, so that a key that was not printed is not stored. */
async function announce(
  database: Database,
  id: OrganizationId,
  made: Made,
  { url, printLine }: { url: string; printLine: PrintLine },
) {
  const tenant = forOrganization(database, id);
  const members = await tenant.em().find(Member, {}, { orderBy: { role: 'asc' } });
  const signIns = members.map((member) => ({ member, password: randomBytes(12).toString('base64url') }));
  const { setPassword } = await import('../accounts/password-links.ts');
  // A password that was not printed is useless, and the next start sets another.
  for (const { member, password } of signIns) await setPassword(database.signIns, member, password);
  await tenant.transaction(async (em) => {
    const admin = await em.findOneOrFail(Member, { role: 'admin' });
    const { raw } = await issueKey(em, admin, { name: 'Demo' });
    for (const line of announcement(made, raw, url, signIns)) printLine(line);
  });
}

function announcement({ name, records }: Made, key: string, url: string, signIns: SignIn[]): string[] {
  return [
    '',
    `Created a demo organization, ${name}: ${records.join(', ')}.`,
    '',
    '  API key (shown only once):',
    '',
    `    ${key}`,
    '',
    '  Try it:',
    '',
    `    curl -H "Authorization: Bearer ${key}" "${url}/v1/customers?limit=5"`,
    '',
    `  Documentation: ${url}/docs`,
    '',
    `  Settings (create keys here): ${url}/settings`,
    ...signIns.map(({ member: { email, role }, password }) => `    ${email}  ${password}  (${role})`),
    '',
  ];
}
