/** The API's limits that are needed in more than one place. */

/** Requests per key in a sliding window. */
export const rateLimit = { limit: 100, windowSeconds: 60 } as const;

/** The largest body, in bytes. */
export const maximumBodyBytes = 256 * 1024;
/** How deeply the objects and arrays of a body may be nested. */
export const maximumDepth = 20;
/** How many keys all objects of a body may have in total: many times what the largest record needs. */
export const maximumKeys = 1000;
/** The largest URL and headers together, in bytes. */
export const maximumHeaderBytes = 16 * 1024;

/** How long a repeated `Idempotency-Key` returns the original response. */
export const idempotencyHours = 24;

/** How many errors of one request are listed; validation stops there. */
export const maximumErrors = 50;

export const metadataLimits = { keys: 50, keyLength: 40, valueLength: 500, filters: 5 } as const;
/** A metadata key. `__proto__` would vanish from a plain object, so it could never be stored. */
export const metadataKeyPattern = /^(?!__proto__$)[A-Za-z0-9_.-]{1,40}$/;

/** What `metadataKeyPattern` allows, in words. */
export const metadataKeyRule = `1 to ${metadataLimits.keyLength} characters from A–Z a–z 0–9 _ . -`;

/** Words in one search. */
export const maximumWords = 8;

/** How many seconds to wait before trying again. */
export const retryAfter = { rateLimited: rateLimit.windowSeconds, inProgress: 1, unavailable: 5 } as const;

export const inKiB = (bytes: number): string => `${bytes / 1024} KiB`;
