/**
 * The platform's types that the client's types mention: the platform's own if the project has them (`lib: ["dom"]`,
 * `@types/node`, Deno, Bun, workers), otherwise only the parts that the client uses.
 */
type Global<Name extends string, Fallback> = typeof globalThis extends { [Key in Name]: { prototype: infer Instance } }
  ? Instance
  : Fallback;

type HeadersPart = {
  get(name: string): string | null;
  has(name: string): boolean;
  forEach(each: (value: string, name: string) => void): void;
};
type SignalPart = { readonly aborted: boolean; readonly reason: unknown; throwIfAborted(): void };
type ResponsePart = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: PlatformHeaders;
  text(): Promise<string>;
};

export type PlatformHeaders = Global<'Headers', HeadersPart>;
export type PlatformSignal = Global<'AbortSignal', SignalPart>;
export type PlatformResponse = Global<'Response', ResponsePart>;

type InitPart = {
  method: string;
  headers: PlatformHeaders;
  body: string | null;
  redirect: 'manual';
  signal: PlatformSignal;
};
/** What `fetch` takes as its second argument. */
export type PlatformInit = typeof globalThis extends { fetch: (url: never, init?: infer Init) => unknown }
  ? NonNullable<Init>
  : InitPart;
