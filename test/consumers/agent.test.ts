/** Ten questions to an agent with the official client: the calls and tokens that they take, printed and bounded. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { importInto } from '../import/importing.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();

const countries = ['DE', 'FR', 'MX', 'US', 'BR'];
const day = (month: number, date: number) => new Date(Date.UTC(2026, month - 1, date, 12)).toISOString();

/** Sixty customers, with two hundred proposals in three currencies, a third of them accepted. */
async function fill(tenant: Tenant): Promise<void> {
  const { rows } = importInto(world, tenant);
  const customers = Array.from({ length: 60 }, (_, index) => ({
    externalId: `CUST-${index}`,
    companyName: `Handelshaus ${index}`,
    email: `office@handelshaus-${index}.example`,
    phone: `030-00743${String(index).padStart(2, '0')}`,
    taxId: `DE-99-${index}`,
    tags: ['wholesale', 'north'],
    address: { line1: `Obere Str. ${index}`, city: 'Berlin', country: countries[index % 5] },
  }));
  const proposals = Array.from({ length: 200 }, (_, index) => {
    const month = 1 + (index % 6);
    const isAccepted = index % 3 === 0;
    return {
      externalId: `ORDER-${index}`,
      number: `P-${1000 + index}`,
      title: `Order of spring assortment ${index}`,
      status: isAccepted ? 'accepted' : 'sent',
      customerExternalId: `CUST-${index % 60}`,
      currency: ['JPY', 'KWD', 'USD'][[7, 11, 1].findIndex((each) => index % each === 0)],
      sentAt: day(month, 1),
      expiresAt: day(month + 2, 1 + (index % 28)),
      ...(isAccepted && { acceptedAt: day(month, 12), acceptedBy: { name: 'Maria Anders' } }),
      owner: { name: 'Mara Ellison', email: 'mara@larkmoor.example' },
      lineItems: Array.from({ length: 4 }, (__, line) => ({
        type: 'product',
        name: `Queso Cabrales, ${line + 1} kg`,
        quantity: 12,
        unitPrice: '14',
      })),
    };
  });
  expect(await rows('customers', ...customers)).toMatchObject({ created: 60, errors: [] });
  expect(await rows('proposals', ...proposals)).toMatchObject({ created: 200, errors: [] });
  for (const name of ['Chai', 'Chang', 'Aniseed Syrup'])
    await tenant.call('POST', '/v1/items', { type: 'product', name, unitPrice: '18', sku: name.toLowerCase() });
}

type Call = [tool: string, given: Record<string, unknown>];
/** A question, the calls that answer it, and where the answer is in the last result. */
type Question = { asked: string; calls: Call[]; answer: (result: any) => unknown; expected: unknown };

const questions: Question[] = [
  {
    asked: 'What did we sell this year, by currency and month?',
    calls: [['sum_proposals', { status: ['accepted'], acceptedSince: '2026-01-01', groupBy: ['acceptedMonth'] }]],
    answer: ({ count, sums }) => [count, sums.find((one: any) => one.currency === 'JPY')],
    expected: [67, { currency: 'JPY', acceptedMonth: '2026-01', count: 5, total: '3360' }],
  },
  {
    asked: 'How many offers are open, and what are they worth?',
    calls: [['sum_proposals', { groupBy: ['status'] }]],
    answer: ({ sums }) =>
      sums.filter(({ status }: any) => status === 'sent').map(({ currency, count }: any) => `${count} ${currency}`),
    expected: ['19 JPY', '10 KWD', '104 USD'],
  },
  {
    asked: 'Which open offers expire in the first week of May?',
    calls: [
      [
        'find_proposals',
        { status: ['sent'], expiresSince: '2026-05-01', expiresBefore: '2026-05-08', fields: ['number', 'expiresAt'] },
      ],
    ],
    answer: ({ records }) => records.length,
    expected: 9,
  },
  {
    asked: 'What is the phone number of Handelshaus 17?',
    calls: [['find_customers', { q: 'handelshaus 17', fields: ['name', 'phone'] }]],
    answer: ({ records }) => records.map(({ phone }: any) => phone),
    expected: ['030-0074317'],
  },
  {
    asked: 'Which customers are in Mexico?',
    calls: [['find_customers', { country: 'MX', limit: 100, fields: ['name'] }]],
    answer: ({ records }) => records.length,
    expected: 12,
  },
  {
    asked: 'What is in proposal P-1042, and who accepted it?',
    calls: [
      ['find_proposals', { number: 'P-1042', includeLineItems: true, fields: ['status', 'acceptedBy', 'total'] }],
    ],
    answer: ({ records: [{ status, acceptedBy, lineItems }] }) => [status, acceptedBy.name, lineItems.length],
    expected: ['accepted', 'Maria Anders', 4],
  },
  {
    asked: 'Which items changed since yesterday?',
    calls: [['find_items', { updatedSince: '2026-01-01', sort: '-updatedAt', fields: ['name', 'updatedAt'] }]],
    answer: ({ records }) => records.map(({ name }: any) => name).toSorted(),
    expected: ['Aniseed Syrup', 'Chai', 'Chang'],
  },
  {
    asked: 'To which address and tax id does the invoice of P-1042 go?',
    calls: [['find_proposals', { number: 'P-1042', includeCustomer: true, fields: ['customer'] }]],
    answer: ({ records: [{ customer }] }) => [customer.taxId, customer.address.line1],
    expected: ['DE-99-42', 'Obere Str. 42'],
  },
  {
    asked: 'Tag Handelshaus 5 as a VIP.',
    calls: [['save_customer', { externalId: 'CUST-5', tags: { add: ['VIP'] } }]],
    answer: ({ tags }) => tags,
    expected: ['wholesale', 'north', 'VIP'],
  },
  {
    asked: 'Which were the last five orders of Handelshaus 17?',
    calls: [
      ['find_customers', { q: 'handelshaus 17', fields: ['name'] }],
      ['find_proposals', { customerId: '…', limit: 5, fields: ['number', 'status', 'total', 'currency'] }],
    ],
    answer: ({ records }) => records.length,
    expected: 4,
  },
];

type Taken = { asked: string; calls: number; tokens: number };

test('ten questions take few calls and few tokens', async () => {
  const tenant = await world.organization({ currency: 'USD' });
  await fill(tenant);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${tenant.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
  const taken: Taken[] = [];
  for (const { asked, calls, answer, expected } of questions) {
    let tokens = 0;
    let last: any;
    for (const [name, given] of calls) {
      const input = 'customerId' in given ? { ...given, customerId: last.records[0].id } : given;
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [{ text } = { text: '' }] = content as { text: string }[];
      expect([asked, isError ? text : undefined]).toEqual([asked, undefined]);
      tokens += encode(JSON.stringify({ name, input })).length + encode(text).length;
      last = JSON.parse(text);
    }
    expect([asked, answer(last)]).toEqual([asked, expected]);
    taken.push({ asked, calls: calls.length, tokens });
  }
  await client.close();
  const all = { asked: 'Together', calls: sum(taken, 'calls'), tokens: sum(taken, 'tokens') };
  for (const { asked, calls, tokens } of [...taken, all])
    process.stdout.write(`${asked.padEnd(60)} ${calls} calls ${String(tokens).padStart(6)} tokens\n`);
  // Before the tools had sums and every filter, these questions took 22 calls and 17,373 tokens.
  expect(all.calls).toBeLessThanOrEqual(11);
  expect(all.tokens).toBeLessThan(3_500);
});

const sum = (taken: Taken[], what: 'calls' | 'tokens') => taken.reduce((all, one) => all + one[what], 0);
