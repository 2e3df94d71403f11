/** Cookies of the settings: the session's, signed so a forged one is rejected without a query, and small signed notes. */
import type { z } from 'zod';
import { percentDecoded } from '../problems/safe-text.ts';
import { jsonOf } from '../text/json.ts';
import { isSigned, sign } from '../text/signatures.ts';
import type { Secret } from '../text/signatures.ts';

type Settings = {
  /** Signs cookies: at least 32 characters. */
  secret: Secret;
  /** Whether people reach the service over https; its cookies are then sent over https only. */
  secure: boolean;
};

export type SignedCookie = ReturnType<typeof signedCookie>;

export const sessionCookieName = 'settings.session_token';

/** `path` can be narrower, for a cookie that few pages need. Over https, `__Host-` binds the cookie to the host, at `/`. */
export function signedCookie({ secret, secure }: Settings, name: string, path = '/settings') {
  const ownName = secure ? `__Host-${name}` : name;
  const attributes = `Path=${secure ? '/' : path}; HttpOnly; ${secure ? 'Secure; ' : ''}SameSite=Lax`;
  const print = (value: string, seconds: number) => `${ownName}=${value}; Max-Age=${seconds}; ${attributes}`;
  return {
    /** A Set-Cookie value that expires after `seconds`. */
    set: (value: string, seconds: number): string =>
      print(encodeURIComponent(`${value}.${sign(secret, value).toString('base64')}`), seconds),
    clear: (): string => print('', 0),
    /** The value in a Cookie header; undefined if there is none or its signature is wrong. */
    read(header = ''): string | undefined {
      const pair = header.split(/; */).find((one) => one.startsWith(`${ownName}=`));
      const text = percentDecoded(pair?.slice(ownName.length + 1) ?? '');
      const [, value = '', signature = ''] = /^(.+)\.(.+)$/s.exec(text) ?? [];
      return isSigned(secret, value, Buffer.from(signature, 'base64')) ? value : undefined;
    },
  };
}

export type NoteCookie<Note> = ReturnType<typeof noteCookie<Note>>;

/** A signed cookie whose value has this form, so the signed value of another cookie is rejected. */
export function noteCookie<Note>(cookie: SignedCookie, form: z.ZodType<Note>) {
  return {
    set: (note: Note, seconds: number): string =>
      cookie.set(Buffer.from(JSON.stringify(note)).toString('base64url'), seconds),
    clear: cookie.clear,
    read: (header: string | undefined): Note | undefined =>
      form.safeParse(jsonOf(Buffer.from(cookie.read(header) ?? '', 'base64url').toString('utf8'))).data,
  };
}
