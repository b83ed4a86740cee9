import { readFileSync } from 'node:fs';
import { getAddress } from 'viem';
import type { z } from 'zod';
import type { Address, ChainId } from '../shared/ids.ts';
import { ConfigError } from './config-error.ts';
import { type Env, envSchema } from './env.ts';
import { explainSetting } from './explain.ts';
import { redisSettingsOf } from './redis.ts';
import { parseRedisUrl, type RedisSettings } from './redis-address.ts';
import { withSecretFiles } from './secret-files.ts';

export { ConfigError } from './config-error.ts';

/** Settings of a local world beside environment variables: values that only exist after it has started. */
export interface WorldOverrides {
  readonly env: Readonly<Record<string, string>>;
  readonly sampleKeys: ReadonlyMap<string, { readonly tier: 'partner' | 'ops' }>;
  /** A page for people to try the service with. It holds sample keys and a wallet, so only a local world has it. */
  readonly exampleApp?: ExampleApp | undefined;
}

/** Files of a page that use the service like any client. */
export interface ExampleApp {
  /** By name; `index.html` is the page. Each is made on its first request. */
  readonly files: Readonly<Record<string, () => Promise<string> | string>>;
  /** Addresses beside the service that the page sends requests to. */
  readonly connectsTo: readonly string[];
}

export interface Config {
  readonly env: Env;
  /** The nodes of each chain, at least one. */
  readonly rpcUrls: ReadonlyMap<ChainId, readonly string[]>;
  readonly redis: RedisSettings | undefined;
  readonly feeReceiver: Address | undefined;
  readonly corsOrigins: readonly string[] | '*';
  /** Origins of browsers that may use /mcp. */
  readonly mcpOrigins: readonly string[];
  readonly sampleKeys: WorldOverrides['sampleKeys'];
  readonly exampleApp: WorldOverrides['exampleApp'];
  readonly catalogOverlay: unknown;
}

type RpcSetting = Extract<keyof Env, `RPC_URL_${number}`>;
/** The settings of nodes; each name ends with the id of its chain. */
const RPC_SETTINGS = Object.keys(envSchema.shape).filter((name): name is RpcSetting => /^RPC_URL_\d+$/.test(name));

function chainOfSetting(name: RpcSetting): ChainId {
  return Number(name.slice('RPC_URL_'.length));
}

type RawEnv = Readonly<Record<string, string | undefined>>;

/**
 * Parse the variables alone. Empty strings count as not set.
 * @throws ConfigError naming every invalid setting
 */
export function parseEnv(raw: RawEnv): Env {
  const { env, wrong } = inspectEnv(raw);
  if (env !== undefined) return env;
  const lines = [...wrong.values()].map((text) => `  ${text}`);
  throw new ConfigError(`These settings cannot be used:\n${lines.join('\n')}\nSee .env.example for their meaning.`);
}

/** Parse the variables and explain each invalid one. `env` is present if none is invalid. */
export function inspectEnv(raw: RawEnv): {
  readonly env?: Env | undefined;
  readonly wrong: ReadonlyMap<string, string>;
} {
  const { given, wrong: unread } = withSecretFiles(
    Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined && value !== '')),
  );
  if (unread.size > 0) return { wrong: unread };
  const result = envSchema.safeParse(given);
  if (result.success) return { env: result.data, wrong: new Map() };
  const messages = new Map(result.error.issues.map((issue) => [String(issue.path[0]), issue.message]));
  const schemas: Readonly<Record<string, z.ZodType>> = envSchema.shape;
  return {
    wrong: new Map(
      [...messages].map(([name, message]) => [name, explainSetting(name, schemas[name], given[name] ?? '', message)]),
    ),
  };
}

const ABOUT_PEPPER =
  'KEY_PEPPER is a secret of 16 random characters or more (openssl rand -hex 32), the same in every process and kept for as long as the keys.';

/**
 * Whether the embedded local world has to be started: no RPC node is configured and this is not production.
 * @throws ConfigError in production without the required settings, when only some chains have a node, or when the local world
 * would write its samples into stores of another machine.
 */
