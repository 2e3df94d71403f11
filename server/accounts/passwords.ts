/** The rules for passwords, and how they are stored. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { BinaryLike, ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { timeLimit } from '../limits/time-limit.ts';
import { Problem } from '../problems/problem.ts';

export const passwordLength = { least: 12, most: 128 };

/** Words that others know about the member: the email address, the name, the organization. */
type Known = readonly string[];

/** What is wrong with a password, as a sentence; undefined if it is acceptable. */
export async function passwordProblem(password: string, known: Known = []): Promise<string | undefined> {
  if (password.length < passwordLength.least) return `Use at least ${passwordLength.least} characters.`;
  if (password.length > passwordLength.most) return `Use at most ${passwordLength.most} characters.`;
  if (new Set(password).size < 4) return 'Use at least 4 different characters.';
  if (isMadeOf(password, known)) return 'Do not base the password on your email, your name or your organization.';
  if (await isCommon(password)) return 'This password is too common. Use a few unrelated words instead.';
  return undefined;
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether fewer than six letters and digits are left once these words and their parts are removed. */
function isMadeOf(password: string, known: Known): boolean {
  const parts = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).map(lettersOf);
  const words = parts.filter((part) => part.length >= 3).toSorted((one, other) => other.length - one.length);
  const whole = lettersOf(password);
  const left = words.reduce((text, word) => text.replaceAll(word, ''), whole);
  return left !== whole && left.length < 6;
}

/** 50,000 words, loaded only when the first password is chosen; if that fails, the next one tries again. */
let common: ReadonlySet<string> | undefined;

async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(Object.values(dictionary).flatMap((words) => [...words].map(String)));
}

/** Also finds a common password repeated, surrounded by digits or symbols, or with the usual letter substitutions. */
async function isCommon(password: string): Promise<boolean> {
  const words = (common ??= await readCommonPasswords());
  const lower = password.toLowerCase();
  const plain = lower.replaceAll(/[@4310$!57]/g, (sign) => substitutes[sign] ?? sign);
  const forms = [lower, plain].flatMap((form) => [form, form.replaceAll(/^[^a-z]+|(?<![^a-z])[^a-z]+$/g, '')]);
  return forms.some((form) => words.has(form) || words.has(repeatedUnit(form)));
}

const substitutes: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};

/** `abcabc` → `abc`; a text without repetition is returned unchanged. */
function repeatedUnit(text: string): string {
  const period = (text + text).indexOf(text, 1);
  return period > 0 ? text.slice(0, period) : text;
}

/** OWASP's parameters for scrypt with 32 MiB: as strong as N = 2^17 with p = 1, which takes four times the memory. */
const cost = { N: 2 ** 15, r: 8, p: 3 };
const keyBytes = 32;
const form = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

/** `scrypt$N$r$p$salt$hash`, so the cost can be raised later. */
export async function hashPassword(password: string, { N, r, p } = cost): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, { N, r, p });
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

export async function verifyPassword({ hash, password }: { hash: string; password: string }): Promise<boolean> {
  const [, N, r, p, salt = '', stored = ''] = form.exec(hash) ?? [];
  if (!N) return false;
  const key = await derive(password, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) });
  const expected = Buffer.from(stored, 'base64url');
  return key.length === expected.length && timingSafeEqual(key, expected);
}

const scryptOf = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt);

// Two at a time: hashing runs in Node's thread pool, which file access and DNS lookups also need.
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let turn = 0;
/** Including those being hashed. At a tenth of a second each, any further one could miss the deadline of its response. */
export const mostWaiting = 100;
let waiting = 0;
/** On a busy machine, hashing takes much longer: what has waited for this long has missed the deadline. */
export const longestWaitMs = 10_000;

const busy = () =>
  new Problem('busy', {
    sentence: 'Too many people are signing in right now. Try again in 10 seconds.',
    retryAfterSeconds: 10,
  });

/** Problem: busy. */
async function derive(password: string, salt: Buffer, { N, r, p }: typeof cost): Promise<Buffer> {
  if (waiting >= mostWaiting) throw busy();
  waiting += 1;
  const lane = (turn += 1) % lanes.length;
  const isTooLate = timeLimit(longestWaitMs);
  const work = () => {
    if (isTooLate()) throw busy();
    return scryptOf(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem: 256 * N * r });
  };
  const result = (lanes[lane] ?? Promise.resolve()).then(work).finally(() => (waiting -= 1));
  lanes[lane] = result.catch(() => {});
  return result;
}
