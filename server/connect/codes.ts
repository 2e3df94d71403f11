/** Authorization codes: each is exchanged once, within a minute, for a new API key. */
import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { connectKey } from '../keys/connect.ts';
import { findKeyOfForm } from '../keys/list.ts';
import { revokeForClient } from '../keys/revoke.ts';
import { isSettingsProblem } from '../problems/problem.ts';
import type { Actor } from '../records/require-admin.ts';
import { plainResource } from './metadata.ts';
import { OAuthError } from './oauth-error.ts';

export const codeSeconds = 60;

const grantSchema = z.object({
  clientId: z.string(),
  clientHost: z.string(),
  name: z.string(),
  redirectUri: z.string(),
  codeChallenge: z.string(),
  resource: z.string().optional(),
  expiresInMs: z.number().optional(),
  keepsPrevious: z.boolean().optional(),
});
/** What a person agreed to. */
export type Grant = z.infer<typeof grantSchema>;

/** Only hashes are stored, so a copy of the database contains no code. */
const hashOfCode = (code: string) => hash('sha256', code, 'base64url');

/** Returns the code, which only the application gets. */
export async function issueCode({ signIns }: Pick<Database, 'signIns'>, actor: Actor, granted: Grant): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  const text = 'insert into sign_in.codes (hash, organization_id, member_id, granted) values ($1, $2, $3, $4)';
  await signIns.query(text, [hashOfCode(code), actor.organizationId, actor.id, JSON.stringify(granted)]);
  return code;
}

export type Exchange = {
  code: string;
  clientId: string;
  /** Optional, as in OAuth 2.1: the verifier proves who sent the request. */
  redirectUri: string | undefined;
  codeVerifier: string;
  resource: string | undefined;
};
type Row = { organizationId: OrganizationId; memberId: string; granted: string; isFresh: boolean };

/** A code from the future was issued before the clock was set back. */
const selectCode = `select organization_id as "organizationId", member_id as "memberId", granted,
    abs(extract(epoch from now() - created_at)) < ${codeSeconds} as "isFresh" from sign_in.codes where hash = $1`;

const used = () => new OAuthError('invalid_grant', 'This code was used before, so the key issued for it was revoked.');

/**
 * Creates the key only now: consent stored nothing that gives access to the API. Using a code again revokes its key,
 * because one of the two senders stole it.
 */
export async function exchangeCode(database: Database, typed: Exchange): Promise<{ raw: string; grant: Grant }> {
  const codeHash = hashOfCode(typed.code);
  const { rows } = await database.signIns.query<Row>(selectCode, [codeHash]);
  const [row] = rows;
  if (!row) throw new OAuthError('invalid_grant', 'This code is unknown or has expired. Connect again.');
  const granted = grantSchema.parse(JSON.parse(row.granted));
  requireSameClient(typed, granted);
  const em = forOrganization(database, row.organizationId).em();
  if (await revokeMadeFrom(em, codeHash)) throw used();
  if (!row.isFresh) throw new OAuthError('invalid_grant', 'This code has expired. Connect again.');
  requireVerifier(typed, granted);
  const actor = { id: row.memberId, organizationId: row.organizationId };
  try {
    // As with a form's token, this hash can create only one key.
    const { raw } = await connectKey(em, actor, { ...granted, csrfTokenId: codeHash });
    return { raw, grant: granted };
  } catch (error) {
    if (!isSettingsProblem(error)) throw error;
    if (error.code === 'repeated' && (await revokeMadeFrom(em.fork(), codeHash))) throw used();
    throw new OAuthError('invalid_grant', error.message, { cause: error });
  }
}

async function revokeMadeFrom(em: ScopedEntityManager, codeHash: string): Promise<boolean> {
  const key = await findKeyOfForm(em, codeHash);
  if (key) await revokeForClient(em, key.id, 'code_reused');
  return key !== null;
}

function requireSameClient({ clientId, redirectUri }: Exchange, granted: Grant): void {
  if (clientId !== granted.clientId || (redirectUri ?? granted.redirectUri) !== granted.redirectUri)
    throw new OAuthError('invalid_grant', 'This code was issued for a different client_id or redirect_uri.');
}

function requireVerifier({ codeVerifier, resource }: Exchange, granted: Grant): void {
  const isForm = /^[\w.~-]{43,128}$/.test(codeVerifier);
  if (!isForm || hash('sha256', codeVerifier, 'base64url') !== granted.codeChallenge)
    throw new OAuthError('invalid_grant', 'The code_verifier does not belong to the code_challenge of this code.');
  if (resource !== undefined && plainResource(resource) !== plainResource(granted.resource ?? ''))
    throw new OAuthError('invalid_target', 'This code was issued for a different resource.');
}
