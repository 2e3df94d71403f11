/** The service's environment variables: parsed and described only here. */
import { z } from 'zod';

type Description = {
  /** What the variable is for, in Markdown: for the README, the operating guide and `serve --help`. */
  meaning: string;
  /** What applies if it is not set, unless that is the schema's default. */
  otherwise?: string;
};

const descriptions = z.registry<Description>();

const roots = ['always_on', 'always_off', 'traceidratio'] as const;
const samplers = [...roots, ...roots.map((name) => `parentbased_${name}` as const)];

const number = (from: number, to: number, what: string) => {
  const error = `must be ${what} from ${from} to ${to}`;
  const form = what === 'a number' ? /./ : /^\d+$/;
  return z.string().regex(form, error).transform(Number).pipe(z.number(error).min(from, error).max(to, error));
};
const port = () => number(0, 65_535, 'a port number');
const text = (minimum: number) => z.string().min(minimum, `must have at least ${minimum} characters`);
/** Short enough that URLs starting with it fit into the contract's headers. */
const webUrl = () =>
  z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).max(1000, 'must have at most 1000 characters');
const hasNoUser = (given: string) => !/^\w+:..[^/]*@/.test(given);
const url = (pattern: RegExp, ways: string) =>
  z.string().refine((given) => pattern.test(given) && URL.canParse(given), `must be a URL that starts with ${ways}`);
