/** The Webhooks pages and their forms: for admins only. */
import type { AuditAction } from '../../../entities/audit-event.ts';
import { Problem } from '../../../problems/problem.ts';
import { storedId } from '../../../records/public-id.ts';
import * as endpoints from '../../../webhooks/endpoints.ts';
import { listDeliveries, listEndpoints, resend, resendFailed, sendTest } from '../../../webhooks/log.ts';
import { choiceIn, field, instantIn } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import type { SessionGuard } from '../session-guard.ts';
import { idIn, requireAdminVisit, sentenceFor } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { endpointPage, overlaps, shownDeliveries } from './endpoint-page.ts';
import {
  changesIn,
  endpointPath,
  fieldsIn,
  onlyAdminsPage,
  secretPage,
  webhooksPage,
  webhooksPath,
} from './webhooks-page.ts';

export function webhookRoutes(guard: SessionGuard): void {
  guard.form('/webhooks', { action: 'webhook_created', show: showAll, submit: create, isSolvable: () => true });
  guard.page('/webhooks/:id', showOne);
  guard.form('/webhooks/:id/change', {
    action: 'webhook_changed',
    show: showOne,
    submit: changeFields,
    isSolvable: () => true,
  });
  guard.form('/webhooks/:id/secret', { action: 'webhook_secret_replaced', submit: replaceSecret });
  /** A form with one button; afterward, the page confirms what was done. */
  const act = (name: string, action: AuditAction, done: keyof typeof sentences, work: Act) =>
    guard.form(`/webhooks/:id/${name}`, {
      action,
      submit: async (change) => {
        const id = idIn(change, 'endpoint');
        const isNothing = (await work(change, id)) === 0;
        return `${done === 'removed' ? webhooksPath : endpointPath({ id })}?done=${isNothing ? 'nothing' : done}`;
      },
    });
  for (const name of ['on', 'off'] as const)
    act(name, `webhook_switched_${name}`, name, ({ em, member }, id) =>
      endpoints.switchEndpoint(em, member, { id, on: name === 'on' }),
    );
  act('remove', 'webhook_removed', 'removed', ({ em, member }, id) => endpoints.removeEndpoint(em, member, id));
  act('test', 'webhook_tested', 'sent', ({ em, member }, id) => sendTest(em, member, id));
  act('resend', 'webhook_resent', 'sent', sendAgain);
  act('resend-failed', 'webhook_resent', 'sent', ({ em, member, request }, id) =>
    resendFailed(em, member, { id, since: instantIn(request.body, 'since', 'Choose a day.') }),
  );
}

/** May return how many events it was about. */
type Act = (change: Change, id: string) => Promise<unknown>;

async function create({ em, member, request, csrfTokenId, context }: Change) {
  const fields = { ...fieldsIn(request.body), csrfTokenId };
  return secretPage(await endpoints.createEndpoint(em, member, fields, context.webhooks));
}

async function changeFields(change: Change): Promise<string> {
  const { em, member, request, context } = change;
  const wanted = { id: idIn(change, 'endpoint'), ...changesIn(request.body) };
  return `${endpointPath(await endpoints.changeEndpoint(em, member, wanted, context.webhooks))}?done=changed`;
}

const noOverlap = 'Choose how long the old secret should keep signing.';

async function replaceSecret(change: Change) {
  const { em, member, request, context } = change;
  const replacement = { id: idIn(change, 'endpoint'), overlap: choiceIn(request.body, 'overlap', overlaps, noOverlap) };
  return secretPage(await endpoints.replaceSecret(em, member, replacement, context.webhooks));
}

function sendAgain({ em, member, request }: Change, id: string): Promise<unknown> {
  const deliveryId = storedId('event', field(request.body, 'event'));
  if (deliveryId === undefined) throw new Problem('unknown', { sentence: 'There is no such delivery.' });
  return resend(em, member, { id, deliveryId });
}

async function showAll(visit: Visit, rejected?: Rejected) {
  if (visit.member.role !== 'admin') return onlyAdminsPage;
  const found = await listEndpoints(visit.em.fork());
  return webhooksPage(visit, { endpoints: found, done: whatWasDone(visit), rejected });
}

async function showOne(visit: Visit, rejected?: Rejected) {
  requireAdminVisit(visit, 'manage webhooks');
  const em = visit.em.fork();
  const endpoint = await endpoints.findEndpoint(em, idIn(visit, 'endpoint'));
  const deliveries = await listDeliveries(em, endpoint.id, shownDeliveries);
  return endpointPage(visit, { endpoint, deliveries, done: whatWasDone(visit), rejected });
}

const sentences = {
  changed: 'The endpoint was changed.',
  on: 'The endpoint is on. It receives changes from now on.',
  off: 'The endpoint is off. It misses all changes until you switch it on.',
  removed: 'The endpoint was removed.',
  nothing: 'No event has failed since then. Events that are waiting will be sent automatically.',
  sent: 'Sending starts within seconds. Reload the page to see the result.',
};

const whatWasDone = ({ request }: Visit) => sentenceFor(sentences, field(request.query, 'done'));
