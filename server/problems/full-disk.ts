/** A full disk is reported to the person whose file does not fit. */
import { Problem } from './problem.ts';

/** The disk is full, or the account's quota is used up. */
const codes = new Set<unknown>(['ENOSPC', 'EDQUOT']);

/** For catch(): rethrows everything else. */
export function rejectFullDisk(cause: unknown): never {
  if (!codes.has(Reflect.get(Object(cause), 'code'))) throw cause;
  const sentence = 'The server has no space left for the file. Try again later, or tell the operator of the service.';
  throw new Problem('no_space', { sentence }, { cause });
}
