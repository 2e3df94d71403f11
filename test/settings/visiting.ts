/** Uses the settings pages as a person would, but without a browser: keeps cookies and sends forms as printed. */
import { request } from 'node:http';
import { TOTP } from 'otpauth';
import { matchPassword } from '../../server/accounts/credentials.ts';
import { addMember } from '../../server/accounts/members.ts';
import { issueLink, pathOfLink } from '../../server/accounts/password-links.ts';
import type { Member, Role } from '../../server/entities/organization.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { hashPassword } from '../../server/accounts/passwords.ts';
import { startSession } from '../../server/accounts/sessions.ts';
import { SignIns } from '../../server/accounts/sign-in.ts';
import { inTransaction } from '../../server/database/transaction.ts';
import type { Tenant, World } from '../world.ts';

export const password = 'correct horse battery';

export type Reply = { status: number; headers: Headers; text: string; location: string | null };

export type Visit = {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  /** A form, sent from our own page unless the headers say otherwise. */
  post(path: string, fields: Record<string, string> | FormData, headers?: Record<string, string>): Promise<Reply>;
  /** A form with a new CSRF token. */
  submit(path: string, fields?: Record<string, string>): Promise<Reply>;
  /** The Cookie header that goes with every request. */
  cookie(to?: string): string;
  /** A new CSRF token of this session, by default from the API Keys page. */
  csrfToken(page?: string): Promise<string>;
};

/** Someone with no session yet. */
export function visit(url: string, constant: Record<string, string> = {}): Visit {
  const jar = new Map<string, { value: string; path: string }>();
  const cookie = (to = '/settings/') =>
    [...jar]
      .filter(([, { path }]) => to.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');

  async function send(path: string, init: RequestInit, headers: Record<string, string>): Promise<Reply> {
    const held = jar.size > 0 ? { cookie: cookie(path) } : {};
    const response = await fetch(url + path, {
      ...init,
      redirect: 'manual',
      headers: { ...held, ...constant, ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, { value, path: /; Path=([^;]+)/.exec(line)?.[1] ?? '/' });
    }
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: response.headers.get('location'),
    };
  }

  const visiting: Visit = {
    get: (path, headers = {}) => send(path, {}, headers),
    post: (path, fields, headers = { 'sec-fetch-site': 'same-origin' }) =>
      send(path, { method: 'POST', body: fields instanceof FormData ? fields : new URLSearchParams(fields) }, headers),
    submit: async (path, fields = {}) => visiting.post(path, { ...fields, csrfToken: await visiting.csrfToken() }),
    cookie,
    async csrfToken(page = '/settings/api-keys') {
      const { text } = await visiting.get(page);
      return /name="csrfToken" value="([^"]+)"/.exec(text)?.[1] ?? '';
    },
  };
  return visiting;
}

