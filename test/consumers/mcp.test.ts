/** The MCP server with the official client and an independent one, and what it costs an agent in tokens. */
import { createMCPClient } from '@ai-sdk/mcp';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();

async function connect({ key }: Pick<Tenant, 'key'>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
  return client;
}

/** A result is a single text part: JSON. */
const valueOf = (result: unknown) => JSON.parse(Object(result).content[0].text);

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `Queso Cabrales, ${index} kg`,
    description: 'From Asturias, matured for four months.',
  }));

/** Ten typical proposals. */
async function tenProposals(tenant: Tenant): Promise<void> {
  const { body } = await tenant.call('POST', '/v1/customers', {
    companyName: 'Vins et alcools Chevalier',
    email: 'paul@chevalier.example',
  });
  const times = { sentAt: '2026-03-01T10:00:00.000Z', acceptedAt: '2026-03-03T14:05:12.000Z' };
  for (let count = 0; count < 10; count += 1) {
    await proposal(tenant, {
      customer: body.id,
      status: 'accepted',
      number: `P-10${count}`,
      ...times,
      lines: lines(6),
    });
  }
}

describe('the official client', () => {
  test('lists the tools and calls them', async () => {
    const tenant = await world.organization();
    const client = await connect(tenant);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(10);
    const made = await client.callTool({ name: 'save_customer', arguments: { name: 'Ann', email: 'ann@example.com' } });
    const found = await client.callTool({ name: 'find_customers', arguments: { q: 'ann' } });
    expect(valueOf(found)).toMatchObject({ records: [{ name: 'Ann', email: 'ann@example.com' }] });
    expect(valueOf(made)).toMatchObject({ name: 'Ann', status: 'active' });
    const failed = await client.callTool({ name: 'save_customer', arguments: { name: 'Ann', email: 'nobody' } });
    expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('validation_failed') }] });
    await client.close();
  });

  test('is told that its key is wrong', async () => {
    await expect(connect({ key: `ak_live_${'0'.repeat(64)}` })).rejects.toThrow(/401|api_key_invalid|Unauthorized/);
  });

  test('needs few tokens for the list of tools, and for typical proposals', async () => {
    const tenant = await world.organization();
    await tenProposals(tenant);
    const client = await connect(tenant);
    const listed = encode(JSON.stringify(await client.listTools())).length;
    const { content } = await client.callTool({ name: 'find_proposals', arguments: { status: ['accepted'] } });
    const [{ text } = { text: '' }] = content as { text: string }[];
    const found = encode(text).length;
    process.stdout.write(`tools ${listed} tokens, ten proposals ${found}\n`);
    expect(JSON.parse(text).records).toHaveLength(10);
    // Includes every filter of every list, and their rules.
    expect(listed).toBeLessThan(3_800);
    expect(found).toBeLessThan(2_500);
    await client.close();
  });
});

describe('the client of the AI SDK', () => {
  test('turns the tools into its own, and calls them', async () => {
    const tenant = await world.organization();
    const headers = { Authorization: `Bearer ${tenant.key}` };
    const client = await createMCPClient({ transport: { type: 'http', url: `${world.url}/mcp`, headers } });
    const tools = await client.tools();
    expect(Object.keys(tools)).toHaveLength(10);
    const options = { messages: [], toolCallId: '1', context: {} };
    const made = await tools.create_item?.execute({ type: 'service', name: 'Painting', unitPrice: '12.50' }, options);
    expect(valueOf(made)).toMatchObject({ name: 'Painting', unitPrice: '12.50' });
    await client.close();
  });
});
