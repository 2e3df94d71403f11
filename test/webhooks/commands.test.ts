/** The command line: the same endpoints as the settings pages. */
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { publicId } from '../../server/records/public-id.ts';
import { helpOf, runCommand } from '../command.ts';
import { auditLog } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { allow, authSecret, deliveriesOf, typesOf, until, webhookWorld } from './scene.ts';

const world = useWorld(webhookWorld);

async function scene() {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  const { address } = world.database;
  const variables = {
    DATABASE_URL: 'url' in address ? address.url : '',
    AUTH_SECRET: authSecret,
    WEBHOOK_ALLOW: allow.join(),
  };
  const { slug } = tenant.organization;
  const run = (command: string, ...words: string[]) =>
    runCommand(['webhooks', command, '--organization', slug, ...words], variables);
  const act = (command: string, ...words: string[]) => run(command, ...words, '--by', tenant.admin.email);
  return { tenant, receiver, run, act };
}

describe('webhooks', () => {
  test('creates, lists, changes, switches, tests and removes an endpoint', async () => {
    const { tenant, receiver, run, act } = await scene();
    const options = ['--name', 'Ledger', '--url', receiver.url, '--events', 'customer.created, item.created'];
    const created = await act('create', ...options, '--events', 'import.completed');
    expect(created).toMatchObject({ status: 0, out: expect.stringMatching(/^whsec_\S{44}\n$/) });
    receiver.secrets.push(created.out.trim());
    const [listed] = JSON.parse((await run('list', '--json')).out);
    expect(listed).toEqual({
      id: expect.stringMatching(/^whe_/),
      name: 'Ledger',
      url: receiver.url,
      events: ['customer.created', 'item.created', 'import.completed'],
      status: 'on',
      reason: null,
      createdAt: expect.any(String),
    });
    expect((await run('list')).out).toContain('customer.created,item.created,import.completed');
    const tested = await act('test', listed.id);
    await until(() => typesOf(receiver), ['endpoint.test']);
    expect(receiver.received[0]?.id).toBe(tested.out.trim());
    await until(async () => (await deliveriesOf(world, tenant))[0]?.state, 'delivered');
    const [delivery] = JSON.parse((await run('deliveries', listed.id, '--json')).out);
    expect(delivery).toMatchObject({ id: tested.out.trim(), type: 'endpoint.test', state: 'delivered', status: 204 });
    expect((await act('resend', listed.id, '--event', delivery.id)).out).toBe('Resending 1 event.\n');
    await until(() => typesOf(receiver), ['endpoint.test', 'endpoint.test']);
    expect((await act('resend', listed.id, '--since', '2026-01-01T00:00:00Z')).out).toBe('Resending 0 events.\n');
    const both = await act('resend', listed.id, '--event', delivery.id, '--since', '2026-01-01');
    expect(both).toMatchObject({ status: 1, out: '', err: expect.stringContaining('cannot be used with') });
    expect((await act('change', listed.id, '--name', 'Books')).out).toBe('Changed Books.\n');
    expect(await act('change', listed.id)).toMatchObject({
      status: 1,
      err: expect.stringContaining('give --name, --url or --events'),
    });
    expect((await act('replace-secret', listed.id, '--overlap', 'now')).out).toMatch(/^whsec_\S{44}\n$/);
    expect((await act('off', listed.id)).out).toBe('Books is off.\n');
    expect(JSON.parse((await run('list', '--json')).out)).toMatchObject([{ name: 'Books', status: 'off' }]);
    expect(await act('test', listed.id)).toMatchObject({
      status: 1,
      err: expect.stringContaining('Switch it on first'),
    });
    expect((await act('on', listed.id)).out).toBe('Books is on.\n');
    expect((await act('remove', listed.id)).out).toBe('Removed Books.\n');
    expect(JSON.parse((await run('list', '--json')).out)).toEqual([]);
    expect(await auditLog(world, tenant)).toEqual(
      expect.arrayContaining(['webhook_created Ledger', 'webhook_switched_on Books', 'webhook_removed Books']),
    );
  });

  test('says what is wrong in one sentence', async () => {
    const { receiver, run, act } = await scene();
    const create = (url: string, events: string) => act('create', '--name', 'E', '--url', url, '--events', events);
    const failures: [url: string, events: string, sentence: RegExp][] = [
      [receiver.url, 'customer.deleted', /There is no event “customer\.deleted”/],
      ['https://10.0.0.1/', 'item.created', /public addresses only/],
      ['nonsense', 'item.created', /starts with https/],
    ];
    for (const [url, events, sentence] of failures)
      expect(await create(url, events)).toMatchObject({ status: 1, out: '', err: expect.stringMatching(sentence) });
    expect((await run('list', '--organization', 'nobody')).err).toBe(
      'error: there is no organization with the slug nobody; `organizations list` shows all\n',
    );
    expect((await act('off', 'cus_1')).err).toMatch(/It must be the id of an endpoint/);
    expect((await act('resend', publicId('endpoint', uuidv7()), '--since', '2026')).err).toMatch(
      /a time with its zone/,
    );
  });

  test('says what --overlap means', async () => {
    expect(await helpOf('webhooks', 'replace-secret')).toContain(
      '--overlap <PERIOD> how long the old secret also signs (choices: "now", "day", "week")',
    );
  });
});
