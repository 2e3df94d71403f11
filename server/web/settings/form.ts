/** Forms of a session: each is a sheet of its own, signed for that session, so that no other site can print one. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type Forms = {
  /** A new sheet: the value of the form's hidden field `form`. */
  sheet(sessionId: string): string;
  /** The sheet's own number, where it was printed for this session. */
  check(sessionId: string, sheet: string): string | undefined;
};

export function signedForms(secret: string): Forms {
  const sign = (sessionId: string, number: string) =>
    createHmac('sha256', secret).update(`form ${sessionId} ${number}`).digest();
  return {
    sheet(sessionId) {
      const number = randomBytes(16).toString('base64url');
      return `${number}.${sign(sessionId, number).toString('base64url')}`;
    },
    check(sessionId, sheet) {
      const [number = '', signature = ''] = sheet.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(sessionId, number);
      return given.length === expected.length && timingSafeEqual(given, expected) ? number : undefined;
    },
  };
}

/** One field of a posted form; '' where it is missing, or there twice. */
export function field(body: unknown, name: string): string {
  const value: unknown = Object.hasOwn(Object(body), name) ? Reflect.get(Object(body), name) : undefined;
  return typeof value === 'string' ? value : '';
}
