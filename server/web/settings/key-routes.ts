/** The API Keys page, and what its forms do. */
import type { Response, Router } from 'express';
import type { ApiKey } from '../../entities/organization.ts';
import { publicId, storedId } from '../../records/public-id.ts';
import { findKey, issueKey, KeyRefusal, readKeyRoom, renameKey, revokeKey } from '../../keys/keys.ts';
import { noSuchPage, PageError, refusalStatus } from './error-page.ts';
import { field } from './form.ts';
import { renamePage, revokePage } from './key-pages.ts';
import { keysPage } from './keys-page.ts';
import type { KeysView } from './keys-page.ts';
import { sendPage } from './page.ts';
import type { Signed } from './page.ts';
import type { Room } from './routes.ts';
import type { Visitor } from '../../accounts/sign-in.ts';

export function keyRoutes(router: Router, { door, forms, keys, baseUrl }: Room): void {
  const signed = ({ member, organization, sessionId }: Visitor): Signed => ({
    member,
    organization,
    sheet: forms.sheet(sessionId),
  });

  async function showKeys(
    response: Response,
    visitor: Visitor,
    more: Pick<KeysView, 'made' | 'failure'> & { query?: unknown },
    status = 200,
  ): Promise<void> {
    const room = await readKeyRoom(visitor.em.fork());
    const { query, ...rest } = more;
    const done = whatWasDone(query, [...room.live, ...room.revoked]);
    sendPage(
      response,
      keysPage({
        signed: signed(visitor),
        room,
        baseUrl: baseUrl(),
        sheet: forms.sheet(visitor.sessionId),
        done,
        ...rest,
      }),
      status,
    );
  }

  /** The key of a page that only admins see, while it is live. */
  async function liveKey({ member, em }: Visitor, params: { id?: string }): Promise<ApiKey | undefined> {
    if (member.role !== 'admin')
      throw new PageError(403, 'Only admins of the organization can rename and revoke API keys.');
    const key = await findKey(em, idIn(params));
    return key.revokedAt === null ? key : undefined;
  }

  router.get(
    '/api-keys',
    door.signedIn(async (visitor, request, response) => showKeys(response, visitor, { query: request.query })),
  );

  router.post(
    '/api-keys',
    door.keyAction('create', async (visitor, request, response, sheet) => {
      const typedName = field(request.body, 'name');
      const made = await orRefusal(issueKey(visitor.em, visitor.member, typedName, sheet));
      if (made instanceof KeyRefusal)
        return showKeys(response, visitor, { failure: { sentence: made.message, typedName } }, refusalStatus(made));
      await showKeys(response, visitor, { made: { name: made.key.name, raw: made.raw } }, 201);
    }),
  );

  router.get(
    '/api-keys/:id/rename',
    door.signedIn(async (visitor, request, response) => {
      const key = await liveKey(visitor, request.params);
      if (!key) return response.redirect(303, '/settings/api-keys');
      sendPage(response, renamePage({ signed: signed(visitor), key, sheet: forms.sheet(visitor.sessionId) }));
    }),
  );

  router.post(
    '/api-keys/:id/rename',
    door.keyAction('rename', async (visitor, request, response) => {
      const typedName = field(request.body, 'name');
      const id = idIn(request.params);
      const key = await orRefusal(renameKey(visitor.em, visitor.member, id, typedName));
      if (key instanceof KeyRefusal && key.reason === 'name') {
        const failure = { sentence: key.message, typedName };
        const page = renamePage({
          signed: signed(visitor),
          key: await findKey(visitor.em, id),
          sheet: forms.sheet(visitor.sessionId),
          failure,
        });
        return sendPage(response, page, refusalStatus(key));
      }
      if (key instanceof KeyRefusal) throw key;
      keys.forget();
      response.redirect(303, `/settings/api-keys?renamed=${publicId('key', key.id)}`);
    }),
  );

  router.get(
    '/api-keys/:id/revoke',
    door.signedIn(async (visitor, request, response) => {
      const key = await liveKey(visitor, request.params);
      if (!key) return response.redirect(303, '/settings/api-keys');
      sendPage(response, revokePage({ signed: signed(visitor), key, sheet: forms.sheet(visitor.sessionId) }));
    }),
  );

  router.post(
    '/api-keys/:id/revoke',
    door.keyAction('revoke', async (visitor, request, response) => {
      const key = await revokeKey(visitor.em, visitor.member, idIn(request.params));
      keys.forget();
      response.redirect(303, `/settings/api-keys?revoked=${publicId('key', key.id)}`);
    }),
  );
}

function idIn(params: { id?: string }): string {
  const id = storedId('key', params.id ?? '');
  if (id === undefined) throw noSuchPage();
  return id;
}

/** The address says what was done, and to which key; the sentence is ours. */
function whatWasDone(query: unknown, known: ApiKey[]): string | undefined {
  const named = (name: string) => known.find(({ id }) => id === storedId('key', field(query, name)));
  const [renamed, revoked] = [named('renamed'), named('revoked')];
  if (revoked?.revokedAt) return `“${revoked.name}” is revoked: every request with it is refused from now on.`;
  if (renamed) return `The key is now called “${renamed.name}”.`;
  return undefined;
}

async function orRefusal<T>(work: Promise<T>): Promise<T | KeyRefusal> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyRefusal) return error;
    throw error;
  }
}
