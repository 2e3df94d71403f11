import { expect, test } from 'vitest';
import { isSigned, secretsIn, sign } from '../server/text/signatures.ts';

const [first, second] = [
  'the first secret, which is long enough'.replace(',', ''),
  'the second secret is long enough too',
];

test.each([',', ', '])(
  'a list of secrets, separated by "%s", signs with its first, and accepts all of them',
  (comma) => {
    const list = first + comma + second;
    expect(sign(list, 'text')).toEqual(sign(first, 'text'));
    for (const one of [first, second]) expect(isSigned(list, 'text', sign(one, 'text'))).toBe(true);
    expect(isSigned(list, 'text', sign(list.toUpperCase(), 'text'))).toBe(false);
  },
);

test.each([`${first},short`, `short,${first}`, `${first},`])('%s is one secret, and no part of it signs', (secret) => {
  expect(secretsIn(secret)).toEqual([secret]);
  for (const part of secret.split(',')) expect(isSigned(secret, 'text', sign(part, 'text'))).toBe(false);
});
