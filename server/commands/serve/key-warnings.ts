/** Emails admins about keys that need their attention, in the background of a serving process. */
import { claimWork } from '../../accounts/attempts.ts';
import { createMailer } from '../../outgoing/mail.ts';
import type { Mail, Mailer } from '../../outgoing/mail.ts';
import { listOrganizations } from '../../accounts/organizations.ts';
import { createBackground } from '../../database/background.ts';
import { databaseTime } from '../../database/clock.ts';
import type { Background } from '../../database/background.ts';
import type { Database } from '../../database/orm.ts';
import { forOrganization } from '../../database/tenant.ts';
import { Member } from '../../entities/organization.ts';
import type { Organization } from '../../entities/organization.ts';
import { claimWarnings, readWarnings, releaseWarnings } from '../../keys/warnings.ts';
import type { Warning } from '../../keys/warnings.ts';
import type { SettingsOptions } from '../../web/settings/services.ts';

const fifteenMinutesMs = 15 * 60_000;

type Parts = { database: Database; baseUrl: string; onError: (error: unknown) => void };

/** Without a mail server, the warnings are only on the pages. */
export function mailWarnings(
  parts: Parts,
  { mail, everyMs = fifteenMinutesMs }: { mail: SettingsOptions['mail']; everyMs?: number | undefined },
): Background {
  const background = createBackground(parts.onError);
  if (!mail) return background;
  const mailer = createMailer(mail);
  background.every(everyMs, async () => {
    // Slightly less than the interval, because the next check may come a little early.
    if (!(await claimWork(parts.database.signIns, 'key warnings', (everyMs / 1000) * 0.9))) return;
    for (const organization of await listOrganizations(parts.database)) {
      if (background.isClosing()) return;
      // A failure for one must not stop the warnings to others.
      if (organization.plan === 'team') await warnAdmins(parts, mailer, organization).catch(parts.onError);
    }
  });
  return background;
}

async function warnAdmins({ database, baseUrl, onError }: Parts, mailer: Mailer, organization: Organization) {
  const { em } = forOrganization(database, organization.id);
  const nowMs = await databaseTime(database.signIns);
  const warnings = await claimWarnings(em(), await readWarnings(em(), nowMs), nowMs);
  if (warnings.length === 0) return;
  const admins = await em().find(Member, { role: 'admin', removedAt: null });
  let isTold = false;
  const facts = { organization, warnings, link: `${baseUrl}/settings/api-keys` };
  // In parallel: if the mail server hangs, this process must still stop in time.
  const sent = admins.map(({ email }) => mailer.send(warningMail(email, facts)).then(() => (isTold = true), onError));
  await Promise.all(sent);
  if (!isTold) await releaseWarnings(em(), warnings);
}

type Facts = { organization: Organization; warnings: readonly Warning[]; link: string };

const warningMail = (to: string, { organization: { name }, warnings, link }: Facts): Mail => ({
  to,
  subject: warnings.length === 1 ? `An API key of ${name} needs attention` : `API keys of ${name} need attention`,
  text: `${warnings.map(({ sentence }) => `- ${sentence}`).join('\n')}

See the keys and their usage:

${link}
`,
});
