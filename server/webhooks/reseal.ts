/** Encrypts the secrets of endpoints again with the current AUTH_SECRET, so that a replaced one can be dropped. */
import type pg from 'pg';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';
import type { StoredSecret } from '../entities/webhook.ts';
import type { Seal } from '../text/seal.ts';

type Stored = { organizationId: OrganizationId; id: string; secrets: StoredSecret[] };

const all = 'select organization_id as "organizationId", id, secrets from webhook_endpoints';
// Unless an admin has replaced a secret in the meantime.
const replace = 'update webhook_endpoints set secrets = $4 where organization_id = $1 and id = $2 and secrets = $3';

export async function resealSecrets(pool: pg.Pool, seal: Seal): Promise<void> {
  for (const { organizationId, id, secrets } of await queryRows<Stored>(pool, all)) {
    const renewed = secrets.map(({ sealed, endsAt }) => ({ sealed: seal.renewed(sealed, id), endsAt }));
    if (renewed.some(({ sealed }, index) => sealed !== secrets[index]?.sealed))
      await pool.query(replace, [organizationId, id, JSON.stringify(secrets), JSON.stringify(renewed)]);
  }
}
