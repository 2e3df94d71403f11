/** The audit log in sentences; the API Keys page shows the latest events of each kind. */
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import { auditActions } from '../../../entities/audit-event.ts';
import type { AuditAction, AuditEvent, AuditKind } from '../../../entities/audit-event.ts';
import type { Member } from '../../../entities/organization.ts';
import { readEvents } from '../../../records/audit-log.ts';
import { readMemberNames } from '../../../records/member-names.ts';
import type { MemberNames } from '../../../records/member-names.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { collapsible } from '../sections.ts';
import { timeAgo } from '../time.ts';

export const activityKinds: Readonly<Record<AuditKind, string>> = {
  change: 'Changes',
  rejection: 'Rejected attempts',
  sign_in: 'Sign-ins',
};

/** Only admins see who signed in, and from where. */
export const kindsFor = ({ role }: Pick<Member, 'role'>): AuditKind[] =>
  role === 'admin' ? ['change', 'rejection', 'sign_in'] : ['change', 'rejection'];

/** The names of everyone mentioned in these events. */
export const namesIn = (em: ScopedEntityManager, events: readonly AuditEvent[]): Promise<MemberNames> =>
  readMemberNames(
    em,
    events.flatMap(({ memberId, subjectId }) => [memberId, subjectId]),
  );

const shown = { change: 50, rejection: 20, sign_in: 20 } as const;

export async function activitySection(em: ScopedEntityManager, member: Pick<Member, 'role'>): Promise<Html> {
  const events: AuditEvent[] = [];
  for (const kind of kindsFor(member)) events.push(...(await readEvents(em, kind, shown[kind])));
  const names = await namesIn(em, events);
  const lists = [...Map.groupBy(events, ({ kind }) => kind)].map(
    ([kind, found]) =>
      html`<h3>${activityKinds[kind]}</h3>
        ${activityList(found, names)}`,
  );
  return collapsible(
    'activity',
    'Activity',
    html`${lists}
      <p><a href="/settings/activity">All activity</a></p>`,
  );
}

export function activityList(events: readonly AuditEvent[], names: MemberNames): Html {
  return html`<ol class="activity">
    ${events.map((event) => html` <li><span>${sentence(event, names)}</span> ${timeAgo(event.createdAt)}</li>`)}
  </ol>`;
}

const reasons: Record<string, string> = {
  role: 'not an admin',
  plan: 'no Team plan',
  unknown: 'not found in this organization',
  forged: 'the form did not come from a page of this service',
};

function sentence(event: AuditEvent, names: MemberNames): Html {
  const { kind, action, memberId, subjectId, detail, reason, ipAddress } = event;
  const who = html`<strong>${memberId === null ? withoutMember(event) : names.nameOf(memberId)}</strong>`;
  if (kind === 'rejection')
    return html`${who} was not allowed to ${auditActions[action]}${detail && html` <q>${detail}</q>`}:
    ${reasons[reason ?? ''] ?? 'not possible'}`;
  if (action === 'sign_in_failed') {
    const how = reason === 'code' ? ', with the right password and a wrong code' : '';
    return html`Failed sign-in as <strong>${names.nameOf(subjectId)}</strong> from ${ipAddress}${how}`;
  }
  if (action === 'signed_in') return html`${who} signed in from ${ipAddress}`;
  return html`${who} ${descriptions[action](event, names)}`;
}

/** Without a member, a change has a reason only if the service itself, or an application with its own key, made it. */
function withoutMember({ reason }: AuditEvent): string {
  if (reason === 'application') return 'The application';
  return reason === null ? 'An operator' : 'The service';
}

type DescribeEvent = (event: AuditEvent, names: MemberNames) => Html;
const quoted = (text: string | null) => html`<q>${text}</q>`;
const about =
  (thing: string) =>
  (verb: string): DescribeEvent =>
  ({ detail }) =>
    html`${verb} ${thing} ${quoted(detail)}`;
const [aboutKey, aboutEndpoint] = [about('API key'), about('webhook endpoint')];
/** `own` is the wording for members who changed their own account. */
const aboutMember =
  (verb: string, own: string): DescribeEvent =>
  ({ memberId, subjectId }, names) =>
    subjectId === memberId ? html`${own}` : html`${verb} ${names.nameOf(subjectId)}`;
const aRole = (role: string | null) => (role === 'admin' ? 'an admin' : 'a member');

const descriptions: Record<Exclude<AuditAction, 'signed_in' | 'sign_in_failed'>, DescribeEvent> = {
  key_created: aboutKey('created'),
  key_revoked: (event, names) =>
    html`${aboutKey('revoked')(event, names)}${event.reason === 'code_reused' && ', because its authorization code was used twice'}`,
  key_replaced: aboutKey('replaced'),
  key_renamed: ({ detail, previous }) => html`renamed API key ${quoted(previous)} to ${quoted(detail)}`,
  records_imported: ({ detail }) => html`imported ${detail}`,
  records_exported: ({ detail }) => html`exported ${detail}`,
  customer_erased: ({ detail }) => html`erased the personal data of customer ${detail}`,
  external_id_released: ({ detail }) => html`released the external ID of erased customer ${detail}`,
  webhook_created: aboutEndpoint('created'),
  webhook_changed: aboutEndpoint('changed'),
  webhook_switched_on: aboutEndpoint('switched on'),
  webhook_switched_off: aboutEndpoint('switched off'),
  webhook_secret_replaced: aboutEndpoint('replaced the secret of'),
  webhook_removed: aboutEndpoint('removed'),
  webhook_tested: aboutEndpoint('sent a test to'),
  webhook_resent: aboutEndpoint('sent events again to'),
  member_added: ({ detail, subjectId }, names) => html`added ${names.nameOf(subjectId)} as ${aRole(detail)}`,
  member_removed: aboutMember('removed', 'left the organization'),
  role_changed: ({ subjectId, detail }, names) => html`made ${names.nameOf(subjectId)} ${aRole(detail)}`,
  password_link_issued: aboutMember('issued a password link for', 'requested a password link'),
  password_changed: aboutMember('changed the password of', 'changed their password'),
  sessions_ended: aboutMember('ended sessions of', 'ended other sessions'),
  two_factor_turned_on: () => html`turned on two-factor authentication`,
  two_factor_turned_off: () => html`turned off two-factor authentication`,
  two_factor_reset: ({ subjectId }, names) => html`reset the two-factor authentication of ${names.nameOf(subjectId)}`,
  two_factor_policy_changed: ({ detail }) => html`made two-factor authentication ${detail}`,
  recovery_codes_made: () => html`made new recovery codes`,
  recovery_code_used: () => html`signed in with a recovery code`,
  plan_changed: ({ detail, previous }) => html`changed the plan from ${previous} to ${detail}`,
  currency_changed: ({ detail, previous }) => html`changed the currency from ${previous} to ${detail}`,
  organization_renamed: ({ detail, previous }) =>
    html`renamed the organization from ${quoted(previous)} to ${quoted(detail)}`,
};
