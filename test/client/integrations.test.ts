/** `npm run integrations`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createApp } from '../../client/zapier/app.ts';
import type { Contract } from '../../client/zapier/app.ts';

type Action = { display: { description: string } };
const script = fileURLToPath(new URL('../../client/build/integrations.ts', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'integrations-test-'));
afterAll(() => rm(folder, { recursive: true }));

test('takes the URL of the service with or without /v1, and describes triggers in the present tense', async () => {
  const { status } = spawnSync(process.execPath, [script, '--url', 'https://api.example.com/v1/', '--to', folder]);
  expect(status).toBe(0);
  const contract: Contract = JSON.parse(await readFile(join(folder, 'zapier/contract.json'), 'utf8'));
  expect(contract).toMatchObject({ baseUrl: 'https://api.example.com' });
  const { triggers }: { triggers?: Record<string, Action> } = createApp(contract);
  const described = Object.values(triggers ?? {}).map(({ display }) => display.description);
  for (const what of [
    'customer is created',
    'proposal is sent for the first time',
    'proposal expires for the first time',
  ])
    expect(described).toContain(`Triggers when a ${what}.`);
});

test.each([
  [[], 'Pass the URL of the service: npm run integrations -- --url https://api.example.com\n'],
  [['--url', 'api.example.com'], 'baseUrl must be the URL of the API, such as https://api.example.com\n'],
])('says in one line what is wrong with the arguments %j', (args, sentence) => {
  const { status, stderr } = spawnSync(process.execPath, [script, ...args, '--to', folder], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, sentence]);
});
