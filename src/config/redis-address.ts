import type { RedisMode } from '../shared/contract/redis-status.ts';

/** A host and port of a Redis server or sentinel. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is, from its URL. */
export interface RedisAddress {
  readonly mode: RedisMode;
  readonly isTls: boolean;
  /** The server; the sentinels; or some nodes of the cluster. At least one. */
  readonly nodes: readonly RedisNode[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Number of the database; 0 in a cluster. */
  readonly db: number;
  /** IP family of host names; 0 = any. */
  readonly family?: 0 | 4 | 6 | undefined;
  /** Of sentinels: the name of the primary, and their own user. */
  readonly primaryName?: string | undefined;
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
}

/** Address, files and prefix: everything that a connection needs. */
export interface RedisSettings {
  readonly address: RedisAddress;
  /** Every key and channel begins with it and a colon. */
  readonly prefix: string;
  /** PEM texts: certificates to trust instead of the public ones; a certificate of our own with its key. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined;
}

const PORTS: Readonly<Record<RedisMode, number>> = { single: 6379, sentinel: 26_379, cluster: 6379 };
const FORM = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const SENTINEL_PARAMETERS = ['sentinelUsername', 'sentinelPassword'] as const;

/** A URL that names no Redis. The message states the expected form, without the URL, which may hold a password. */
export class RedisAddressError extends Error {
  override readonly name = 'RedisAddressError';
}

/**
 * Parse the URL of a Redis:
 * - `redis://[user:password@]host[:port][/db]`
 * - `redis+sentinel://[user:password@]sentinel[:port],sentinel[:port]/primary[/db]`, with `?sentinelPassword=` and
 *   `sentinelUsername` if the sentinels have a user of their own
 * - `redis+cluster://[user:password@]host[:port],host[:port]`
 *
 * `rediss` instead of `redis` uses TLS, also to the sentinels. `?family=6` or `?family=0` for IPv6.
 * @throws RedisAddressError
 */
export function parseRedisUrl(text: string): RedisAddress {
  const found = FORM.exec(text.trim());
  if (found === null) {
    throw new RedisAddressError('redis://, redis+sentinel:// or redis+cluster:// (rediss with TLS) and a host');
  }
  const [, scheme = '', kind, credentials, hosts = '', path = '', query = ''] = found;
  const mode = (kind?.toLowerCase() ?? 'single') as RedisMode;
  const nodes = hosts.split(',').map((host) => nodeOf(host.trim(), PORTS[mode]));
  if (mode === 'single' && nodes.length > 1) {
    throw new RedisAddressError('redis+sentinel:// or redis+cluster:// for several hosts');
  }
  const parts = path.split('/').filter((part) => part !== '');
  const primaryName = mode === 'sentinel' ? plain(parts.shift() ?? '') : undefined;
  if (primaryName === '')
    throw new RedisAddressError('sentinels and the name of the primary, as in redis+sentinel://host/mymaster');
  if (parts.length > 1) throw new RedisAddressError('at most the number of a database at the end');
  const db = dbOf(parts[0]);
  if (mode === 'cluster' && db !== 0) throw new RedisAddressError('database 0 in a cluster');
  return {
    mode,
    isTls: scheme.toLowerCase() === 'rediss',
    nodes,
    db,
    primaryName,
    ...credentialsOf(credentials),
    ...parametersOf(query, mode),
  };
}

function nodeOf(text: string, defaultPort: number): RedisNode {
  const [, bracketed, host = bracketed, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? [];
  if (host === undefined) throw new RedisAddressError('hosts in the form host:port');
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) throw new RedisAddressError('ports from 1 to 65535');
  return { host, port: number };
}

function dbOf(text = '0'): number {
  if (!/^\d{1,5}$/.test(text)) throw new RedisAddressError('a URL that ends with the host or the number of a database');
  return Number(text);
}

function credentialsOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined || text === '') return {};
  const colon = text.indexOf(':');
  const [username, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return { username: plain(username) || undefined, password: plain(password) || undefined };
}

function parametersOf(query: string, mode: RedisMode): Partial<RedisAddress> {
  const known: readonly string[] = mode === 'sentinel' ? ['family', ...SENTINEL_PARAMETERS] : ['family'];
  const given = new URLSearchParams(query);
  for (const name of given.keys()) {
    if (!known.includes(name)) throw new RedisAddressError(`only ${known.join(', ')} after ?`);
  }
  const family = given.get('family');
  if (family !== null && !/^[046]$/.test(family)) throw new RedisAddressError('a family of 0, 4 or 6');
  return {
    family: family === null ? undefined : (Number(family) as 0 | 4 | 6),
    sentinelUsername: given.get('sentinelUsername') ?? undefined,
    sentinelPassword: given.get('sentinelPassword') ?? undefined,
  };
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisAddressError('user, password and name with % written as %25');
  }
}
