/** Switches an endpoint off because it does not work, and tells the organization's admins. */
import type { Mail, Mailer } from '../outgoing/mail.ts';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { Member, Organization } from '../entities/organization.ts';
import { WebhookEndpoint } from '../entities/webhook.ts';
import { recordEvent } from '../records/audit-log.ts';
import { publicId } from '../records/public-id.ts';
import type { Leased } from './leases.ts';
import { unleased } from './restart.ts';

type Parts = {
  database: Database;
  mailer: Mailer | undefined;
  baseUrl: string;
  onError: (error: unknown) => void;
};

export function createSwitchOff({ database, mailer, baseUrl, onError }: Parts) {
  return async ({ organizationId, id, lease }: Leased, reason: string): Promise<void> => {
    const { em, transaction } = forOrganization(database, organizationId);
    const endpoint = await transaction(async (inner) => {
      const off = { activeSince: null, offReason: reason, dueAt: null, ...unleased };
      // Not if it was changed or switched in the meantime.
      if ((await inner.nativeUpdate(WebhookEndpoint, { id, lease }, off)) === 0) return undefined;
      const found = await inner.findOneOrFail(WebhookEndpoint, { id });
      recordEvent(inner, { action: 'webhook_switched_off', memberId: null, detail: found.name, reason });
      return found;
    });
    if (!endpoint || !mailer) return;
    const { name: organization } = await em().findOneOrFail(Organization, { id: organizationId });
    const admins = await em().find(Member, { role: 'admin', removedAt: null });
    const link = `${baseUrl}/settings/webhooks/${publicId('endpoint', id)}`;
    const facts = { organization, endpoint, reason, link };
    // In parallel: if the mail server hangs, this process must still stop in time.
    await Promise.all(admins.map(({ email }) => mailer.send(switchedOffMail(email, facts)).catch(onError)));
  };
}

type Facts = { organization: string; endpoint: WebhookEndpoint; reason: string; link: string };

const switchedOffMail = (to: string, { organization, endpoint, reason, link }: Facts): Mail => ({
  to,
  subject: `The webhook “${endpoint.name}” of ${organization} was switched off`,
  text: `The webhook endpoint “${endpoint.name}” of ${organization} was switched off. It no longer receives events.

Server: ${new URL(endpoint.url).origin}
Reason: ${reason}

Once your receiver works again, switch the endpoint on and resend the events that failed. Changes that are made while the
endpoint is off are not sent later: your receiver has to read them from the API.

${link}
`,
});
