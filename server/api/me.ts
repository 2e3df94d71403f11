/** The connection test: who is calling, on which plan, and how much of the rate limit is left. */
import { rateLimit } from '../../contract/limits.ts';
import type { V1 } from '../../contract/v1.ts';
import { publicId } from '../records/public-id.ts';
import { maskedKey } from '../keys/list.ts';
import type { Handlers } from './handler.ts';
import { plain } from './reply.ts';

export const me: Handlers<V1['me']> = {
  async get(_, { key, organization, allowance }) {
    const { id, name, slug, currency, plan, createdAt } = organization;
    return plain({
      label: `${name} (${key.name})`,
      plan,
      organization: { id: publicId('organization', id), name, slug, currency, createdAt },
      key: {
        id: publicId('key', key.id),
        name: key.name,
        maskedKey: maskedKey(key),
        createdAt: key.createdAt,
        lastUsedAt: key.lastUsedAt,
        expiresAt: key.endsAt,
      },
      rateLimit: { ...rateLimit, remaining: allowance.remaining, resetSeconds: allowance.resetSeconds },
    });
  },
};
