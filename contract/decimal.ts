/** Decimal numbers as strings: exact, without exponent form, never `-0`. */
import { z } from 'zod';
import { failure } from './text.ts';
import type { Failure } from './text.ts';
import { alsoAccepted, parsed } from './parsed.ts';

const scale = 4;
const decimalForm = /^-?[0-9]+(?:\.[0-9]+)?$/;
const superfluousZeros = /^(-?)0+(?=[0-9])/;
/** Longer than any number that a column can hold, with room for superfluous zeros on either side. */
const longest = 40;

/** The number in ten-thousandths, for exact arithmetic; `value` is a decimal string with up to 4 decimals. */
export function toScaled(value: string): bigint {
  const dot = value.indexOf('.');
  return BigInt(dot === -1 ? value + '0'.repeat(scale) : value.slice(0, dot) + value.slice(dot + 1).padEnd(scale, '0'));
}

/** The decimal string of `scaled` × `10^-decimals`, with exactly that many decimals. */
export function fromScaled(scaled: bigint, decimals: number = scale): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const magnitude = decimals === 0 ? digits : `${digits.slice(0, cut)}.${digits.slice(cut)}`;
  return scaled < 0n ? `-${magnitude}` : magnitude;
}

/** The same number with at least `minimum` decimals and no further trailing zeros. */
export function trimDecimal(value: string, minimum = 0): string {
  const dot = value.indexOf('.');
  if (dot === -1) return minimum === 0 ? value : `${value}.${'0'.repeat(minimum)}`;
  const least = minimum === 0 ? dot : dot + 1 + minimum;
  let end = value.length;
  while (end > least && (value[end - 1] === '0' || end - 1 === dot)) end -= 1;
  return value.slice(0, end).padEnd(least, '0');
}

/** Whether both are decimal numbers with the same value: `12.5` and `12.50`. */
export function equalDecimals(left: string, right: string): boolean {
  const value = plainDecimal(left);
  return value !== undefined && value === plainDecimal(right);
}

/** Without superfluous zeros, and never `-0`; undefined for anything but a decimal number. */
function plainDecimal(text: string): string | undefined {
  if (!decimalForm.test(text)) return undefined;
  const plain = trimDecimal(text.replace(superfluousZeros, '$1'));
  return plain === '-0' ? '0' : plain;
}

/** `0.00000015` for 1.5e-7. Numbers up to 1e21 have no positive exponent. */
export function withoutExponent(value: number): string {
  const [mantissa = '', zeros] = String(Math.abs(value)).split('e-');
  if (zeros === undefined) return String(value);
  return `${value < 0 ? '-' : ''}0.${'0'.repeat(Number(zeros) - 1)}${mantissa.replace('.', '')}`;
}

export type DecimalOptions = { min: string; max: string; description: string; example: string };

function parseDecimal(value: unknown, { min, max }: DecimalOptions): string | Failure {
  if (typeof value !== 'string' && typeof value !== 'number') {
    return failure('invalid_type', 'must be a decimal number as a string, such as "1250.00"', value);
  }
  const outOfRange = () => failure('out_of_range', `must be between ${min} and ${max}`, value);
  const typed = String(value).trim();
  // Checked before anything whose cost grows with the length; the beginning shows what is wrong.
  if (typed.length > longest) {
    const start = typed.slice(0, longest);
    if (!/^-?[0-9]+(?:\.[0-9]*)?$/.test(start)) return notADecimal(value);
    return start.includes('.') ? tooManyDecimals(value) : outOfRange();
  }
  if (typeof value === 'number' && typed.includes('e')) {
    return Math.abs(value) < 1 ? tooManyDecimals(value) : outOfRange();
  }
  const canonical = plainDecimal(typed);
  if (canonical === undefined) return notADecimal(value);
  if ((canonical.split('.')[1] ?? '').length > scale) return tooManyDecimals(value);
  const scaled = toScaled(canonical);
  return scaled < toScaled(min) || scaled > toScaled(max) ? outOfRange() : canonical;
}

const notADecimal = (value: string | number): Failure =>
  failure(
    'invalid_decimal',
    'must be a decimal number such as "1250.00": digits and one dot, without separators or exponent',
    value,
  );

function tooManyDecimals(value: string | number): Failure {
  const advice = typeof value === 'number' ? '; send it as a string, rounded' : '';
  return failure('too_many_decimals', `must have at most ${scale} decimals${advice}`, value);
}

/** The regular expression for decimals between two bounds, which determine the sign and the digits before the dot. */
function pattern({ min, max }: { min: string; max: string }, decimals: string): string {
  const whole = Math.max(...[min, max].map((bound) => (bound.replace('-', '').split('.')[0] ?? '').length));
  return `^${min.startsWith('-') ? '-?' : ''}${whole === 1 ? '[0-9]' : `[0-9]{1,${whole}}`}${decimals}$`;
}

/**
 * A decimal number that arrives as a string (`"12.5"`) or a JSON number, with up to 4 decimals, within min..max; the
 * result is its shortest decimal string.
 */
export function decimalInput(options: DecimalOptions) {
  return parsed<string, string | number>((value) => parseDecimal(value, options), {
    type: 'string',
    pattern: pattern(options, `(\\.[0-9]{1,${scale}})?`),
    maxLength: longest,
    description: `${options.description} From ${options.min} to ${options.max}, up to 4 decimals; a JSON number is accepted too.`,
    examples: [options.example],
  }).register(alsoAccepted, { alsoAccepts: ['number'] });
}

/** A decimal number in a response: always a string, never in exponent form, never `-0`. */
export function decimal(meta: { description: string; example: string; signed?: boolean }) {
  const { description, example, signed = false } = meta;
  return z
    .string()
    .regex(signed ? /^-?(0|[1-9][0-9]*)(\.[0-9]{1,4})?$/ : /^(0|[1-9][0-9]*)(\.[0-9]{1,4})?$/)
    .meta({ description, maxLength: longest, examples: [example] });
}
