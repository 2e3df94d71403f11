/** Tests the check of every response: mistakes are planted into responses of the real server, and each is detected. */
import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { breaksOf, takeBreaks } from '../answers.ts';
import type { SentAnswer } from '../answers.ts';
import { freePort, listen } from '../ports.ts';
import { useWorld } from '../world.ts';

const world = useWorld();
type Answers = Record<'me' | 'made' | 'listed' | 'unchanged' | 'refused' | 'nowhere', SentAnswer>;
let answers: Answers;

beforeAll(async () => {
  const tenant = await world.organization();
  const ask = async (method: string, path: string, body?: unknown, headers = {}): Promise<SentAnswer> => {
    const { status, text, headers: given } = await tenant.call(method, path, body, headers);
    return { method, path: path.split('?', 1)[0] ?? '', status, headers: Object.fromEntries(given), body: text };
  };
  const made = await ask('POST', '/v1/customers', { name: 'Ann' });
  await ask('POST', '/v1/customers', { name: 'Berta' });
  const { id } = JSON.parse(made.body);
  answers = {
    made,
    me: await ask('GET', '/v1/me'),
    listed: await ask('GET', '/v1/customers?limit=1'),
    unchanged: await ask('GET', `/v1/customers/${id}`, undefined, { 'if-none-match': String(made.headers.etag) }),
    refused: await ask('POST', '/v1/customers', { email: 'nobody' }),
    nowhere: await ask('GET', '/v1/nowhere'),
  };
});

type Changed = (answer: SentAnswer, body: any) => void;
/** A response with a change to its body, headers or status. */
function changed(name: keyof Answers, change: Changed): SentAnswer {
  const answer = structuredClone(answers[name]);
  const body = answer.body === '' ? undefined : JSON.parse(answer.body);
  change(answer, body);
  return { ...answer, body: body === undefined ? answer.body : JSON.stringify(body) };
}

const planted: [what: string, name: keyof Answers, change: Changed, sentence: RegExp][] = [
  ['a field is missing', 'made', (_, body) => delete body.notes, /must have required property 'notes'/],
  ['a field is new', 'made', (_, body) => (body.score = 7), /must NOT have additional properties.*"score"/],
  ['a field in a list is new', 'listed', (_, body) => (body.data[0].score = 7), /\/data\/0 must NOT.*"score"/],
  ['a field has a different type', 'made', (_, body) => (body.tags = 'vip'), /\/tags must be array/],
  ['a field is null', 'made', (_, body) => (body.name = null), /\/name must be string/],
  ['a value is not in the set', 'made', (_, body) => (body.status = 'gone'), /\/status must be equal to one of/],
  ['a time has a different format', 'made', (_, body) => (body.createdAt = '2026-03-01'), /\/createdAt must match/],
  [
    'an id is of a different kind',
    'made',
    (_, body) => (body.id = body.id.replace('cus', 'itm')),
    /\/id must match pattern/,
  ],
  ['the status is different', 'made', (answer) => (answer.status = 202), /no such status of createCustomer/],
  ['the media type is different', 'me', (answer) => (answer.headers['content-type'] = 'text/html'), /is text\/html/],
  ['X-Request-Id is missing', 'me', (answer) => delete answer.headers['x-request-id'], /X-Request-Id is missing/],
  ['RateLimit is missing', 'me', (answer) => delete answer.headers.ratelimit, /header RateLimit is missing/],
  ['ETag is missing', 'made', (answer) => delete answer.headers.etag, /header ETag is missing/],
  ['Location is missing', 'made', (answer) => delete answer.headers.location, /header Location is missing/],
  [
    'Location is not a URL',
    'made',
    (answer) => (answer.headers.location = 'here'),
    /Location the body must match format/,
  ],
  [
    'a number is not one',
    'me',
    (answer) => (answer.headers['x-ratelimit-limit'] = 'many'),
    /X-RateLimit-Limit .*integer/,
  ],
  ['304 has a body', 'unchanged', (answer) => (answer.body = '{}'), /there is a body/],
  ['a failure is not a problem', 'refused', (_, body) => delete body.detail, /required property 'detail'/],
  [
    'a code belongs to a different status',
    'refused',
    (_, body) => (body.code = 'not_found'),
    /no code not_found there/,
  ],
  ['an unknown route has no problem', 'nowhere', (_, body) => delete body.code, /required property 'code'/],
];

describe('a response of the server', () => {
  test('matches the document', () => {
    for (const [name, answer] of Object.entries(answers)) expect(breaksOf(answer), name).toEqual([]);
  });

  test.each(planted)('is reported when %s', (_, name, change, sentence) => {
    expect(breaksOf(changed(name, change)).join('\n')).toMatch(sentence);
  });

  test('is checked as it is sent, no matter who sent the request', async () => {
    // Marked as a response of our application, and with an extra field.
    const server = createServer((_, response) => {
      Reflect.set(response, 'locals', { requestId: 'req_1' });
      const { status, headers, body } = changed('me', (__, me) => (me.surprise = true));
      response.statusCode = status;
      for (const name of Object.keys(headers)) response.setHeader(name, String(headers[name]));
      response.setHeader('content-length', Buffer.byteLength(body));
      response.end(body);
    });
    const port = await listen(server);
    await (await fetch(`http://127.0.0.1:${port}/v1/me`)).text();
    server.close();
    expect(takeBreaks()).toEqual([expect.stringContaining('"surprise"')]);
  });
});

describe('a response of a server with the longest PUBLIC_URL', async () => {
  const longest = `https://api.example.com/${'a'.repeat(1000)}`.slice(0, 1000);
  const port = await freePort();
  const far = useWorld({ publicUrl: longest, port });

  test('matches the document, including its URLs', async () => {
    const { key } = await far.organization();
    const call = (path: string, authorization: string, body?: object) =>
      fetch(`http://127.0.0.1:${port}/v1/${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${authorization}`, 'content-type': 'application/json' },
        body: body ? JSON.stringify(body) : null,
      });
    await call('customers', key, { name: 'Ann' });
    expect((await call('customers', key, { name: 'Berta' })).headers.get('location')).toContain(longest);
    expect((await call('customers?limit=1', key)).headers.get('link')).toContain(longest);
    expect((await call('me', 'ak_live_unknown')).headers.get('www-authenticate')).toContain(longest);
    expect(takeBreaks()).toEqual([]);
  });
});
