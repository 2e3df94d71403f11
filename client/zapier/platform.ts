/** What Zapier's platform passes to the functions of an app: the parts that this one uses. */

export type Values = Record<string, unknown>;

export type Request = {
  url: string;
  method?: string;
  params?: Values;
  headers?: Record<string, string>;
  body?: unknown;
  /** The step handles a 404 itself. */
  skipThrowForStatus?: boolean;
};

export type Response = Pick<Request, 'skipThrowForStatus'> & {
  status: number;
  content: string;
  getHeader(name: string): string | undefined;
};

export type Z = {
  request(options: Request): Promise<{ status: number; data: unknown }>;
  errors: {
    Error: new (message: string, code: string, status: number) => Error;
    ExpiredAuthError: new (message: string) => Error;
    ThrottledError: new (message: string, seconds: number) => Error;
  };
};

export type Bundle = { authData: Values; inputData: Values };

export type Perform<Result> = (z: Z, bundle: Bundle) => Promise<Result>;
