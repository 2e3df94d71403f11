/**
 * The contract's descriptions as comments of its declarations, for editors: types that Zod infers take the comments of
 * the schemas that they are inferred from, and the compiler writes none there, because a description is a value.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

/** Writes a comment above every described field in the declarations of a built folder; gives how many. */
export async function commentDeclarations(folder: string): Promise<number> {
  let count = 0;
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(folder, file);
    const values: object = await import(pathToFileURL(path.replace(/\.d\.ts$/, '.js')).href);
    const before = (await readFile(path, 'utf8')).split('\n');
    const after = commented(before, values);
    count += after.length - before.length;
    await writeFile(path, after.join('\n'));
  }
  return count;
}

const exported = /^export declare const (\w+): /;
const inferred = /^export type \w+ = z\.\w+<typeof (\w+)>/;
const property = /^( +)(?:readonly )?(?:"([^"]+)"|([\w$]+))\??: /;

/** The compiler writes one property a line, each level four spaces deeper: the spaces tell whose field a line is. */
export function commented(lines: string[], values: object): string[] {
  /** What stands at each level around the line at hand. */
  const around: unknown[] = [];
  return lines.flatMap((line) => {
    const [, name] = exported.exec(line) ?? [];
    if (name !== undefined) {
      around.splice(0, Infinity, Reflect.get(values, name));
      return [line];
    }
    const [, source] = inferred.exec(line) ?? [];
    if (source !== undefined) return withComment(line, '', Reflect.get(values, source));
    const [, spaces = '', quoted, bare] = property.exec(line) ?? [];
    const level = spaces.length / 4;
    if (level === 0 || around.length < level) return [line];
    const value = member(around[level - 1], quoted ?? bare ?? '');
    around.splice(level, Infinity, value);
    return withComment(line, spaces, value);
  });
}

function withComment(line: string, spaces: string, schema: unknown): string[] {
  const text = descriptionOf(schema);
  return text === undefined ? [line] : [`${spaces}/** ${text.replaceAll('*/', '*\\/')} */`, line];
}

/** The field of a schema, or the part of an operation; problems have the same fields everywhere, and are left out. */
function member(owner: unknown, name: string): unknown {
  if (/^[45]\d\d$/.test(name)) return undefined;
  const shape = shapeOf(owner) ?? (owner instanceof z.ZodType ? undefined : owner);
  return Object.hasOwn(Object(shape), name) ? Reflect.get(Object(shape), name) : undefined;
}

function shapeOf(schema: unknown): object | undefined {
  return schema instanceof z.ZodObject ? schema.shape : firstOf(schema, shapeOf);
}

function descriptionOf(schema: unknown): string | undefined {
  return schema instanceof z.ZodType ? (schema.description ?? firstOf(schema, descriptionOf)) : undefined;
}

/** The first answer of what a schema is wrapped around: optional, nullable and default values, arrays, both ends of a pipe. */
function firstOf<T>(schema: unknown, ask: (inner: unknown) => T | undefined): T | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  const inside = ['innerType', 'element', 'out', 'in'].map((place): unknown => Reflect.get(schema.def, place));
  for (const inner of inside) {
    const answer = inner instanceof z.ZodType ? ask(inner) : undefined;
    if (answer !== undefined) return answer;
  }
  return undefined;
}
