import { z } from 'zod';
import { ADDRESS_PATTERN } from '../shared/ids.ts';
import { alertSettings } from './alert-settings.ts';
import { cadenceSettings } from './cadences.ts';
import { capacitySettings } from './capacity-settings.ts';
import { freshnessSettings } from './freshness-budgets.ts';
import { count, flag, seconds, url } from './numbers.ts';
import { providerSettings } from './provider-settings.ts';
import { parseRedisUrl } from './redis-address.ts';

/** One or several nodes. A comma within a URL is written %2C. */
const urls = z
  .string()
  .refine((text) => addressesIn(text).every((one) => url.safeParse(one).success), {
    error: 'expected http(s) URLs, separated by commas',
  })
  .transform(addressesIn);
const redisUrl = z.string().superRefine((text, { addIssue }) => {
  try {
    parseRedisUrl(text);
  } catch (error) {
    addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'expected a redis:// URL' });
  }
});
const file = z.string().min(1).optional();
const port = z.coerce.number({ error: 'expected a port number' }).int().min(0).max(65535);
/** Scheme, host and port in the format of the `Origin` header: no path, no trailing slash. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d+)?$/i;

/**
 * Every environment variable that the service reads. `.env.example` is generated from this object:
 * `npm run env-example`.
 */
export const envSchema = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe(
      'In production RPC_URL_1, RPC_URL_4663, DATABASE_URL and KEY_PEPPER are required, and the local world and its sample keys are off.',
    ),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address on which the service listens.'),
  PORT: port.default(8787).describe('Port on which the service listens; 0 selects a free one.'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest severity of log lines.'),
  ROLE: z
    .enum(['all', 'api', 'warmer'])
    .default('all')
    .describe('Role of this process. api and warmer share their data through REDIS_URL.'),

  RPC_URL_1: urls
    .optional()
    .describe(
      'JSON-RPC nodes of Ethereum (chain 1), one or several separated by commas. Without any RPC_URL_* the local world starts.',
    ),
  RPC_URL_4663: urls
    .optional()
    .describe('JSON-RPC nodes of Robinhood Chain (chain 4663), one or several separated by commas.'),
  RPC_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(120_000)
    .default(10_000)
    .describe('Timeout of one RPC request, milliseconds.'),
  HISTORY_CONFIRMATION_SEC: z.coerce
    .number({ error: 'expected a number of seconds' })
    .int()
    .min(0)
    .max(86_400)
    .default(24)
    .describe(
      'Age at which the logs of positions of a block are read, seconds: a node behind a load balancer may not have newer blocks. Deeper reorganizations are followed.',
    ),
  HISTORY_REQUESTS_PER_MINUTE: z.coerce
    .number({ error: 'expected a number of requests' })
    .int()
    .min(2)
    .max(100_000)
    .default(240)
    .describe(
      'Most requests per minute and chain for the logs of positions and the states of markets at their blocks.',
    ),
  CATALOG_OVERLAY: z
    .string()
    .min(1)
    .optional()
    .describe('Path of a JSON file that adds tokens and markets to the curated catalog.'),

  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' })
    .optional()
    .describe('Postgres for keys, position registrations and rate samples.'),
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(8)
    .describe('Maximum number of connections to Postgres.'),
  DATABASE_READ_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' })
    .optional()
    .describe(
      'A replica for histories, which may be late. Without it, and while it is away or late, the primary is read.',
    ),
  DATABASE_READ_MAX_LAG_SEC: seconds
    .default(300)
    .describe('How far the replica may be behind before the primary is read instead, seconds.'),
  MIGRATE_ON_START: flag
    .default(true)
    .describe(
      'Whether a start applies pending migrations. With false it fails until "npm run migrate" has applied them, and the role of DATABASE_URL needs no right to create tables.',
    ),
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'Redis for the shared snapshot, leases and rate limits: redis://host, redis+sentinel://host,host/primary or redis+cluster://host,host; rediss with TLS. Without it they are local to the process.',
    ),
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.:{}-]{1,64}$/, 'expected 1 to 64 letters, digits or _ . : { } -')
    .default('spiral')
    .describe('Beginning of every key and channel in Redis; services that share a Redis need different ones.'),
  REDIS_CA_FILE: file.describe(
    'PEM file of the certificates that Redis is trusted by, instead of the public ones (rediss).',
  ),
  REDIS_CERT_FILE: file.describe('PEM file of the client certificate, if Redis asks for one (rediss).'),
  REDIS_KEY_FILE: file.describe('PEM file of the key of REDIS_CERT_FILE.'),
  SNAPSHOT_FILE: z
    .string()
    .min(1)
    .default('.data/snapshot.json')
    .describe('File of the last snapshot, for the next start; unused with REDIS_URL.'),

  ...providerSettings,

  LISTING_MIN_DAYS_TO_MATURITY: z.coerce
    .number()
    .int()
    .min(0)
    .max(3650)
    .default(7)
    .describe('Minimum number of days before maturity of a listed principal token.'),
  LISTING_MIN_LIQUIDITY_USD: z.coerce
    .number()
    .min(0)
    .default(1000)
    .describe('Minimum borrowable liquidity of a listed market, USD.'),

  ...cadenceSettings,
  ...freshnessSettings,

  APP_URL: url.optional().describe('Base URL of the client app; signing and strategy links start with it.'),
  FEE_RECEIVER: z
    .string()
    .regex(ADDRESS_PATTERN, 'expected 0x + 40 hex characters')
    .optional()
    .describe('Address that receives the referral fee of swaps into a position. Without it no fee is charged.'),

  GRAPHIQL: flag.default(true).describe('Whether /graphql serves GraphiQL to browsers.'),
  INTROSPECTION: flag.default(true).describe('Whether the schema may be introspected.'),
  PERSISTED_ONLY_FOR_ANONYMOUS: flag
    .default(false)
    .describe('Whether callers without a key are limited to persisted operations.'),
  TRUSTED_PROXIES: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe('Number of proxies in front that append to X-Forwarded-For; 0 ignores the header.'),
  CORS_ORIGINS: z
    .string()
    .refine((value) => value === '*' || value.split(',').every((origin) => ORIGIN.test(origin.trim())), {
      error: 'expected * or origins such as https://app.example, separated by commas',
    })
    .default('*')
    .describe('Allowed origins of browsers: * or a comma-separated list.'),
  MCP_ORIGINS: z
    .string()
    .refine((value) => value.split(',').every((origin) => ORIGIN.test(origin.trim())), {
      error: 'expected origins such as https://app.example, separated by commas',
    })
    .optional()
    .describe(
      'Origins of pages in browsers that may use /mcp; those of CORS_ORIGINS when left out, none when that is *.',
    ),
  RATE_LIMIT_ANONYMOUS: count
    .default(600)
    .describe('Cost points per minute and address without a key; 0 = no rate limit for the tier.'),
  RATE_LIMIT_PARTNER: count
    .default(3000)
    .describe('Cost points per minute and partner key; 0 = no rate limit for the tier.'),
  RATE_LIMIT_OPS: count.default(6000).describe('Cost points per minute and ops key; 0 = no rate limit for the tier.'),
  KEY_PEPPER: z
    .string()
    .min(16)
    .optional()
    .describe('Secret mixed into key hashes. Changing it invalidates every key. Required in production.'),
  KEY_GRACE_SEC: z.coerce
    .number({ error: 'expected seconds' })
    .int()
    .min(0)
    .max(3_600)
    .default(300)
    .describe(
      'During an outage of Postgres a partner key is accepted for this time after its last successful check, seconds; 0 = not at all.',
    ),
  ...capacitySettings,
  ...alertSettings,
  ANSWER_CACHE_MB: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_536)
    .default(96)
    .describe('Maximum memory of cached answers, MB.'),
  METRICS_PORT: port.optional().describe('Port of /metrics on HOST. Without it there are no metrics.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .optional()
    .describe('Base URL of an OpenTelemetry collector (OTLP over HTTP). Without it there are no traces.'),
  TRACE_SAMPLE_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of requests to trace when the caller sends no sampling decision.'),
  START_WAIT_SEC: z.coerce
    .number()
    .int()
    .min(0)
    .max(600)
    .default(15)
    .describe(
      'Time for which a start waits for Postgres to answer, seconds; then it begins without it, for public reads.',
    ),
  STOP_DELAY_SEC: z.coerce
    .number()
    .int()
    .min(0)
    .max(6)
    .default(0)
    .describe(
      'Time after SIGTERM during which /ready is false and requests are still accepted, so that a load balancer stops sending them first, seconds.',
    ),
  STOP_DRAIN_SEC: z.coerce
    .number()
    .int()
    .min(0)
    .max(8)
    .default(5)
    .describe(
      'How long a stop keeps idle connections open for one more request, which is answered with Connection: close, seconds. Together with STOP_DELAY_SEC at most 8 s.',
    ),

  DEVNET_PORT_1: port.default(8545).describe('Local world only: port of chain 1.'),
  DEVNET_PORT_4663: port.default(8546).describe('Local world only: port of chain 4663.'),
  DEVNET_CONTROL_PORT: port.default(8788).describe('Local world only: port of the control endpoint.'),
  DEVNET_DATA_DIR: z.string().min(1).default('.data').describe('Local world only: folder of its database.'),
});

export type Env = z.output<typeof envSchema>;

function addressesIn(text: string): readonly string[] {
  return text.split(',').map((address) => address.trim());
}
