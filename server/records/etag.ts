/** The ETag of a record, which names its version: it costs no hash, and is the same in a list, in a response and in If-Match. */

type Versioned = { revision: number; updatedAt: string };

/** `other` is the revision of what is shown with the record, if anything is. */
export function etagOf({ revision, updatedAt }: Versioned, other: number | null = null): string {
  // The time tells apart two versions with one number, such as those before and after a backup was restored.
  const version = `${revision}-${Date.parse(updatedAt).toString(36)}`;
  return other === null ? `"${version}"` : `"${version}-${other}"`;
}
