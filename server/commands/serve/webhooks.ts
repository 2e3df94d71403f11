/** Assembles the webhooks of a serving process, and wakes them. */
import { createMailer } from '../../outgoing/mail.ts';
import { metadataOf, operationsOf } from '../../../contract/operations.ts';
import { v1 } from '../../../contract/v1.ts';
import type { Database } from '../../database/orm.ts';
import type { UsageEvent } from '../../keys/usage.ts';
import { createDestinations } from '../../outgoing/addresses.ts';
import type { DeliveryParts } from '../../webhooks/deliver.ts';
import type { EndpointParts } from '../../webhooks/endpoints.ts';
import { createRender } from '../../webhooks/render.ts';
import { runLimits, Webhooks } from '../../webhooks/run.ts';
import type { RunLimits } from '../../webhooks/run.ts';
import { createSeal } from '../../text/seal.ts';
import { createSender, sendLimits } from '../../outgoing/send.ts';
import type { SendLimits } from '../../outgoing/send.ts';
import { createSwitchOff } from '../../webhooks/switch-off.ts';
import type { SettingsOptions } from '../../web/settings/services.ts';
import type { Secret } from '../../text/signatures.ts';

export type WebhookOptions = {
  /** Private networks in which the operator allows endpoints. */
  allow?: readonly string[];
  limits?: Partial<RunLimits>;
  sending?: Partial<SendLimits>;
};

type Parts = {
  database: Database;
  secret: Secret;
  mail: SettingsOptions['mail'];
  baseUrl: string;
  options: WebhookOptions | undefined;
  onAttempt: DeliveryParts['onAttempt'];
  onError: (error: unknown) => void;
};

export function startWebhooks(parts: Parts): { webhooks: Webhooks; endpoints: EndpointParts } {
  const { database, secret, mail, baseUrl, options = {}, onAttempt, onError } = parts;
  const destinations = createDestinations(options.allow ?? []);
  const seal = createSeal(secret, 'webhook secrets');
  const switchOff = createSwitchOff({ database, mailer: mail && createMailer(mail), baseUrl, onError });
  const delivery = {
    seal,
    render: createRender(database),
    sender: createSender(destinations, { ...sendLimits, ...options.sending }),
    onAttempt,
    switchOff,
  };
  const limits = { ...runLimits, ...options.limits };
  return { webhooks: new Webhooks({ database, limits, delivery, onError }), endpoints: { seal, destinations } };
}

const writing: ReadonlySet<string | undefined> = new Set(
  operationsOf(v1)
    .filter(({ method }) => method !== 'GET')
    .map((route) => metadataOf(route).operationId),
);

/** Every write by the API or an agent is a hint, which costs two set lookups. */
export function hint(webhooks: Webhooks, { status, operation, organizationId }: UsageEvent): void {
  if (status < 300 && writing.has(operation)) webhooks.hint(organizationId);
}
