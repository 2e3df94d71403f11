/** The Webhooks pages and their forms: for admins only. */
import type { Router } from 'express';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { isSettingsProblem, Problem } from '../../../problems/problem.ts';
import { storedId } from '../../../records/public-id.ts';
import * as endpoints from '../../../webhooks/endpoints.ts';
import type { ReplacementOverlap } from '../../../webhooks/endpoints.ts';
import { findEndpoint, listDeliveries, listEndpoints, resend, resendFailed, sendTest } from '../../../webhooks/log.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { sendPage } from '../page.ts';
import type { Change, Visit } from '../session-guard.ts';
import { idIn, orProblem, requireAdminVisit, sentenceFor } from '../visit.ts';
import { endpointPath, fieldsIn, webhooksPath } from './endpoint-fields.ts';
import type { Failure } from './endpoint-fields.ts';
import { endpointPage, shownDeliveries } from './endpoint-page.ts';
import { secretPage, webhooksPage } from './webhooks-page.ts';

type Shown = { done?: string | undefined; failure?: Failure };

export function webhookRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    webhookPath(),
    guard.page((visit) => showAll(visit, { done: whatWasDone(visit) })),
  );
  router.get(
    webhookPath('/:id'),
    guard.page((visit) => showOne(visit, { done: whatWasDone(visit) })),
  );
  router.post(webhookPath(), guard.change('webhook_created', create));
  router.post(webhookPath('/:id/change'), guard.change('webhook_changed', changeFields));
  router.post(webhookPath('/:id/secret'), guard.change('webhook_secret_replaced', replaceSecret));
  for (const [path, { action, done, work }] of Object.entries(acts))
    router.post(
      webhookPath(`/:id/${path}`),
      guard.change(action, async (change) => {
        const id = idIn(change, 'endpoint');
        await work(change, id);
        change.response.redirect(303, `${done === 'removed' ? webhooksPath : endpointPath({ id })}?done=${done}`);
      }),
    );
}

const webhookPath = (rest = '') => `/webhooks${rest}`;

async function create(change: Change): Promise<void> {
  const { visitor, request, response, signed, csrfTokenId, context } = change;
  const typed = fieldsIn(request.body);
  const issued = await orProblem(
    endpoints.createEndpoint(visitor.em, visitor.member, { ...typed, csrfTokenId }, context.webhooks),
  );
  if (isSettingsProblem(issued)) return showAll(change, { failure: { problem: issued, typed } }, issued.status);
  sendPage(response, secretPage({ signed, ...issued }), 201);
}

async function changeFields(change: Change): Promise<void> {
  const { visitor, request, response, context } = change;
  const typed = fieldsIn(request.body);
  const wanted = { id: idIn(change, 'endpoint'), ...typed };
  const changed = await orProblem(endpoints.changeEndpoint(visitor.em, visitor.member, wanted, context.webhooks));
  if (isSettingsProblem(changed)) return showOne(change, { failure: { problem: changed, typed } }, changed.status);
  response.redirect(303, `${endpointPath(changed)}?done=changed`);
}

async function replaceSecret(change: Change): Promise<void> {
  const { visitor, request, response, signed, context } = change;
  const replacement = { id: idIn(change, 'endpoint'), overlap: overlapIn(request.body) };
  const issued = await endpoints.replaceSecret(visitor.em, visitor.member, replacement, context.webhooks);
  sendPage(response, secretPage({ signed, ...issued }), 201);
}

type Act = { action: AuditAction; done: string; work: (change: Change, id: string) => Promise<unknown> };

/** Forms with one button, after which the page says what was done. */
const acts: Readonly<Record<string, Act>> = {
  on: {
    action: 'webhook_switched_on',
    done: 'on',
    work: ({ visitor }, id) => endpoints.switchEndpoint(visitor.em, visitor.member, { id, on: true }),
  },
  off: {
    action: 'webhook_switched_off',
    done: 'off',
    work: ({ visitor }, id) => endpoints.switchEndpoint(visitor.em, visitor.member, { id, on: false }),
  },
  remove: {
    action: 'webhook_removed',
    done: 'removed',
    work: ({ visitor }, id) => endpoints.removeEndpoint(visitor.em, visitor.member, id),
  },
  test: {
    action: 'webhook_tested',
    done: 'sent',
    work: ({ visitor }, id) => sendTest(visitor.em, visitor.member, id),
  },
  resend: {
    action: 'webhook_resent',
    done: 'sent',
    work: ({ visitor, request }, id) => {
      const deliveryId = storedId('event', field(request.body, 'event'));
      if (deliveryId === undefined) throw new Problem('unknown', { sentence: 'There is no such delivery.' });
      return resend(visitor.em, visitor.member, { id, deliveryId });
    },
  },
  'resend-failed': {
    action: 'webhook_resent',
    done: 'sent',
    work: ({ visitor, request }, id) => resendFailed(visitor.em, visitor.member, { id, since: dayIn(request.body) }),
  },
};

async function showAll(visit: Visit, view: Shown, status = 200): Promise<void> {
  requireAdminVisit(visit, 'manage webhooks');
  const { visitor, response, signed, csrfToken } = visit;
  const found = await listEndpoints(visitor.em.fork());
  sendPage(response, webhooksPage({ signed, endpoints: found, token: csrfToken(), ...view }), status);
}

async function showOne(visit: Visit, view: Shown, status = 200): Promise<void> {
  requireAdminVisit(visit, 'manage webhooks');
  const { visitor, response, signed, csrfToken } = visit;
  const em = visitor.em.fork();
  const endpoint = await findEndpoint(em, idIn(visit, 'endpoint'));
  const deliveries = await listDeliveries(em, endpoint.id, shownDeliveries);
  sendPage(response, endpointPage({ signed, endpoint, deliveries, token: csrfToken(), ...view }), status);
}

const sentences: Readonly<Record<string, string>> = {
  changed: 'The endpoint was changed.',
  on: 'The endpoint is on. It receives what changes from now on.',
  off: 'The endpoint is off. It misses what changes until you switch it on.',
  removed: 'The endpoint was removed.',
  sent: 'It will be sent within seconds. Reload the page to see the result.',
};

const whatWasDone = ({ request }: Visit) => sentenceFor(sentences, field(request.query, 'done'));

function overlapIn(body: unknown): ReplacementOverlap {
  const typed = field(body, 'overlap');
  const isKnown = (name: string): name is ReplacementOverlap => Object.hasOwn(endpoints.replacementHours, name);
  if (!isKnown(typed))
    throw new Problem('invalid', { sentence: 'Choose how long the old secret should keep signing.' });
  return typed;
}

function dayIn(body: unknown): string {
  const typed = field(body, 'since');
  const at = /^\d{4}-\d\d-\d\d$/.test(typed) ? new Date(`${typed}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime())) throw new Problem('invalid', { sentence: 'Choose a day.', field: 'since' });
  return at.toISOString();
}