export function needsLocalWorld(env: Env): boolean {
  const missing: string[] = RPC_SETTINGS.filter((name) => env[name] === undefined);
  const anyNode = missing.length < RPC_SETTINGS.length;
  if (env.NODE_ENV === 'production' || anyNode) {
    if (env.NODE_ENV === 'production') {
      if (env.DATABASE_URL === undefined) missing.push('DATABASE_URL');
      // Without it a reader of the database could check guessed keys, and a writer could plant one.
      if (env.KEY_PEPPER === undefined) missing.push('KEY_PEPPER');
    }
    if (missing.length > 0) {
      const why =
        env.NODE_ENV === 'production'
          ? 'NODE_ENV=production needs every setting of a real service'
          : 'A real chain is configured';
      const pepper = missing.includes('KEY_PEPPER') ? ` ${ABOUT_PEPPER}` : '';
      throw new ConfigError(`${why}: set ${missing.join(', ')} as well.${pepper} See .env.example.`);
    }
    return false;
  }
  requireLoopback(env);
  return true;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/** A local world writes sample rows and an invented snapshot, which must not enter stores that others use. */
function requireLoopback(env: Env): void {
  for (const name of ['DATABASE_URL', 'REDIS_URL'] as const) {
    const value = env[name];
    if (value === undefined || hostsOf(name, value).every((host) => LOOPBACK.test(host))) continue;
    throw new ConfigError(
      `${name} is not on this machine, and a local world would write its sample data there. Set RPC_URL_1 and RPC_URL_4663 to serve the real chains, or leave ${name} out.`,
    );
  }
}

function hostsOf(name: 'DATABASE_URL' | 'REDIS_URL', value: string): readonly string[] {
  return name === 'DATABASE_URL' ? [new URL(value).hostname] : parseRedisUrl(value).nodes.map(({ host }) => host);
}

/**
 * Make the frozen configuration from the variables and, in a local world, its overrides.
 * @throws ConfigError
 */
export function createConfig(raw: RawEnv, world?: WorldOverrides): Config {
  const env = withExampleApp(parseEnv({ ...raw, ...world?.env }), world);
  if (world !== undefined && env.NODE_ENV === 'production') {
    throw new ConfigError(
      'NODE_ENV=production does not start a local world: set RPC_URL_1, RPC_URL_4663 and DATABASE_URL.',
    );
  }
  if (env.ROLE !== 'all' && env.REDIS_URL === undefined) {
    throw new ConfigError(`ROLE=${env.ROLE} shares its snapshot through Redis: set REDIS_URL, or use ROLE=all.`);
  }
  if (env.ALERT_LOCAL_TARGETS && env.NODE_ENV === 'production') {
    throw new ConfigError(
      'ALERT_LOCAL_TARGETS=true lets partners send requests into this network: leave it out in production.',
    );
  }
  if (env.DATABASE_URL === undefined) throw new ConfigError('Set DATABASE_URL to a Postgres database.');
  return Object.freeze({
    env,
    rpcUrls: rpcUrlsOf(env),
    redis: redisSettingsOf(env),
    feeReceiver: env.FEE_RECEIVER === undefined ? undefined : getAddress(env.FEE_RECEIVER),
    corsOrigins: env.CORS_ORIGINS === '*' ? ('*' as const) : listOf(env.CORS_ORIGINS),
    mcpOrigins: listOf(env.MCP_ORIGINS ?? (env.CORS_ORIGINS === '*' ? '' : env.CORS_ORIGINS)),
    sampleKeys: world?.sampleKeys ?? new Map(),
    exampleApp: world?.exampleApp,
    catalogOverlay: readOverlay(env.CATALOG_OVERLAY),
  });
}

/** Split a comma-separated setting. */
function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/**
 * In a local world the links lead to the example app that the service has at `/app/`, unless an app is configured. It is one
 * static page: the fragment has the place in it. A port that is selected at the start is not known here.
 */
function withExampleApp(env: Env, world: WorldOverrides | undefined): Env {
  if (world === undefined || env.APP_URL !== undefined || env.PORT === 0) return env;
  return { ...env, APP_URL: `http://127.0.0.1:${env.PORT}/app/#` };
}

/** The nodes of each chain with a configured one. */
export function rpcUrlsOf(env: Env): Config['rpcUrls'] {
  return new Map(
    RPC_SETTINGS.flatMap((name) => {
      const urls = env[name];
      return urls === undefined ? [] : [[chainOfSetting(name), urls] as const];
    }),
  );
}

/**
 * Read the file of CATALOG_OVERLAY.
 * @throws ConfigError when it cannot be read, or is not JSON
 */
export function readOverlay(path: string | undefined): unknown {
  if (path === undefined) return [];
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new ConfigError(
      `CATALOG_OVERLAY: "${path}" ${why}. Correct the file or its path, or leave the setting out.`,
      {
        cause,
      },
    );
  }
}
