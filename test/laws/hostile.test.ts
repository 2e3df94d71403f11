/** No body of the permitted size costs much more than an ordinary one: the ratio of the CPU times of this thread. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { maximumBodyBytes, maximumErrors } from '../../contract/limits.ts';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { parseJson } from '../../server/text/json.ts';
import { describeInvalidBody } from '../../server/problems/invalid-request.ts';
import { Problem } from '../../server/problems/problem.ts';

const writes = operationsOf(v1).flatMap((route) => {
  const body: unknown = Reflect.get(route, 'body');
  return body instanceof z.ZodObject ? [{ name: `${route.method} ${route.path}`, body }] : [];
});
const [create] = writes;

/** Does what the service does with a body before it calls a handler; returns the errors that it would send. */
function check(body: z.ZodType, text: string): unknown[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof Problem) return [error];
    throw error;
  }
  const { error } = body.safeParse(value);
  return error ? describeInvalidBody(error.issues, { body: value, bodySchema: body }) : [];
}

/** CPU time of this thread for each of `times` runs, in milliseconds. */
function cost(body: z.ZodType, text: string, times = 1): number {
  const before = process.threadCpuUsage();
  for (let run = 0; run < times; run += 1) check(body, text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / times;
}

/**
 * The ratio of this body's cost to that of an ordinary one. A garbage collection does not affect every run, and a busy
 * machine slows down both, so only a ratio that is always above `most` is too high.
 */
function leastRatio(run: () => number, usual: () => number, usualBefore: number): number {
  let least = run() / usualBefore;
  for (let again = 0; again < 30 && least > most; again += 1) least = Math.min(least, run() / usual());
  return least;
}

const pad = (text: string) => text + ' '.repeat(maximumBodyBytes - Buffer.byteLength(text));
const ordinary = pad(
  JSON.stringify({
    name: 'Vogelsang & Söhne',
    email: 'katharina@vogelsang.example',
    phone: '+49 30 23125 142',
    address: { line1: 'Obere Str. 57', city: 'Berlin', country: 'DE' },
    notes: 'Grüße aus Köln. '.repeat(300),
    tags: Array.from({ length: 20 }, (_, index) => `tag ${index}`),
    metadata: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 'ü'.repeat(500)])),
  }),
);

const size = 250_000;
const filled = (part: string) => part.repeat(Math.floor(size / Buffer.byteLength(part)));
const members = (entry: (index: number) => string) => {
  const count = Math.floor(size / Buffer.byteLength(`${entry(99_999)},`));
  return Array.from({ length: count }, (_, index) => entry(index)).join(',');
};

/** JSON texts of about 250 KB, each the worst case for some step. */
const hostileValues: Record<string, string> = {
  zeros: `"${filled('0')}"`,
  'zeros and a letter': `"${filled('0')}x"`,
  digits: `"${filled('9')}"`,
  'a long number': filled('9'),
  'alternating combining marks': `"a${filled('\u0301\u0316')}"`,
  'combining marks in runs': `"${filled(`a${'\u0301\u0316'.repeat(15)}`)}"`,
  spaces: `"${filled(' ')}x"`,
  'line breaks': `"${filled('\\r\\n')}x"`,
  'escaped characters': `"${filled('\\u0041')}"`,
  'lone surrogates': `"${filled('\\ud800')}"`,
  'an email address without an end': `"${filled('a.')}@${'a-'.repeat(30)}"`,
  'at signs': `"${filled('a@')}"`,
  'a URL': `"https://${filled('%41.')}"`,
  ligatures: `"${filled('ﷺ')}"`,
  Hangul: `"${filled('\u1100\u1161\u11a8')}"`,
  'a list of numbers': `[${members(() => '1')}]`,
  'a list of empty lists': `[${members(() => '[]')}]`,
  'a list of texts': `[${members((index) => `"t${index}"`)}]`,
  'an object': `{${members((index) => `"f${index}":1`)}}`,
  'an object of objects': `{${members((index) => `"f${index}":{"a":{}}`)}}`,
  'an object with keys like ours': `{${members((index) => `"externalId${index}":"x"`)}}`,
  'metadata that is null': `{${members((index) => `"f${index}":null`)}}`,
  'the same key': `{${members((index) => `"f${index % 1000}":1`)}}`,
  'one key twice, at the end': `{${members((index) => `"f${index}":1`)},"f7":1}`,
  'JSON that breaks at the end': `[${members(() => '{"a":[]}')},]`,
  quotes: filled('"\\"",'),
};

