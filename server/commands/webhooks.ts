import { Argument, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { recordEventTypes } from '../../contract/events.ts';
import { readSecret } from '../accounts/signing-secret.ts';
import { readConfig, UsageError } from '../config.ts';
import type { ConfiguredDatabase } from '../database/open.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../entities/webhook.ts';
import { publicId } from '../records/public-id.ts';
import { createDestinations } from '../outgoing/addresses.ts';
import * as endpoints from '../webhooks/endpoints.ts';
import type { EndpointParts, ReplacementOverlap } from '../webhooks/endpoints.ts';
import { listDeliveries, listEndpoints, resend, resendFailed, sendTest } from '../webhooks/log.ts';
import { createSeal } from '../text/seal.ts';
import { adminCommand, asMember, inOrganization, organizationCommand } from './acting.ts';
import { idOf, instant, jsonOption, printList, text } from './command.ts';
import { printLines } from './terminal.ts';

// Object.keys() loses the types of a constant's keys.
const overlaps = Object.keys(endpoints.replacementHours) as ReplacementOverlap[];

export const declare = (command: Command): void => {
  command.description(
    `A running server sends the events. \`create\` and \`replace-secret\` print only the secret to standard output. It is
never shown again.`,
  );
  declareReading(command);
  declareChanges(command);
  declareEnds(command);
  declareSending(command);
};

const endpointArgument = () =>
  new Argument('<ENDPOINT_ID>', 'the id of the endpoint, as `webhooks list` prints it').argParser(
    idOf('endpoint', 'an endpoint'),
  );

const endpointCommand = (command: Command, name: string, summary: string) =>
  adminCommand(command, name, summary).addArgument(endpointArgument());

const eventsOption = () =>
  new Option('--events <TYPES>', `event types, separated by commas: ${recordEventTypes.join(', ')}`).argParser<
    string[]
  >((types, others: string[] | undefined) => [...(others ?? []), ...types.split(',').map((type) => type.trim())]);

function declareReading(command: Command): void {
  organizationCommand(command, 'list', 'list the endpoints of an organization, without their secrets')
    .addOption(jsonOption())
    .action(({ organization, json }) =>
      inOrganization(organization, async (tenant) => printList(json, (await listEndpoints(tenant.em())).map(present))),
    );
  organizationCommand(command, 'deliveries', 'list the last 50 deliveries to an endpoint')
    .addArgument(endpointArgument())
    .addOption(jsonOption())
    .action((id, { organization, json }) =>
      inOrganization(organization, async (tenant) => {
        const em = tenant.em();
        const { id: endpointId } = await endpoints.findEndpoint(em, id);
        printList(json, (await listDeliveries(em, endpointId, 50)).map(presentDelivery));
      }),
    );
}

function declareChanges(command: Command): void {
  adminCommand(command, 'create', 'create an endpoint; needs the Team plan')
    .requiredOption('--name <NAME>', 'what the endpoint is for', text)
    .requiredOption('--url <URL>', 'where events are sent', text)
    .addOption(eventsOption().makeOptionMandatory())
    .action(({ name, url, events, ...acting }) =>
      asMember(acting, async (em, member, database) => {
        const issued = await endpoints.createEndpoint(em, member, { name, url, events }, await partsOf(database));
        printLines(issued.secret);
      }),
    );
  endpointCommand(command, 'change', 'change the name, the URL or the events of an endpoint')
    .option('--name <NAME>', 'the new name', text)
    .option('--url <URL>', 'the new URL', text)
    .addOption(eventsOption())
    .action((id, { name, url, events, ...acting }) => {
      if (!name && !url && !events) throw new UsageError('give --name, --url or --events');
      return asMember(acting, async (em, member, database) => {
        const changes = { id, name, url, events };
        const changed = await endpoints.changeEndpoint(em, member, changes, await partsOf(database));
        printLines(`Changed ${changed.name}.`);
      });
    });
  endpointCommand(command, 'replace-secret', 'create a new secret; the old one also signs for a while')
    .addOption(
      new Option('--overlap <PERIOD>', 'how long the old secret also signs').choices(overlaps).makeOptionMandatory(),
    )
    .action((id, { overlap, ...acting }) =>
      asMember(acting, async (em, member, database) => {
        const issued = await endpoints.replaceSecret(em, member, { id, overlap }, await partsOf(database));
        printLines(issued.secret);
      }),
    );
}

function declareEnds(command: Command): void {
  const summaries = {
    on: 'switch an endpoint on',
    off: 'switch an endpoint off: it misses all events until it is on again',
  } as const;
  for (const name of ['on', 'off'] as const)
    endpointCommand(command, name, summaries[name]).action((id, acting) =>
      asMember(acting, async (em, member) => {
        const endpoint = await endpoints.switchEndpoint(em, member, { id, on: name === 'on' });
        printLines(`${endpoint.name} is ${name}.`);
      }),
    );
  endpointCommand(command, 'remove', 'remove an endpoint and its deliveries').action((id, acting) =>
    asMember(acting, async (em, member) =>
      printLines(`Removed ${(await endpoints.removeEndpoint(em, member, id)).name}.`),
    ),
  );
}

function declareSending(command: Command): void {
  endpointCommand(command, 'test', 'send a test event to an endpoint').action((id, acting) =>
    asMember(acting, async (em, member) => printLines(publicId('event', (await sendTest(em, member, id)).id))),
  );
  endpointCommand(command, 'resend', 'resend one event, or all that could not be delivered since a time')
    .addOption(new Option('--event <EVENT_ID>', 'one event').argParser(idOf('event', 'an event')).conflicts('since'))
    .addOption(new Option('--since <TIME>', 'such as 2026-03-01 or 2026-03-01T09:30:00Z').argParser(instant))
    .action((id, { event, since, ...acting }) =>
      asMember(acting, async (em, member) => {
        if (event !== undefined) await resend(em, member, { id, deliveryId: event });
        const count = event === undefined ? await resendFailed(em, member, { id, since: since ?? allTime }) : 1;
        printLines(`Resending ${count} ${count === 1 ? 'event' : 'events'}.`);
      }),
    );
}

const allTime = '2000-01-01T00:00:00.000Z';

async function partsOf({ pool }: ConfiguredDatabase): Promise<EndpointParts> {
  const { AUTH_SECRET, WEBHOOK_ALLOW } = readConfig();
  return {
    seal: createSeal(AUTH_SECRET ?? (await readSecret(pool)), 'webhook secrets'),
    destinations: createDestinations(WEBHOOK_ALLOW),
  };
}

const present = ({ id, name, url, events, activeSince, offReason, createdAt }: WebhookEndpoint) => ({
  id: publicId('endpoint', id),
  name,
  url,
  events,
  status: activeSince === null ? 'off' : 'on',
  reason: offReason,
  createdAt,
});

const presentDelivery = ({ id, type, foundAt, state, attempts, status, error }: WebhookDelivery) => ({
  id: publicId('event', id),
  type,
  foundAt,
  state,
  attempts,
  status,
  error,
});
