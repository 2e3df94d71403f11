/** An application that connects with OAuth, and the person who consents. */
import { createHash, randomBytes } from 'node:crypto';
import { signIn, someone } from '../settings/visiting.ts';
import type { Reply, Visit } from '../settings/visiting.ts';
import type { Tenant, World } from '../world.ts';

export const callback = 'https://agent.example/callback';
export const consentPath = '/settings/connect';
export const s256 = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Each reading is 700 ms later, so the tests never reach the limit of their network. */
export function quickClock(): () => number {
  let nowMs = 0;
  return () => (nowMs += 700);
}

export type Asking = { parameters: Record<string, string>; verifier: string };

export const registration = (fields: object = {}): object => ({
  client_name: 'Robot',
  redirect_uris: [callback],
  ...fields,
});

export async function postJson(url: string, body: unknown): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

export async function register(world: World, fields: object = {}): Promise<string> {
  const { status, body } = await postJson(`${world.url}/oauth/register`, registration(fields));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.client_id;
}

/** A valid request from this application; `changed` replaces parameters, and omits those that are ''. */
export function asking(clientId: string, changed: Record<string, string> = {}): Asking {
  const verifier = randomBytes(32).toString('base64url');
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    code_challenge: s256(verifier),
    code_challenge_method: 'S256',
    state: 'a state & more',
    ...changed,
  };
  return { verifier, parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== '')) };
}

export const pathOf = ({ parameters }: Asking): string =>
  `${consentPath}?${new URLSearchParams(parameters).toString()}`;

const unescape = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

/** The fields of the consent form, as a browser would send them. */
export function fieldsOf(page: string): Record<string, string> {
  const [, form = ''] = /<form method="post" action="\/settings\/connect[^"]*"\s*>([\s\S]*?)<\/form>/.exec(page) ?? [];
  const hidden = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return {
    expires: '',
    ...Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, unescape(value)])),
  };
}

/** Agrees on the consent page. */
export async function agree(visiting: Visit, ask: Asking, changed: Record<string, string> = {}): Promise<Reply> {
  const { text } = await visiting.get(pathOf(ask));
  return visiting.post(consentPath, { ...fieldsOf(text), ...changed });
}

export const answerIn = ({ location }: Pick<Reply, 'location'>): URLSearchParams =>
  new URL(location ?? 'https://nowhere.example').searchParams;

/** The parameters in a page's link back to the application. */
export const linkedIn = ({ text }: Pick<Reply, 'text'>): URLSearchParams =>
  answerIn({ location: /<a href="(https?:[^"]*[?&]error=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null });

export type Token = { status: number; headers: Headers; body: any };

export async function postForm(url: string, fields: Record<string, string>): Promise<Token> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

export function exchange(
  world: World,
  { parameters, verifier }: Asking,
  code: string,
  changed: Record<string, string> = {},
): Promise<Token> {
  return postForm(`${world.url}/oauth/token`, {
    grant_type: 'authorization_code',
    code,
    client_id: parameters.client_id ?? '',
    redirect_uri: parameters.redirect_uri ?? '',
    code_verifier: verifier,
    ...changed,
  });
}

/** Consents, with these fields of the form, and exchanges the code for the key. */
export async function connect(
  world: World,
  visiting: Visit,
  ask: Asking,
  fields: Record<string, string> = {},
): Promise<string> {
  const code = answerIn(await agree(visiting, ask, fields)).get('code') ?? '';
  const { status, body } = await exchange(world, ask, code);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.access_token;
}

export type Scene = { tenant: Tenant; visiting: Visit; clientId: string };

/** An organization whose admin is signed in, and a registered application. */
export async function scene(world: World, options: Parameters<World['organization']>[0] = {}): Promise<Scene> {
  const tenant = await world.organization(options);
  const visiting = await signIn(world, await someone(world, tenant, 'admin', 'Ann Lee'));
  return { tenant, visiting, clientId: await register(world) };
}
