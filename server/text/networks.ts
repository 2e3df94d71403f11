/** Networks as an operator writes them. */
import { isIP } from 'node:net';
import { z } from 'zod';

/** `10.1.0.0/16`; an address alone is a network of one. Undefined if it is neither. */
function networkOf(given: string): string | undefined {
  const [address = '', bits] = given.trim().split('/');
  const most = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const count = Number(bits ?? most);
  return Number.isInteger(count) && count >= 0 && count <= most && bits !== '' ? `${address}/${count}` : undefined;
}

/** A list such as `10.1.0.0/16, 10.2.0.1`. */
export const networks = () =>
  z
    .string()
    .default('')
    .transform((given, context) => {
      const parsed = given === '' ? [] : given.split(',').map(networkOf);
      const valid = parsed.filter((one) => one !== undefined);
      if (valid.length < parsed.length) context.addIssue('must be networks such as 10.1.0.0/16, separated by commas');
      return valid;
    });
