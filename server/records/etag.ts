/** The ETag of a record, which names its version: it costs no hash, and is the same in a list, in a response and in If-Match. */

type Versioned = { revision: number; updatedAt: string };

/** `others` are the versions of what is shown with the record. */
export function etagOf({ revision, updatedAt }: Versioned, ...others: number[]): string {
  // The time tells apart two versions with one number, such as those before and after a backup was restored.
  return `"${[revision, Date.parse(updatedAt).toString(36), ...others].join('-')}"`;
}
