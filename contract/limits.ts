/** The limits of the API that more than one place needs to know. */

/** Requests with one key within a sliding window. */
export const rateLimit = { limit: 100, windowSeconds: 60 } as const;

/** The largest body, in bytes. */
export const maximumBodyBytes = 256 * 1024;
/** How deep the objects and arrays of a body may nest. */
export const maximumDepth = 20;
/** How many keys the objects of a body may have in all: many times what the largest record needs. */
export const maximumKeys = 1000;
/** The largest URL and headers together, in bytes. */
export const maximumHeaderBytes = 16 * 1024;

/** How long an `Idempotency-Key` gets the original response. */
export const idempotencyHours = 24;

/** How many problems of one request are listed; validation stops there. */
export const maximumErrors = 50;

export const metadataLimits = { keys: 50, keyLength: 40, valueLength: 500, filters: 5 } as const;
/** A key of metadata. `__proto__` would vanish from a plain object, so that it could never be stored. */
export const metadataKeyForm = /^(?!__proto__$)[A-Za-z0-9_.-]{1,40}$/;

/** Words in one search. */
export const maximumWords = 8;

/** How long to wait before trying again, in seconds. */
export const retryAfter = { rateLimited: rateLimit.windowSeconds, inProgress: 1, unavailable: 5 } as const;

const bytesPerKiB = 1024;
export const inKiB = (bytes: number): string => `${bytes / bytesPerKiB} KiB`;
