/** Metadata in the order of its keys: the database keeps another one than the caller, and an ETag is over the bytes. */
export function presentMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const keys = Object.keys(metadata);
  if (keys.length < 2) return metadata;
  return Object.fromEntries(keys.toSorted().map((key) => [key, metadata[key] ?? '']));
}
