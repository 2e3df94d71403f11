/** A Zapier integration on Zapier's own platform core, run by its app tester against the real server. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { describe, expect, test } from 'vitest';
import zapier from 'zapier-platform-core';
import type { Bundle, ZObject } from 'zapier-platform-core';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { app } from './zapier-app.ts';

// It comes without types.
const schema = createRequire(import.meta.url)('zapier-platform-schema');
const run = zapier.createAppTester(app);
const { new_customer, find_customer, create_customer } = {
  new_customer: app.triggers.new_customer.operation.perform,
  find_customer: app.searches.find_customer.operation.perform,
  create_customer: app.creates.create_customer.operation.perform,
};

const world = useWorld();
const bundleOf = ({ key }: Tenant, inputData: Record<string, unknown> = {}) => ({
  authData: { baseUrl: world.url, apiKey: key },
  inputData,
});

describe('a Zapier integration', () => {
  test('is one that Zapier accepts', () => {
    // As it is uploaded: a function is its place and the number of its parameters.
    const uploaded = JSON.stringify(app, (_, value) =>
      typeof value === 'function' ? `$func$${value.length}$f$` : value,
    );
    expect(schema.validateAppDefinition(JSON.parse(uploaded)).errors).toEqual([]);
    const broken = uploaded.replace('"noun":"Customer"', '"noun":7');
    expect(schema.validateAppDefinition(JSON.parse(broken)).errors).not.toEqual([]);
  });

  test('connects with a key, and names the connection', async () => {
    const tenant = await world.organization({ name: 'Northwind' });
    const me = await run(app.authentication.test, bundleOf(tenant));
    expect(me).toMatchObject({ label: expect.stringContaining('Northwind'), organization: { name: 'Northwind' } });
  });

  test('tells what is wrong with a key', async () => {
    const tenant = await world.organization();
    const bundle = { ...bundleOf(tenant), authData: { baseUrl: world.url, apiKey: `${tenant.key.slice(0, -4)}0000` } };
    await expect(run(app.authentication.test, bundle)).rejects.toThrow(/api_key_invalid/);
  });

  test('polls new customers, newest first, each with the id that Zapier tells them apart by', async () => {
    const tenant = await world.organization();
    for (const name of ['Ann', 'Berta']) await tenant.call('POST', '/v1/customers', { name });
    const found: any = await run(new_customer, bundleOf(tenant));
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['Berta', 'Ann']);
    expect(new Set(found.map(({ id }: { id: string }) => id)).size).toBe(2);
  });

  test('creates a customer, and the same one when the step runs twice', async () => {
    const tenant = await world.organization();
    const bundle = bundleOf(tenant, { externalId: 'crm-7', name: 'Ann', email: 'ann@example.com', phone: '' });
    const made: any = await run(create_customer, bundle);
    expect(made).toMatchObject({ name: 'Ann', email: 'ann@example.com', phone: null, externalId: 'crm-7' });
    const again = await run(create_customer, { ...bundle, inputData: { ...bundle.inputData, name: 'Anna' } });
    expect(again).toMatchObject({ id: made.id, name: 'Anna' });
    expect(await run(find_customer, bundleOf(tenant, { email: 'ANN@example.com' }))).toEqual([again]);
    expect(await run(find_customer, bundleOf(tenant, { email: 'nobody@example.com' }))).toEqual([]);
  });

  test('says what the API says of a value that it refuses', async () => {
    const tenant = await world.organization();
    const bundle = bundleOf(tenant, { externalId: 'crm-7', name: 'Ann', email: 'nobody' });
    await expect(run(create_customer, bundle)).rejects.toThrow(/e-?mail/);
  });

  test('runs the code of the guide unchanged', async () => {
    const guide = readFileSync(new URL('../../server/web/docs/guides/automation.md', import.meta.url), 'utf8');
    const blocks = [...guide.matchAll(/^```js zapier\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
    const performs = blocks.map((code) => {
      const text = code.replaceAll('https://api.example.com', world.url);
      // What Zapier does with the code of a step.
      const step = compileFunction(`return (async () => {${text}})()`, ['z', 'bundle']);
      return { text, perform: (z: ZObject, bundle: Bundle) => step(z, bundle) };
    });
    const tenant = await world.organization();
    const bundle = bundleOf(tenant, { externalId: 'crm-7', name: 'Ann', email: 'ann@example.com', phone: '' });
    const writes = performs.filter(({ text }) => text.includes("method: 'POST'"));
    const reads = performs.filter(({ text }) => !text.includes("method: 'POST'"));
    expect([writes.length, reads.length]).toEqual([1, 3]);
    for (const { perform } of writes) expect(await run(perform, bundle)).toMatchObject({ name: 'Ann', phone: null });
    for (const { perform } of reads) expect(await run(perform, bundle)).toMatchObject([{ name: 'Ann' }]);
  });
});
