/** The Swagger 2.0 document for custom connectors: what their designer shows, and nothing that it cannot show. */
import { describe, expect, test } from 'vitest';
import { swagger20Document } from '../../contract/openapi/openapi.ts';
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

  test('labels every field and parameter, with its whole path, and says how prominent it is', () => {
    const fields = fieldsIn(document.paths).filter(([name]) => name !== 'body');
    expect(fields.length).toBeGreaterThan(300);
    for (const [name, field] of fields) {
      expect(field['x-ms-summary'], name).toMatch(/^[A-Z][\w ]+$/);
      expect(['important', 'advanced', 'internal'], name).toContain(field['x-ms-visibility']);
    }
    const labels = fields.map(([, field]) => field['x-ms-summary']);
    expect(labels).toEqual(expect.arrayContaining(['External ID', 'Address city', 'Shipping address city', 'Search']));
  });

  test('leaves out metadata, read-only inputs, and what 2.0 does not have', () => {
    const fields = fieldsIn(document.paths);
    expect(fields.filter(([name, field]) => name === 'metadata' || field.readOnly)).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(
      /"(?:\$ref|nullable|anyOf|allOf|oneOf|examples|requestBody|components)":/,
    );
  });

  describe('the triggers', () => {
    const world = useWorld();
    const triggers = Object.entries<Part>(document.paths).filter(([, { get }]) => get?.['x-ms-trigger']);

    test.each(triggers)('%s polls a list, oldest first', async (path, { get }) => {
      expect(get).toMatchObject({
        'x-ms-trigger': 'batch',
        'x-ms-trigger-metadata': { kind: 'query', mode: 'polling' },
      });
      const { name, default: sort } = get.parameters.find((one: Part) => one['x-ms-visibility'] === 'internal');
      const [since] = /\w+Since/.exec(get.description) ?? [];
      expect(get.parameters.map((one: Part) => one.name)).toContain(since);
      const tenant = await world.organization();
      const { status, body } = await tenant.call('GET', `${path}?${name}=${sort}&${since}=2026-01-01T00:00:00Z`);
      expect([status, body.data]).toEqual([200, []]);
    });

    test('are for customers and proposals', () => {
      expect(triggers.map(([path]) => path)).toEqual(['/v1/customers/', '/v1/proposals/']);
    });
  });
});
