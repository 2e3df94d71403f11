/** Signatures by the server, verified by the client and by the specification's own library, and what is rejected. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { unwrapWebhook, WebhookVerificationError } from '../../client/index.ts';
import { isSigned } from '../../client/n8n/nodes/ProposalWebhookTrigger/signature.ts';
import { events } from '../../contract/events.ts';
import { newSecret, signaturesOf } from '../../server/webhooks/sign.ts';
import { document } from '../contract.ts';

const id = 'evt_01jzy3v1k8e2tb6qk3x5w9r7md';
const now = new Date('2026-03-01T09:30:00Z');
const timestamp = now.getTime() / 1000;
const body = JSON.stringify({
  type: 'customer.created',
  timestamp: '2026-03-01T09:29:59.123Z',
  data: { name: 'Zoë €' },
});

/** The test vectors of the Standard Webhooks reference libraries for other languages. */
const published = [
  {
    languages: 'Python, Go, Java, PHP, C# and Ruby',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    languages: 'Rust',
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1_649_367_553,
    body: '{"email":"test@example.com","username":"test_user"}',
    signature: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  },
];

function signed(secrets: readonly string[], sent = body, at = timestamp): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': signaturesOf(secrets, { id, timestamp: at, body: sent }),
  };
}

const unwrap = (headers: Record<string, string>, secret: string | string[], sent: string | Uint8Array = body) =>
  unwrapWebhook(sent, headers, secret, { now });

test('typical mistakes of JavaScript callers get a TypeError that explains them', async () => {
  const headers = signed([newSecret()]);
  // A body that a framework has parsed, and a request without `rawBody`.
  const { rawBody } = JSON.parse('{}');
  for (const sent of [JSON.parse(body), rawBody])
    await expect(unwrapWebhook(sent, headers, newSecret(), { now })).rejects.toThrow(
      new TypeError('body must be the text or bytes of the request as received, not parsed JSON'),
    );
  await expect(unwrapWebhook(body, rawBody, newSecret(), { now })).rejects.toThrow(
    new TypeError('headers must be the headers of the request'),
  );
  const unset = process.env.NO_SUCH_SECRET;
  for (const secret of [unset, [unset], []])
    // @ts-expect-error an environment variable that is not set
    await expect(unwrap(headers, secret)).rejects.toThrow(
      new TypeError('The secret must be whsec_ followed by base64, as the settings show it.'),
    );
});

describe('a signed request', () => {
  test('is verified by the client and by the reference library', async () => {
    const secret = newSecret();
    const current = Math.floor(Date.now() / 1000);
    const headers = signed([secret], body, current);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(await unwrapWebhook(body, headers, secret)).toEqual(JSON.parse(body));
  });

  test('has the signature that the reference library computes', () => {
    const secret = newSecret();
    expect(signed([secret])['webhook-signature']).toBe(new Webhook(secret).sign(id, now, body));
  });

  test.each(published)('matches the test vector of the libraries for $languages, and is verified', async (vector) => {
    const { secret, signature, ...message } = vector;
    expect(signaturesOf([secret], message)).toBe(signature);
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': signature,
    };
    const sentAt = { now: new Date(message.timestamp * 1000) };
    expect(await unwrapWebhook(message.body, headers, secret, sentAt)).toEqual(JSON.parse(message.body));
    const changed = unwrapWebhook(`${message.body} `, headers, secret, sentAt);
    await expect(changed).rejects.toThrow(WebhookVerificationError);
  });

  test('is accepted as text and as bytes, with Headers and with Node’s headers', async () => {
    const secret = newSecret();
    const headers = signed([secret]);
    expect(await unwrap(headers, secret, new TextEncoder().encode(body))).toEqual(JSON.parse(body));
    expect(await unwrapWebhook(body, new Headers(headers), secret, { now })).toEqual(JSON.parse(body));
    const capitalized = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await unwrapWebhook(body, capitalized, secret, { now })).toEqual(JSON.parse(body));
    // As in Node's `headersDistinct`, and in the events of API gateways.
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    expect(await unwrapWebhook(body, lists, secret, { now })).toEqual(JSON.parse(body));
  });

  test('is accepted as long as toleranceSeconds says, before and after its time', async () => {
    const secret = newSecret();
    for (const [seconds, toleranceSeconds] of [
      [-600, 600],
      [600, 600],
      [0, 0],
    ] as const)
      expect(
        await unwrapWebhook(body, signed([secret], body, timestamp + seconds), secret, { now, toleranceSeconds }),
      ).toEqual(JSON.parse(body));
    for (const seconds of [-601, 601])
      await expect(
        unwrapWebhook(body, signed([secret], body, timestamp + seconds), secret, { now, toleranceSeconds: 600 }),
      ).rejects.toThrow(WebhookVerificationError);
    // An environment variable that is not a number, or a time that cannot be read, must not accept every time.
    for (const options of [{ now, toleranceSeconds: Number.NaN }, { now: new Date(Number.NaN) }])
      await expect(unwrapWebhook(body, signed([secret]), secret, options)).rejects.toThrow(WebhookVerificationError);
  });

  test('is accepted with the old or the new secret while one replaces the other', async () => {
    const [old, fresh] = [newSecret(), newSecret()];
    const headers = signed([fresh, old]);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [old, fresh]) expect(isSigned({ secret, headers, body }, timestamp)).toBe(true);
    // In Node's `headersDistinct`, each may be an element of its own.
    const lists = { ...headers, 'webhook-signature': headers['webhook-signature']?.split(' ') };
    for (const secret of [old, fresh, [old, fresh]])
      for (const sent of [headers, lists])
        expect(await unwrapWebhook(body, sent, secret, { now })).toEqual(JSON.parse(body));
    expect(await unwrap(signed([fresh]), [old, fresh])).toEqual(JSON.parse(body));
  });
});

