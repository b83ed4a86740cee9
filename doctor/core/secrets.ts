import { isSecretSetting } from '../../src/config/explain.ts';
import { parseRedisUrl } from '../../src/config/redis-address.ts';

type RawEnv = Readonly<Record<string, string | undefined>>;

/** Path segments of at least this length are taken for keys, as in URLs of nodes. */
const KEY_LENGTH = 12;

/**
 * List the secrets in the settings: keys and peppers; of URLs the password, the values of the query, and path segments that
 * look like keys. Hosts, ports and names of databases are not secret.
 */
export function secretsIn(raw: RawEnv): readonly string[] {
  return Object.entries(raw).flatMap(([name, value]) => {
    if (value === undefined || value === '' || !isSecretSetting(name)) return [];
    if (name === 'REDIS_URL') return secretsOfRedis(value);
    return value.includes('://') ? value.split(',').flatMap((address) => secretsOfUrl(address.trim())) : [value];
  });
}

/** A URL of sentinels or of a cluster has several hosts, which other URLs have not. */
function secretsOfRedis(text: string): readonly string[] {
  try {
    const { password, sentinelPassword } = parseRedisUrl(text);
    return [password, sentinelPassword].flatMap((one) => (one === undefined ? [] : [one, encodeURIComponent(one)]));
  } catch {
    return secretsOfUrl(text);
  }
}

function secretsOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [text];
  const { protocol, username, password, pathname, searchParams } = new URL(text);
  // A user name of Postgres or Redis is not secret; in the URL of a node it may be the key.
  const user = protocol.startsWith('http') ? [username] : [];
  const segments = /^https?:$/.test(protocol) ? pathname.split('/').filter((part) => part.length >= KEY_LENGTH) : [];
  return [...user, password, ...searchParams.values(), ...segments].flatMap((part) => {
    const plain = decoded(part);
    return part === plain ? [part] : [part, plain];
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
