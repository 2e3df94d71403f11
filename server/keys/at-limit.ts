/** Notices keys that stay at their limit for minutes: a tool that keeps asking for too much, rather than a burst. */
type LimitedKey = { keyId: string; organizationId: string };

const minutesInRow = 3;
const mostKeys = 20_000;

export function watchLimits() {
  const minutes = new Map<string, { minute: number; inRow: number }>();
  let found = new Map<string, LimitedKey>();
  return {
    /** Notes that a request exceeded the key's limit. */
    note({ keyId, organizationId }: LimitedKey, nowMs: number): void {
      const minute = Math.floor(nowMs / 60_000);
      const last = minutes.get(keyId);
      if (last?.minute === minute) return;
      const inRow = last?.minute === minute - 1 ? last.inRow + 1 : 1;
      if (minutes.size >= mostKeys) minutes.clear();
      minutes.set(keyId, { minute, inRow });
      if (inRow >= minutesInRow) found.set(keyId, { keyId, organizationId });
    },
    /** The keys that were at their limit in three or more consecutive minutes, since the last call. */
    take(): LimitedKey[] {
      const taken = [...found.values()];
      found = new Map();
      return taken;
    },
  };
}