/** What a browser sends for the form with this action, if nothing in it is changed. */
export function formIn({ text }: Reply, action: string): Record<string, string> {
  const [, form = ''] = text.split(`action="${action}"`)[1]?.match(/([\s\S]*?)<\/form>/) ?? [];
  const sent = [...form.matchAll(/<input\b[^>]*>/g)].filter(
    ([input]) => !/type="checkbox"(?![^>]* checked)/.test(input),
  );
  const valueOf = (input: string, name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(input.replaceAll(/\s+/g, ' '))?.[1];
  return Object.fromEntries(sent.map(([input]) => [valueOf(input, 'name') ?? '', valueOf(input, 'value') ?? 'on']));
}

/** Sends a form with headers that `fetch` does not allow, such as Host. */
export function rawRequest(
  port: number,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** The headers of a form from another site in various browsers, and from a program that is not a browser. */
export const otherSites: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  {},
];

export const unknownEmail = () => `nobody-${uuidv7()}@example.com`;

/** A member of the organization who can sign in. */
export async function someone(
  world: World,
  { organization }: Tenant,
  role: Role = 'member',
  name = 'Bo',
): Promise<Member> {
  const member = await addMember(world.database, organization, { email: unknownEmail(), name, role });
  await givePassword(world, member);
  return member;
}

/** A person in two organizations, with a password in the first. */
export async function someoneInTwo(world: World, role: Role = 'member') {
  const first = await world.organization({ name: 'First Ltd' });
  const second = await world.organization({ name: 'Second Ltd' });
  const member = await someone(world, first, role);
  const { email } = member;
  const again = await addMember(world.database, second.organization, { email, name: 'Bo', role: 'member' });
  return { first, second, member, again };
}

/** The path of the page where the member sets a password. */
export const passwordPath = async ({ signIns }: World['database'], member: Member): Promise<string> =>
  pathOfLink(await issueLink(signIns, member));

/** Stores what choosing a password would, with a hash cheap enough for a sign-in in every test. */
export async function givePassword(
  world: World,
  { id, name, emailKey }: Member,
  chosen: string = password,
): Promise<void> {
  const stored = await hashPassword(chosen, { N: 1024, r: 8, p: 1 });
  await world.database.pool.query(
    `with u as (insert into sign_in."user" (name, email, "emailVerified") values ($1, $2, true)
       on conflict (email) do update set name = excluded.name returning id)
     insert into sign_in."account" ("accountId", "providerId", "userId", password, "updatedAt")
       select $4, 'credential', id, $3, now() from u`,
    [name, emailKey, stored, id],
  );
}

export async function signIn(world: World, member: Member, url = world.url): Promise<Visit> {
  const visiting = visit(url);
  const { status, text } = await visiting.post('/settings/sign-in', { email: member.email, password });
  if (status !== 303) throw new Error(`${member.email} could not sign in: ${status} ${text}`);
  return visiting;
}

/** Someone who has signed in with single sign-on at a service with this secret. */
export async function signInSingly({ url, database }: World, { email }: Member, secret: string): Promise<Visit> {
  const { right } = await matchPassword(database.signIns, email, password);
  const owner = { userId: right[0]?.userId ?? '', credentials: null };
  const device = { ipAddress: '127.0.0.1', userAgent: 'test' };
  const token = await inTransaction(database.signIns, (client) => startSession(client, owner, device));
  const cookie = new SignIns({ database, secret, secure: false }).cookieFor(token ?? '');
  return visit(url, { cookie: cookie.split(';')[0] ?? '' });
}

/** The organization's audit log, latest last: action, what it was about, and the reason if it was rejected. */
export async function auditLog(
  world: World,
  { organization }: Tenant,
  kinds = ['change', 'rejection'],
): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ line: string }>(
    `select concat_ws(' ', action, detail, case when kind = 'rejection' then 'rejected: ' || reason end) as line
     from audit_events where organization_id = $1 and kind = any($2) and action <> 'member_added' order by created_at, id`,
    [organization.id, kinds],
  );
  return rows.map(({ line }) => line);
}

export async function keyNames(world: World, { organization }: Tenant): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ name: string }>(
    'select name from api_keys where organization_id = $1 order by created_at, id',
    [organization.id],
  );
  return rows.map(({ name }) => name);
}

/** What an authenticator app shows for this key. */
export const codeAt = (secret: string, nowMs: number): string => new TOTP({ secret }).generate({ timestamp: nowMs });

/** The key for an authenticator app that the page shows. */
export const shownSecret = ({ text }: Reply): string =>
  (/<code translate="no">([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? '').replaceAll(' ', '');

export type TwoFactorSetUp = { secret: string; codes: string[] };

/** The page with the QR code, which redirects to a URL that has the key it offers, and its form. */
export async function openSetUp(visiting: Visit, query = '') {
  const url = (await visiting.get(`/settings/account/two-factor${query}`)).location ?? '';
  const page = await visiting.get(url);
  return { page, url, fields: formIn(page, url.replaceAll('&', '&amp;')) };
}

/** Turns on two-factor authentication as a person would: enters the page's key in an app, and its code on the page. */
export async function turnOnTwoFactor(visiting: Visit, nowMs: number, current = password): Promise<TwoFactorSetUp> {
  const { page, url, fields } = await openSetUp(visiting);
  const secret = shownSecret(page);
  const on = await visiting.post(url, { ...fields, current, code: codeAt(secret, nowMs) });
  if (on.status !== 201) throw new Error(`Two-factor authentication is not on: ${on.status} ${on.text}`);
  return { secret, codes: recoveryCodesIn(on) };
}

export const recoveryCodesIn = ({ text }: Reply): string[] =>
  text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g)?.slice(0, 10) ?? [];