/** Several of these in different fields at once, including unknown ones; the seed makes every run the same. */
function* mixtures(names: readonly string[], count: number): Generator<[string, string]> {
  let seed = 20_260_301;
  const upTo = (bound: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
  const makers = Object.entries(hostileValues).filter(([, value]) => isJson(value));
  for (let index = 0; index < count; index += 1) {
    const parts: string[] = [];
    const chosen: string[] = [];
    let room = size;
    for (let tries = 0; tries < 12 && room > 1000; tries += 1) {
      const [what = '', value = ''] = makers[upTo(makers.length)] ?? [];
      const name = names[upTo(names.length + 3)] ?? `x${tries}`;
      // A text can be shortened and is still a text.
      const text = value.startsWith('"') ? `${value.slice(0, 2 * (1 + upTo(room / 4)))}"` : value;
      if (chosen.some((one) => one.endsWith(` ${name}`)) || Buffer.byteLength(text) > room || !isJson(text)) continue;
      parts.push(`${JSON.stringify(name)}:${text}`);
      chosen.push(`${what} in ${name}`);
      room -= Buffer.byteLength(text);
    }
    yield [chosen.join(', '), `{${parts.join(',')}}`];
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Each of these in each field, in a part of an address, in an unknown field, and as the whole body. */
function* bodies(body: z.ZodObject): Generator<[string, string]> {
  const names = Object.keys(body.shape);
  for (const [what, value] of Object.entries(hostileValues)) {
    yield [`${what} as the body`, value];
    for (const name of [...names, 'surprise']) yield [`${what} in ${name}`, `{"${name}":${value}}`];
    yield [`${what} in address.city`, `{"address":{"city":${value}}}`];
    yield [`${what} in metadata.a`, `{"metadata":{"a":${value}}}`];
    yield [`${what} in tags`, `{"tags":[${value}]}`];
    yield [`${what} deep inside`, `{"notes":${'[{"a":'.repeat(8)}${value}${'}]'.repeat(8)}}`];
  }
  yield* mixtures(names, 60);
}

const most = 20;

describe('a hostile body', () => {
  test.each(writes)('of $name costs at most 20 times as much as an ordinary one of its size', ({ body }) => {
    const schema = create?.body ?? body;
    cost(schema, ordinary, 50);
    const usual = (times = 10) => cost(schema, ordinary, times);
    const usualBefore = usual(100);
    let worst = { ratio: 0, what: '' };
    for (const [what, text] of bodies(body)) {
      const ratio = leastRatio(() => cost(body, text), usual, usualBefore);
      if (ratio > worst.ratio) worst = { ratio, what };
    }
    expect(worst.ratio, worst.what).toBeLessThan(most);
  });

  test.each(writes)('of $name never yields more errors than are sent', ({ body }) => {
    for (const what of ['an object', 'an object with keys like ours', 'a list of numbers', 'metadata that is null']) {
      for (const field of ['address', 'tags', 'metadata', 'surprise']) {
        const value = hostileValues[what] ?? '';
        expect(check(body, `{"${field}":${value}}`).length, what).toBeLessThanOrEqual(maximumErrors);
        expect(check(body, value).length, what).toBeLessThanOrEqual(maximumErrors);
      }
    }
  });

  test('is compared with a valid body of maximum size', () => {
    expect(check(create?.body ?? z.never(), ordinary)).toEqual([]);
    expect(Buffer.byteLength(ordinary)).toBe(maximumBodyBytes);
  });
});

test('a URL with a user name or a password is rejected, and the password is not repeated', () => {
  for (const { body } of writes) {
    for (const field of ['website', 'imageUrl'].filter((name) => name in body.shape)) {
      for (const secret of ['ann:s3cret@', 'ann@', ':s3cret@']) {
        const url = `https://${secret}example.com/x`;
        const errors = check(body, JSON.stringify({ [field]: url })).filter(
          (error) => Reflect.get(Object(error), 'field') === field,
        );
        expect(errors, url).toMatchObject([{ code: 'invalid_url' }]);
        expect(JSON.stringify(errors)).not.toMatch(/s3cret/);
      }
      // Not a user name: the at sign is part of the path.
      expect(check(body, JSON.stringify({ [field]: 'https://example.com/@ann' })).join()).not.toContain('invalid_url');
    }
  }
  expect(
    writes.flatMap(({ body }) => ['website', 'imageUrl'].filter((name) => name in body.shape)).length,
  ).toBeGreaterThan(2);
});
