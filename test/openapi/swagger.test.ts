/** The Swagger 2.0 document for custom connectors: what their designer shows, and nothing that it cannot show. */
import { describe, expect, test } from 'vitest';
import { swagger20Document } from '../../server/http/documents/swagger.ts';
import { importInto } from '../import/importing.ts';
import { useWorld } from '../world.ts';

const document: any = swagger20Document('https://api.northwind.example/base');

type Part = Record<string, any>;
/** Every object in the document that is a field or a parameter. */
function fieldsIn(value: unknown): [name: string, field: Part][] {
  if (typeof value !== 'object' || value === null) return [];
  const parameters = [Reflect.get(value, 'parameters') ?? []]
    .flat()
    .map((one: Part): [string, Part] => [one.name, one]);
  const properties = Object.entries<Part>(Object(Reflect.get(value, 'properties')));
  return [...parameters, ...properties, ...Object.values(value).flatMap(fieldsIn)];
}

/** The query that a connector sends without showing it. */
const fixedIn = ({ parameters }: Part): string =>
  parameters
    .filter((one: Part) => one['x-ms-visibility'] === 'internal')
    .map((one: Part) => `${one.name}=${one.default}`)
    .join('&');

describe('/swagger-2.0.json', () => {
  test('says where the service is, and how to send the key', () => {
    expect(document).toMatchObject({
      swagger: '2.0',
      host: 'api.northwind.example',
      basePath: '/base',
      schemes: ['https'],
      securityDefinitions: { apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' } },
    });
  });

  test('labels every field and parameter with its full path, and sets its visibility', () => {
    const fields = fieldsIn([document.paths, document.definitions]).flatMap(([name, field]): [string, Part][] =>
      name === 'body'
        ? []
        : [[name, field.$ref ? document.definitions[field.$ref.replace('#/definitions/', '')] : field]],
    );
    expect(fields.length).toBeGreaterThan(300);
    for (const [name, field] of fields) {
      expect(field['x-ms-summary'], name).toMatch(/^[A-Z][\w ]+$/);
      expect(['important', 'advanced', 'internal'], name).toContain(field['x-ms-visibility']);
    }
    const labels = fields.map(([, field]) => field['x-ms-summary']);
    expect(labels).toEqual(expect.arrayContaining(['External ID', 'Address city', 'Shipping address city', 'Search']));
  });

  test('leaves out metadata, read-only inputs, and what 2.0 does not have', () => {
    const fields = fieldsIn([document.paths, document.definitions]);
    expect(fields.filter(([name, field]) => name === 'metadata' || field.readOnly)).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/"(?:nullable|anyOf|allOf|oneOf|examples|requestBody|components)":/);
  });

  test('names every object, and puts nothing next to a reference', () => {
    const within = (value: unknown): Part[] =>
      typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(within)] : [];
    const references = within(document).filter((part) => typeof part.$ref === 'string');
    const names = Object.keys(document.definitions);
    expect(names).toEqual(expect.arrayContaining(['Customer', 'CustomerCreate', 'CustomerShippingAddress', 'Problem']));
    for (const reference of references) expect(Object.keys(reference)).toEqual(['$ref']);
    const used = references.map(({ $ref }) => $ref.replace('#/definitions/', ''));
    expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
    const inPlace = within(document.paths).filter((part) => part.properties);
    expect(inPlace).toEqual([]);
  });

  test('requires no field that may be null', () => {
    for (const [name, { properties, required = [] }] of Object.entries<Part>(document.definitions)) {
      for (const field of required) {
        const { $ref, ...own } = properties[field];
        const target = $ref ? document.definitions[$ref.replace('#/definitions/', '')] : own;
        expect(target['x-nullable'], `${name} ${field}`).toBeUndefined();
      }
    }
  });

  describe('the triggers', () => {
    const world = useWorld();
    const triggers = Object.entries<Part>(document.paths).filter(([, { get }]) => get?.['x-ms-trigger']);

    test.each(triggers)('%s polls a list, oldest first', async (path, { get }) => {
      expect(get).toMatchObject({
        'x-ms-trigger': 'batch',
        'x-ms-trigger-metadata': { kind: 'query', mode: 'polling' },
      });
      const [since] = /\w+Since/.exec(get.description) ?? [];
      expect(get.parameters.map((one: Part) => one.name)).toContain(since);
      const tenant = await world.organization();
      const { status, body } = await tenant.call('GET', `${path}?${fixedIn(get)}&${since}=2026-01-01T00:00:00Z`);
      expect([status, body.data]).toEqual([200, []]);
    });

    test('find a new customer after an import of more than a page, whose customers share one time', async () => {
      const path = '/v1/customers/';
      const { get } = document.paths[path];
      const tenant = await world.organization();
      const rows = Array.from({ length: 101 }, (_, index) => ({ externalId: `C-${index}`, name: `C-${index}` }));
      await importInto(world, tenant).rows('customers', ...rows);
      let first: Part = {};
      // A transaction elsewhere in the database may hold it back.
      const isPastImport = async () => {
        first = await tenant.call('GET', `${path}?${fixedIn(get)}`);
        return first.body.syncedThrough > first.body.data[0].createdAt;
      };
      await expect.poll(isPastImport).toBe(true);
      expect(get.description).toContain('`createdSince`, with `syncedThrough` as its value');
      await tenant.call('POST', '/v1/customers', { name: 'Ann' });
      const next = await tenant.call('GET', `${path}?${fixedIn(get)}&createdSince=${first.body.syncedThrough}`);
      expect([first.body.data.length, next.body.data]).toEqual([100, [expect.objectContaining({ name: 'Ann' })]]);
    });

    test('are for customers and proposals', () => {
      expect(triggers.map(([path]) => path)).toEqual(['/v1/customers/', '/v1/proposals/']);
    });
  });
});
