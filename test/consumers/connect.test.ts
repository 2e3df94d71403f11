/** The official agent client, from its first request without a key to revocation, with a real browser in between. */
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import { expectSound, useBrowser } from '../browser/browser.ts';
import { hasChromium } from '../browser/chromium.ts';
import { proposal } from '../records.ts';
import { givePassword, someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import { listen } from '../ports.ts';
import { signInHere } from './consent.ts';

const world = useWorld();
const screen = useBrowser();

/** Where the browser returns to: the agent's own page. */
let callback = '';
const returns: URLSearchParams[] = [];
const server = createServer(({ url = '' }, response) => {
  if (url.startsWith('/callback?')) returns.push(new URL(url, callback).searchParams);
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Agent</title><h1>Back at the agent</h1>');
});
beforeAll(async () => {
  callback = `http://127.0.0.1:${await listen(server)}/callback`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** An agent's state: its registration, its key, and what is in progress. */
function agent(): OAuthClientProvider & { sentTo: URL[]; key(): string } {
  let registration: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  const sentTo: URL[] = [];
  return {
    sentTo,
    key: () => tokens?.access_token ?? '',
    redirectUrl: callback,
    clientMetadata: { client_name: 'Quote Robot', redirect_uris: [callback], token_endpoint_auth_method: 'none' },
    state: () => `state ${sentTo.length}`,
    clientInformation: () => registration,
    saveClientInformation: (saved) => void (registration = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void sentTo.push(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovered = saved),
    discoveryState: () => discovered,
    invalidateCredentials: () => void (tokens = undefined),
  };
}

const newClient = () => new Client({ name: 'test', version: '1.0.0' });
const transportOf = (authProvider: OAuthClientProvider) =>
  new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { authProvider });

/** A result is a single text part: JSON. */
const valueOf = (result: unknown) => JSON.parse(Object(result).content[0].text);

/** Connects an agent that has no working key; `inBrowser` gets it one. */
async function connected(own: ReturnType<typeof agent>, inBrowser: (url: string) => Promise<void>): Promise<Client> {
  const transport = transportOf(own);
  await expect(newClient().connect(transport)).rejects.toThrow(UnauthorizedError);
  await inBrowser(own.sentTo.at(-1)?.href ?? '');
  const answer = returns.at(-1) ?? new URLSearchParams();
  expect(answer.get('state')).toBe(`state ${own.sentTo.length - 1}`);
  await transport.finishAuth(answer);
  const client = newClient();
  await client.connect(transportOf(own));
  return client;
}

describe.runIf(hasChromium)('an agent with the official SDK', () => {
  test('discovers, registers, gets consent in a browser, works, is revoked, and connects again', async () => {
    const tenant = await world.organization({ name: 'Alfreds Futterkiste' });
    const { body: customer } = await tenant.call('POST', '/v1/customers', { companyName: 'Ana Trujillo' });
    const accepted = { sentAt: '2026-03-01T10:00:00.000Z', acceptedAt: '2026-03-03T14:05:12.000Z' };
    await proposal(tenant, { customer: customer.id, status: 'accepted', number: 'P-1', ...accepted });
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const page = await screen.open();
    const own = agent();

    const client = await connected(own, async (url) => {
      await page.goto(url);
      await signInHere(page, admin);
      await page.getByRole('heading', { name: 'Connect Quote Robot?' }).waitFor();
      await page.getByText('a program on this computer').waitFor();
      await expectSound(page);
      await page.getByRole('button', { name: 'Create key and connect' }).click();
      await page.getByRole('heading', { name: 'Back at the agent' }).waitFor();
    });
    expect(own.key()).toMatch(/^ak_live_[0-9a-f]{64}$/);
    const found = await client.callTool({ name: 'find_proposals', arguments: { status: ['accepted'] } });
    expect(valueOf(found).records).toMatchObject([{ number: 'P-1' }]);
    const made = await client.callTool({ name: 'save_customer', arguments: { name: 'Paula' } });
    expect(valueOf(made)).toMatchObject({ name: 'Paula' });

    await page.goto(`${world.url}/settings/api-keys`);
    await page.getByText('by connecting 127.0.0.1').waitFor();
    await page.getByRole('link', { name: 'Revoke Quote Robot' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“Quote Robot” has been revoked').waitFor();
    const told = await tenant.as(own.key()).call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect([told.status, told.body.detail]).toEqual([
      401,
      expect.stringContaining('This API key was revoked or replaced.'),
    ]);
    await expect(client.callTool({ name: 'who_am_i', arguments: {} })).rejects.toThrow(UnauthorizedError);

    // The person has since become a member of a second organization, with the same password.
    const second = await world.organization({ name: 'Vins et alcools Chevalier' });
    const { email, name } = admin;
    await givePassword(world, await addMember(world.database, second.organization, { email, name, role: 'admin' }));
    await page.getByRole('button', { name: 'Sign out' }).click();
    const again = await connected(own, async (url) => {
      await page.goto(url);
      await signInHere(page, admin);
      await page.getByLabel('Connect another organization').selectOption('Vins et alcools Chevalier');
      await expectSound(page);
      await page.getByRole('button', { name: 'Switch' }).click();
      await page.getByText('An application is asking for an API key for Vins et alcools Chevalier.').waitFor();
      await page.getByRole('button', { name: 'Create key and connect' }).click();
      await page.getByRole('heading', { name: 'Back at the agent' }).waitFor();
    });
    expect(valueOf(await again.callTool({ name: 'who_am_i', arguments: {} }))).toMatchObject({
      key: { name: 'Quote Robot' },
      organization: { name: 'Vins et alcools Chevalier' },
    });
    expect(screen.complaints).toEqual([]);
  });

  test('gets access_denied when a member, who is told whom to ask, cancels', async () => {
    const tenant = await world.organization({ name: 'Alfreds Futterkiste' });
    await someone(world, tenant, 'admin', 'Mara Ellison');
    const member = await someone(world, tenant, 'member', 'Jo Park');
    const page = await screen.open();
    const own = agent();
    await expect(newClient().connect(transportOf(own))).rejects.toThrow(UnauthorizedError);
    await page.goto(own.sentTo.at(-1)?.href ?? '');
    await signInHere(page, member);
    await page.getByText('Only admins of Alfreds Futterkiste can connect applications.').waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Cancel and return' }).click();
    await page.getByRole('heading', { name: 'Back at the agent' }).waitFor();
    expect(returns.at(-1)?.get('error')).toBe('access_denied');
    const wrong = new URL(own.sentTo.at(-1)?.href ?? '');
    wrong.searchParams.set('code_challenge_method', 'plain');
    await page.goto(wrong.href);
    await page.getByRole('heading', { name: 'This application cannot be connected' }).waitFor();
    await expectSound(page);
    expect(screen.complaints).toEqual([]);
  });
});
