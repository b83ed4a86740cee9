import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import type { Env } from './env.ts';
import { parseRedisUrl, type RedisSettings } from './redis-address.ts';

const FILES = { ca: 'REDIS_CA_FILE', cert: 'REDIS_CERT_FILE', key: 'REDIS_KEY_FILE' } as const;

/**
 * The settings of Redis; `undefined` without REDIS_URL.
 * @throws ConfigError when a file cannot be read, or does not fit the URL
 */
export function redisSettingsOf(env: Env): RedisSettings | undefined {
  if (env.REDIS_URL === undefined) return undefined;
  const address = parseRedisUrl(env.REDIS_URL);
  const [given] = Object.values(FILES).filter((name) => env[name] !== undefined);
  if (given !== undefined && !address.isTls) {
    throw new ConfigError(
      `${given} is set, and REDIS_URL does not use TLS. Write rediss instead of redis in REDIS_URL, or leave ${given} out.`,
    );
  }
  if ((env.REDIS_CERT_FILE === undefined) !== (env.REDIS_KEY_FILE === undefined)) {
    throw new ConfigError('REDIS_CERT_FILE and REDIS_KEY_FILE belong together: set both, or none.');
  }
  const tls = { ca: textOf(env, FILES.ca), cert: textOf(env, FILES.cert), key: textOf(env, FILES.key) };
  return { address, prefix: env.REDIS_KEY_PREFIX, tls };
}

function textOf(env: Env, name: (typeof FILES)[keyof typeof FILES]): string | undefined {
  const path = env[name];
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${name}: "${path}" cannot be read. Correct the path, or leave the setting out.`, { cause });
  }
}
