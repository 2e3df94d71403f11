/** What an editor shows on hover: the comments that TypeScript finds from a program that uses the client. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Packed } from '../compiler/packed.ts';

// TypeScript 5, installed beside this file: TypeScript 7 has no such API yet.
const ts = createRequire(import.meta.url)('typescript');

type Type = any;

/** Paths of everything without a comment, from `createClient` through options and methods to parameters and results. */
export function undocumented({ project, installed }: Packed): string[] {
  const entry = join(installed, 'dist/esm/index.d.ts');
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024, strict: true, types: [] };
  const program = ts.createProgram([entry], { ...options, skipLibCheck: true, noEmit: true });
  const checker = program.getTypeChecker();
  const found: string[] = [];
  const seen = new Set<Type>();

  const walk = (type: Type, at: string): void => {
    if (seen.has(type)) return;
    seen.add(type);
    for (const part of type.types ?? []) walk(part, at);
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return;
    for (const signature of checker.getSignaturesOfType(type, ts.SignatureKind.Call)) {
      for (const parameter of signature.getParameters()) walk(checker.getTypeOfSymbol(parameter), at);
      walk(signature.getReturnType(), `${at}()`);
    }
    // The contents of a promise, a list or an array.
    if (type.target) for (const held of checker.getTypeArguments(type)) walk(held, at);
    if (!checker.isTupleType(type)) for (const property of checker.getPropertiesOfType(type)) visit(property, at);
  };
  const visit = (property: Type, at: string) => {
    const declaredIn = (property.declarations ?? []).map((one: Type) => one.getSourceFile().fileName);
    // Skips what comes with the language, and what users cannot name.
    if (!declaredIn.every((file: string) => file.startsWith(project)) || /^#|^__/.test(property.name)) return;
    if (property.getDocumentationComment(checker).length === 0) found.push(`${at}.${property.name}`);
    walk(checker.getTypeOfSymbol(property), `${at}.${property.name}`);
  };

  for (const alias of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))) {
    const symbol = alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias;
    if (symbol.getDocumentationComment(checker).length === 0) found.push(symbol.name);
    if (symbol.flags & ts.SymbolFlags.Function) walk(checker.getTypeOfSymbol(symbol), symbol.name);
    if (symbol.flags & ts.SymbolFlags.Class) walk(checker.getDeclaredTypeOfSymbol(symbol), symbol.name);
  }
  // Too few would mean that the walk stopped early.
  if (seen.size < 200) throw new Error(`Only ${seen.size} types were seen.`);
  return found;
}
