/** A full disk is reported to the person whose file does not fit. */
import { constants } from 'node:os';
import { Problem } from './problem.ts';

/** The disk is full, or the account's quota is used up. */
const codes = new Set<unknown>(['ENOSPC', 'EDQUOT']);

/** The code of a system error. Node has none for a quota that is used up: it says that the error is unknown. */
export function systemCode(error: unknown): unknown {
  const of = (name: string): unknown => Reflect.get(Object(error), name);
  return of('errno') === -constants.errno.EDQUOT ? 'EDQUOT' : of('code');
}

/** For catch(): rethrows everything else. */
export function rejectFullDisk(cause: unknown): never {
  if (!codes.has(systemCode(cause))) throw cause;
  const sentence = 'The server has no space left for the file. Try again later, or tell the operator of the service.';
  throw new Problem('no_space', { sentence }, { cause });
}
