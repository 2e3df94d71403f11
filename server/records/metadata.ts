/** Metadata: merged key by key, and shown in the order of its keys. */
import { tooManyKeys } from '../../contract/metadata.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { fieldError } from '../problems/problem.ts';
import { mergePatch } from './merge-patch.ts';

type Metadata = Record<string, string>;

/** A patch of `null` removes every key. The result can have too many: see `excessKeys`. */
export function mergeMetadata(stored: Metadata, patch: Record<string, string | null> | null | undefined): Metadata {
  if (patch === undefined) return stored;
  return patch === null ? {} : mergePatch<Metadata>(stored, patch);
}

export function excessKeys(metadata: Readonly<Metadata> = {}): ProblemError[] {
  const excess = tooManyKeys(metadata);
  return excess ? [fieldError('metadata', excess.params.code, excess.message)] : [];
}

/** Sorted by key, because the database does not keep the order of keys. */
export function presentMetadata(metadata: Readonly<Metadata>): Metadata {
  const keys = Object.keys(metadata);
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key)) return metadata;
  return Object.fromEntries(keys.toSorted().map((key) => [key, metadata[key] ?? '']));
}
