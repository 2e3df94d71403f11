/** The environment, read once: the only place that knows process.env. */
import { z } from 'zod';

const hasCredentials = (url: string) => URL.canParse(url) && /@/.test(url.split('/')[2] ?? '');

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const schema = z.object({
  PORT: z.coerce.number<string>('must be a port number from 0 to 65535').int().min(0).max(65_535).default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  /** The service's URL as callers see it. Default: the listening address. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
    .refine((url) => !hasCredentials(url), 'must have no user:password@, because it is shown to every caller')
    .optional(),
  /** `production`: serve warns if PUBLIC_URL is missing. */
  NODE_ENV: z.string().optional(),
  /** PostgreSQL 15 to 18; without it, an embedded one runs in DATA_DIR. */
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgresql://')
    .optional(),
  /** PgBouncer or the like in transaction mode, for the statements of requests; commands and migrations use DATABASE_URL. */
  DATABASE_POOLER_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgresql://')
    .optional(),
  /** Whether the pooler keeps prepared statements: PgBouncer 1.21 or later with max_prepared_statements. */
  DATABASE_POOLER_PREPARES: z.stringbool('must be true or false').default(false),
  DATA_DIR: z.string().min(1).optional(),
  /** Redis 7 or Valkey, for a rate limit shared by all processes. */
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must start with redis:// or rediss://')
    .optional(),
  /** The port for Prometheus metrics, at /metrics; without it, they are not served. */
  METRICS_PORT: z.coerce.number<string>('must be a port number from 0 to 65535').int().min(0).max(65_535).optional(),
  /** Signs the sessions of the settings pages. Default: a random secret stored in the database. */
  AUTH_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  /** Sends invitations and password links; without it, the settings only display them. */
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\//, 'must start with smtp:// or smtps://')
    .optional(),
  /** The sender of that mail, such as `Acme <api@acme.example>`. */
  MAIL_FROM: z.string().min(3).optional(),
  /** An OpenID provider that members can sign in with; set all three or none. */
  OIDC_ISSUER: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** OpenTelemetry: traces are exported if an endpoint or the exporter is set. Its exporter reads the other OTEL_* itself. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number<string>('must be a number from 0 to 1').min(0).max(1).default(1),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  TRUSTED_PROXIES: z.coerce.number<string>('must be a number from 0 to 10').int().min(0).max(10).default(0),
});

export type Config = Readonly<z.output<typeof schema>>;

/** An error whose message is printed at the terminal without a stack trace. */
export class UsageError extends Error {}

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // An empty variable counts as not set: `PORT= npm start`.
  const variables = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = schema.safeParse(variables);
  if (result.success) return Object.freeze(result.data);
  const lines = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new UsageError(lines.join('; '));
}