describe('a request is rejected', () => {
  const secret = newSecret();
  const good = signed([secret]);
  const rejected: [why: string, headers: Record<string, string>, sent?: string][] = [
    ['with a different body', good, body.replace('Zoë', 'Zoe')],
    ['with a different id', { ...good, 'webhook-id': 'evt_other' }],
    ['with a different time', { ...good, 'webhook-timestamp': String(timestamp + 1) }],
    ['signed with a different secret', signed([newSecret()])],
    ['of a later version', { ...good, 'webhook-signature': (good['webhook-signature'] ?? '').replace('v1,', 'v2,') }],
    ['of another kind', { ...good, 'webhook-signature': (good['webhook-signature'] ?? '').replace('v1,', 'v1a,') }],
    ['without a signature', { ...good, 'webhook-signature': '' }],
    ['with a signature that is not base64', { ...good, 'webhook-signature': 'v1,*** v1,' }],
    ['with half a signature', { ...good, 'webhook-signature': (good['webhook-signature'] ?? '').slice(0, 20) }],
    ['without an id', { ...good, 'webhook-id': '' }],
    ['when it is older than 5 minutes', signed([secret], body, timestamp - 301)],
    ['when it is more than 5 minutes ahead', signed([secret], body, timestamp + 301)],
    ['with a time that is not a number', { ...signed([secret]), 'webhook-timestamp': 'now' }],
  ];
  test.each(rejected)('%s', async (_, headers, sent = body) => {
    // The n8n node rejects it as well.
    expect(isSigned({ secret, headers, body: sent }, timestamp)).toBe(false);
    await expect(unwrap(headers, secret, sent)).rejects.toThrow(WebhookVerificationError);
  });

  test('if the secret is invalid, without repeating the secret', async () => {
    // Without a key, anyone can sign.
    const forged = signed(['whsec_']);
    for (const invalid of ['whsec_***', 'whsec_', '']) {
      expect(isSigned({ secret: invalid, headers: forged, body }, timestamp), invalid).toBe(false);
      await expect(unwrap(forged, invalid), invalid).rejects.toThrow(
        /^The secret must be whsec_ followed by base64, as the settings show it/,
      );
    }
  });
});

test('every event is in the OpenAPI 3.1 document, with an example that its schema accepts', () => {
  expect(Object.keys(document.webhooks ?? {})).toEqual(Object.keys(events));
  for (const [type, { schema }] of Object.entries(events)) {
    const media = document.webhooks?.[type]?.post?.requestBody?.content['application/json'];
    expect(schema.parse(media?.example), type).toEqual(media?.example);
  }
});
