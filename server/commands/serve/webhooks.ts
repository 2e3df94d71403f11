/** Assembles the webhooks of a serving process, and wakes them. */
import { createMailer } from '../../outgoing/mail.ts';
import { metadataOf, operationsOf } from '../../../contract/operations.ts';
import { v1 } from '../../../contract/v1.ts';
import type { Database } from '../../database/orm.ts';
import type { Tenant } from '../../database/tenant.ts';
import type { UsageEvent } from '../../keys/usage.ts';
import { customerTable, presentCustomer } from '../../records/customer.ts';
import { itemTable, presentItem } from '../../records/item.ts';
import { presentProposal, proposalWithLines } from '../../records/proposal.ts';
import { readEach } from '../../records/reader.ts';
import type { Selection } from '../../records/selection.ts';
import { anyOf } from '../../records/sql.ts';
import { createDestinations } from '../../outgoing/addresses.ts';
import type { Resolve } from '../../outgoing/addresses.ts';
import type { DeliveryParts } from '../../webhooks/deliver.ts';
import type { EndpointParts } from '../../webhooks/endpoints.ts';
import { createRender } from '../../webhooks/render.ts';
import type { ReadRecords } from '../../webhooks/render.ts';
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
  /** Default: DNS. */
  resolve?: Resolve;
  limits?: Partial<RunLimits>;
  sending?: Partial<SendLimits>;
};

type Parts = {
  database: Database;
  secret: Secret;
  mail: SettingsOptions['mail'];
  baseUrl: () => string;
  options: WebhookOptions | undefined;
  onAttempt: DeliveryParts['onAttempt'];
  onError: (error: unknown) => void;
};

export function startWebhooks(parts: Parts): { webhooks: Webhooks; endpoints: EndpointParts } {
  const { database, secret, mail, baseUrl, options = {}, onAttempt, onError } = parts;
  const destinations = createDestinations(options.allow ?? [], options.resolve);
  const seal = createSeal(secret, 'webhook secrets');
  const switchOff = createSwitchOff({ database, mailer: mail && createMailer(mail), baseUrl, onError });
  const delivery = {
    seal,
    render: createRender(database, readRecords),
    sender: createSender(destinations, { ...sendLimits, ...options.sending }),
    onAttempt,
    switchOff,
  };
  const limits = { ...runLimits, ...options.limits };
  return { webhooks: new Webhooks({ database, limits, delivery, onError }), endpoints: { seal, destinations } };
}

const read =
  <T extends { id: string }, Row extends { id: string }>(selection: Selection<T, Row>, present: (row: Row) => object) =>
  async (tenant: Tenant, ids: string[]): Promise<Map<string, object>> => {
    const rows = await readEach(tenant, selection, anyOf<T>('id', ids));
    return new Map(rows.map((row) => [row.id, present(row)]));
  };

export const readRecords: ReadRecords = {
  customer: read(customerTable.selection, presentCustomer),
  item: read(itemTable.selection, presentItem),
  proposal: read(proposalWithLines, presentProposal),
};

const writing: ReadonlySet<string | undefined> = new Set(
  operationsOf(v1)
    .filter(({ method }) => method !== 'GET')
    .map((route) => metadataOf(route).operationId),
);

/** Every write by the API or an agent is a hint, which costs two set lookups. */
export function hint(webhooks: Webhooks, { status, operation, organizationId }: UsageEvent): void {
  if (status < 300 && writing.has(operation)) webhooks.hint(organizationId);
}
