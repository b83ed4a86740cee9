import { isSecretSetting } from '../../config/explain.ts';

type RawEnv = Readonly<Record<string, string | undefined>>;

/** Parts of a path that are this long are a key, as nodes have it, rather than a word. */
const KEY_LENGTH = 12;

/**
 * Everything in the settings that must not be shown or kept: keys and peppers as they are; of addresses the password, what
 * the query says, and parts of the path that look like keys. Hosts, ports and names of databases are no secrets.
 */
export function secretsIn(raw: RawEnv): readonly string[] {
  return Object.entries(raw).flatMap(([name, value]) => {
    if (value === undefined || value === '' || !isSecretSetting(name)) return [];
    return value.includes('://') ? value.split(',').flatMap((address) => secretsOfUrl(address.trim())) : [value];
  });
}

function secretsOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [text];
  const { protocol, username, password, pathname, searchParams } = new URL(text);
  // A role of Postgres or Redis is no secret; what stands there in the address of a node may be its key.
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
