/** Independent validators read every document, and two linters apply their recommended and OWASP rules. */
import { validate } from '@apidevtools/swagger-parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import spectralCore from '@stoplight/spectral-core';
import type { RulesetDefinition } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { oas } from '@stoplight/spectral-rulesets';
import type { OpenAPI } from 'openapi-types';
import { beforeAll, describe, expect, test } from 'vitest';
import { documents, swagger20, versions } from './documents.ts';
import { exceptions } from './lint-exceptions.ts';
import type { Exception } from './lint-exceptions.ts';

type Finding = { rule: string; severity: string; at: string; message: string; part?: unknown };
type Parsed = ReturnType<(typeof documents)['3.1']>;

async function redocly(document: Parsed): Promise<Finding[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
  return problems.map(({ ruleId, severity, location, message }) => ({
    rule: `redocly ${ruleId}`,
    severity: severity === 'error' ? 'error' : 'warning',
    at: location[0]?.pointer ?? '#',
    message,
  }));
}

/** Spectral's rulesets use a different version of its types. */
const ruleset = (rules: object) => rules as RulesetDefinition;
/** For tools that accept only their own type of a document. */
const foreign = (document: Parsed) => document as unknown as OpenAPI.Document;

type Part = Record<string, unknown>;
const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null;

/** The value at the path, which Spectral resolves through references. */
function partAt(document: Parsed, path: readonly (string | number)[]): unknown {
  const follow = (value: unknown): unknown =>
    isPart(value) && typeof value['$ref'] === 'string' ? partAt(document, value['$ref'].split('/').slice(1)) : value;
  return path.reduce<unknown>((value, key) => follow(isPart(value) ? value[key] : undefined), document);
}

async function spectral(document: Parsed): Promise<Finding[]> {
  const linter = new spectralCore.Spectral();
  linter.setRuleset({
    extends: [
      [ruleset(oas), 'recommended'],
      [ruleset(owasp), 'all'],
    ],
  });
  const results = await linter.run(document);
  return results.map(({ code, severity, path, message }) => ({
    rule: String(code),
    severity: ['error'][severity] ?? 'warning',
    at: `#/${path.join('/')}`,
    message,
    part: partAt(document, path),
  }));
}

/** Reading a whole document takes seconds: each linter does it once for all tests. */
const findingsOf = Object.fromEntries(
  versions.map((version) => {
    const read: { redocly?: Promise<Finding[]>; spectral?: Promise<Finding[]> } = {};
    return [
      version,
      {
        redocly: () => (read.redocly ??= redocly(documents[version]())),
        spectral: () => (read.spectral ??= spectral(documents[version]())),
      },
    ];
  }),
) as Record<(typeof versions)[number], Record<'redocly' | 'spectral', () => Promise<Finding[]>>>;

const covers = ({ rule, severity, only }: Exception, finding: Finding) =>
  rule === finding.rule && severity === finding.severity && (!only || has(finding.part, only));

const has = (part: unknown, { keyword, value }: { keyword: string; value?: string }) =>
  isPart(part) && keyword in part && (value === undefined || part[keyword] === value);

const isException = (finding: Finding) => exceptions.some((exception) => covers(exception, finding));

describe.each(versions)('the OpenAPI %s document', (version) => {
  test('is valid according to @seriousme/openapi-schema-validator', async () => {
    expect(await new Validator().validate(documents[version]())).toEqual({ valid: true });
  });

  test('is valid according to @apidevtools/swagger-parser', async () => {
    const dereferenced = await validate(foreign(documents[version]()));
    expect(JSON.stringify(dereferenced)).not.toContain('"$ref"');
  });

  test('breaks no recommended Redocly rules other than the listed exceptions', async () => {
    const findings = await findingsOf[version].redocly();
    expect(findings.filter((finding) => !isException(finding))).toEqual([]);
  });

  test('breaks no recommended or OWASP rules of Spectral other than the listed exceptions', async () => {
    const findings = await findingsOf[version].spectral();
    expect(findings.filter((finding) => !isException(finding))).toEqual([]);
  });
});

describe('the Swagger 2.0 document', () => {
  test('is valid according to @apidevtools/swagger-parser, including its semantics', async () => {
    const document = swagger20() as unknown as OpenAPI.Document;
    expect(await validate(document, { validate: { schema: true, spec: true } })).toMatchObject({ swagger: '2.0' });
  });

  test('breaks no Spectral rule', async () => {
    const linter = new spectralCore.Spectral();
    linter.setRuleset({ extends: [[ruleset(oas), 'recommended']] });
    const results = await linter.run(swagger20());
    expect(
      // The paths of the triggers differ from those of the lists by their slash.
      results.filter(({ code }) => code !== 'path-keys-no-trailing-slash'),
    ).toEqual([]);
  });
});

describe('a document with a mistake', () => {
  let broken: Parsed;
  beforeAll(() => {
    broken = documents['3.1']();
    const { '/v1/customers': list, '/v1/customers/{customerId}': one } = broken.paths;
    // The rest is correct, and would take long to read.
    broken.paths = { '/v1/customers': list ?? {}, '/v1/customers/{customerId}': one ?? {} };
    const get = list?.get;
    if (!get) throw new Error('There is no list of customers.');
    Object.assign(get, { operationId: 'getCustomer', responses: { 200: { description: 7 } }, security: [] });
  });

  test('is rejected by every validator', async () => {
    expect(await new Validator().validate(structuredClone(broken))).toMatchObject({ valid: false });
    await expect(validate(foreign(structuredClone(broken)))).rejects.toThrow('schema validation');
  });

  test('is reported by both linters', async () => {
    const rules = (await Promise.all([redocly(structuredClone(broken)), spectral(structuredClone(broken))]))
      .flat()
      .filter((finding) => !isException(finding))
      .map(({ rule }) => rule);
    expect(rules).toEqual(
      expect.arrayContaining([
        'redocly operation-operationId-unique',
        'operation-operationId-unique',
        'owasp:api2:2023-read-restricted',
      ]),
    );
  });
});

test('every exception is still needed', async () => {
  const findings = (
    await Promise.all(versions.flatMap((version) => Object.values(findingsOf[version]).map((find) => find())))
  ).flat();
  const unneeded = exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding)));
  expect(unneeded).toEqual([]);
});
