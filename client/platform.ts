/**
 * The platform's types that the client's types mention: the platform's own if the project has them (`lib: ["dom"]`,
 * `@types/node`, Deno, Bun, workers), otherwise only the parts that the client uses.
 */
type Global<Name extends string, Fallback> = typeof globalThis extends { [Key in Name]: { prototype: infer Instance } }
  ? Instance
  : Fallback;

type HeadersPart = {
  /** The value of a header; `null` if it is absent. */
  get(name: string): string | null;
  /** Whether the header is present. */
  has(name: string): boolean;
  /** Calls the function for each header. */
  forEach(each: (value: string, name: string) => void): void;
};
type SignalPart = { readonly aborted: boolean; readonly reason: unknown; throwIfAborted(): void };
export type PlatformHeaders = Global<'Headers', HeadersPart>;
export type PlatformSignal = Global<'AbortSignal', SignalPart>;

/** What the client passes to `fetch`: only what every implementation takes, whatever its own classes are. */
export type FetchInit = {
  /** `GET`, `POST` or `PATCH`. */
  method: string;
  /** All request headers, with lower-case names. */
  headers: Record<string, string>;
  /** A redirect is not followed. */
  redirect: 'manual';
  /** Ends the attempt when it takes too long, or when the caller cancels the call. */
  signal: PlatformSignal;
} & (
  | {
      /** JSON. */
      body: string;
    }
  | {
      /** Absent without a body: not every library allows null. */
      body?: never;
    }
);

/** What the client reads from a response. */
export type FetchResponse = {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. */
  readonly headers: HeadersPart;
  /** Reads the body. */
  text(): Promise<string>;
};