/** To pg, these three mean verify-full. Replaced, because for them it prints a warning into the JSON log. */
const sslAliases = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;
const encoding = 'percent-encode its password, such as %23 for #';
const databaseForm = `must start with postgresql:// and name one host; ${encoding}`;
// PostgreSQL allows more than standard URLs do, such as user@/name.
const databaseUrl = () =>
  z
    .string()
    .regex(/^postgres(ql)?:\/\/(?:[^/?#]*@)?(?:\[.*?\]|[^/?#@,:]*)(?::\d+)?(?:[/?]|$)/, databaseForm)
    .transform((given) => (given.includes('uselibpqcompat=true') ? given : given.replace(sslAliases, 'verify-full')));
const yesOrNo = () => z.stringbool('must be true or false').default(false);

/** A single address is a network of one. */
const addresses = [z.ipv4().transform((one) => `${one}/32`), z.ipv6().transform((one) => `${one}/128`)];
const network = z.union([z.cidrv4(), z.cidrv6(), ...addresses]);
const networkError = 'must be networks such as 10.1.0.0/16, separated by commas';
const networks = () =>
  z
    .string()
    .default('')
    .transform((given) => (given === '' ? [] : given.split(',').map((each) => each.trim())))
    .refine((given) => given.every((each) => network.safeParse(each).success), networkError)
    .pipe(z.array(network));

/** In the order in which they are shown. */
const variables = {
  PORT: port().default(3000).register(descriptions, { meaning: 'port to listen on; `0` picks a free port' }),
  HOST: text(1)
    .default('127.0.0.1')
    .register(descriptions, { meaning: 'address to listen on; `0.0.0.0` for every interface' }),
  PUBLIC_URL: webUrl()
    .transform((given) => new URL(given).href.replace(/(?<!\/)\/+$/, '')) // ASCII, as headers must be
    .refine(hasNoUser, 'must have no user:password@, because it is shown to every caller')
    .refine((href) => !/[?#]|%(?![\da-f]{2})/i.test(href), 'must have no ?, # or unescaped %: paths are added to it')
    .optional()
    .register(descriptions, {
      meaning: 'URL of the service as its callers see it; every absolute URL in a response starts with it',
      otherwise: 'the URL that it listens on',
    }),
  NODE_ENV: z.string().optional().register(descriptions, {
    meaning: '`production` creates no demo without `--demo`, and warns if `PUBLIC_URL` is missing',
  }),
  DATABASE_URL: databaseUrl().optional().register(descriptions, {
    meaning: 'PostgreSQL 15 to 18: `postgresql://user:password@host:5432/name`',
    otherwise: 'an embedded one',
  }),
  DATABASE_POOLER_URL: databaseUrl().optional().register(descriptions, {
    meaning: 'PgBouncer in transaction mode in front of the same database, for the statements of API requests',
  }),
  DATABASE_POOLER_PREPARES: yesOrNo().register(descriptions, {
    meaning: 'whether the pooler supports prepared statements (PgBouncer 1.21+)',
  }),
  DATABASE_CONNECTIONS: number(16, 46, 'a whole number').default(46).register(descriptions, {
    meaning: 'maximum number of database connections that each process opens',
  }),
  DATA_DIR: z.string().regex(/^[^~]/, 'must not begin with ~: write the whole path').optional().register(descriptions, {
    meaning: 'folder of the embedded database and of uploaded files',
    otherwise: '`.data` in the folder of the program; with `DATABASE_URL`, uploads are temporary files',
  }),
  REDIS_URL: url(/^rediss?:\/\//, `redis:// or rediss://; ${encoding}`)
    .optional()
    .register(descriptions, {
      meaning: 'Redis 7 or Valkey, as `redis://host:6379`, to share the rate limit between processes',
      otherwise: 'each process counts separately',
    }),
  METRICS_PORT: port().optional().register(descriptions, {
    meaning: 'port for Prometheus metrics, at `/metrics` on `HOST`',
  }),
  AUTH_SECRET: text(32).optional().register(descriptions, {
    meaning:
      'signs cursors and settings-page sessions, and encrypts stored secrets; at least 32 characters, the same in every process; to change it, set `new,old` for a while',
    otherwise: 'a random one, kept in the database',
  }),
  SMTP_URL: url(/^smtps?:\/\/[^/?#]/, `smtp:// or smtps:// and a host; ${encoding}`)
    .optional()
    .register(descriptions, {
      meaning:
        'mail server for invitations, password links, changes to two-factor authentication, and warnings about API keys and webhooks: `smtp://user:password@host:587`; with `?requireTLS=true` at its end, nothing is sent to a server without TLS',
      otherwise: 'none; links are only displayed',
    }),
  MAIL_FROM: z
    .string()
    .regex(/[^\s<@]@[^\s>@]/, 'must contain an email address')
    .optional()
    .register(descriptions, {
      meaning: 'sender of that mail, such as `Acme <api@acme.example>`',
      otherwise: 'no-reply at the host of `PUBLIC_URL`',
    }),
  OIDC_ISSUER: webUrl().refine(hasNoUser, 'must have no user:password@').optional().register(descriptions, {
    meaning:
      'OpenID provider for single sign-on; its redirect URL is `PUBLIC_URL` followed by `/settings/oidc/callback`',
  }),
  OIDC_CLIENT_ID: text(1).optional().register(descriptions, { meaning: 'client ID registered with the provider' }),
  OIDC_CLIENT_SECRET: text(1).optional().register(descriptions, {
    meaning: 'client secret; sent in the request body if the provider supports that, otherwise by HTTP Basic',
  }),
  TRUSTED_PROXIES: number(0, 10, 'a whole number').default(0).register(descriptions, {
    meaning:
      'number of trusted proxies that append to `X-Forwarded-For`; used to find the IP address of the client for sign-in limits',
  }),
  SECURITY_CONTACT: url(/^(https:\/\/|mailto:)/, 'https:// or mailto:')
    .optional()
    .register(descriptions, {
      meaning:
        'where to report vulnerabilities in your service, for `/.well-known/security.txt`: `mailto:security@acme.example`',
      otherwise: 'none; the file does not exist',
    }),
  PLAN_CONTACT: text(3).max(200, 'must have at most 200 characters').optional().register(descriptions, {
    meaning:
      'where admins ask for the Team plan, as a URL or in words; the settings pages and the 403 of the API show it: `https://acme.example/plans`',
    otherwise: 'none; they are told to ask the operator',
  }),
  CONNECTIONS_PER_NETWORK: number(1, 1_000_000, 'a whole number').default(2_000).register(descriptions, {
    meaning:
      'maximum number of connections from one network; not enforced with `TRUSTED_PROXIES`, because the proxy limits them',
  }),
  WEBHOOK_ALLOW: networks().register(descriptions, {
    meaning: 'private networks that webhooks may be sent to, over plain HTTP too: `10.1.0.0/16,127.0.0.1`',
    otherwise: 'public addresses over HTTPS only',
  }),
  // OpenTelemetry's exporter reads the other OTEL_ variables itself.
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl().optional().register(descriptions, {
    meaning: 'OpenTelemetry collector for traces, over OTLP/HTTP; `/v1/traces` is appended',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl().optional().register(descriptions, {
    meaning: 'full URL of the traces endpoint; overrides the above',
  }),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional().register(descriptions, {
    meaning: '`otlp` (sends to `http://localhost:4318` if no endpoint is set) or `none`',
    otherwise: '`otlp` if an endpoint is set',
  }),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, `must be one of ${samplers.join(', ')}`)
    .default('parentbased_always_on')
    .register(descriptions, { meaning: 'sampler, by its standard name' }),
  OTEL_TRACES_SAMPLER_ARG: number(0, 1, 'a number').default(1).register(descriptions, {
    meaning: 'fraction of traces to sample with a `traceidratio` sampler, from 0 to 1',
  }),
  OTEL_SDK_DISABLED: yesOrNo().register(descriptions, { meaning: '`true` turns tracing off' }),
};

export type Config = Readonly<z.output<z.ZodObject<typeof variables>>>;

/** An error whose message is printed at the terminal without a stack trace. */
export class UsageError extends Error {}

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // An empty variable counts as not set: `PORT= npm start`. A value from a file may end with a line break.
  const trimmed = Object.entries(environment).map(([name, value = '']) => [name, value.trim()] as const);
  const isGiven = ([name, value]: readonly [string, string]) => Object.hasOwn(variables, name) && value !== '';
  const { AUTH_SECRET, ...given } = Object.fromEntries(trimmed.filter(isGiven));
  const quoted = Object.entries(given).find(([, value]) => /^(["']).*\1$/s.test(value));
  if (quoted) throw new UsageError(`${quoted[0]} must have no quotes around its value`);
  // Used as it is: what it has encrypted depends on its quotes and line breaks.
  if (AUTH_SECRET) given.AUTH_SECRET = environment.AUTH_SECRET ?? '';
  const { success, data: config, error } = z.object(variables).safeParse(given);
  if (!success) throw new UsageError(error.issues.map((each) => `${each.path.join('.')} ${each.message}`).join('; '));
  if (config.DATABASE_POOLER_URL !== undefined && config.DATABASE_URL === undefined)
    throw new UsageError('DATABASE_POOLER_URL requires DATABASE_URL, which must point directly at the same database.');
  const provider = [config.OIDC_ISSUER, config.OIDC_CLIENT_ID, config.OIDC_CLIENT_SECRET].filter(Boolean);
  if (provider.length % 3 !== 0)
    throw new UsageError('Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together, or none of them');
  return Object.freeze(config);
}

/** The variables as documented for people, in Markdown. */
export const describedVariables = Object.entries(variables).map(([name, variable]) => {
  const { meaning = '', otherwise } = descriptions.get(variable) ?? {};
  const fallback = 'defaultValue' in variable.def ? `\`${String(variable.def.defaultValue)}\`` : 'none';
  return { name, meaning, fallback: otherwise ?? fallback };
});
export const setVariables = (): string[] => Object.keys(process.env);
