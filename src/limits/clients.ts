import type { Caller } from '../resolvers/common/caller.ts';
import { type Tier, tierOf } from './tier-limits.ts';

/** A client as limits count it. */
export interface CountedClient {
  readonly tier: Tier;
  /** Its key, its IPv4 address, or its IPv6 network of 64 bits, because a client usually has a whole one. */
  readonly identity: string;
  /** IPv6 network of 56 bits, which providers delegate to one customer, and whose clients count together too. */
  readonly network?: string | undefined;
}

/** Clients of one network of 56 bits that get what a client gets; further ones share it. */
export const NETWORK_CLIENTS = 4;

/** The client of a request, by its key if it has one. */
export function countedClient({
  caller,
  clientIp,
}: {
  readonly caller: Caller;
  readonly clientIp: string;
}): CountedClient {
  return caller.kind === 'key' ? { tier: tierOf(caller), identity: caller.keyId } : countedAddress(clientIp);
}

/** The client of an address without a key. */
export function countedAddress(address: string): CountedClient {
  if (!address.includes(':')) return { tier: 'anonymous', identity: address };
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return { tier: 'anonymous', identity: mapped[1] };
  const [a = '0', b = '0', c = '0', d = '0'] = groupsOf(address);
  // The last two digits of the fourth group are the 8 bits between both networks.
  const wide = d.length > 2 ? `${d.slice(0, -2)}00` : '0';
  return { tier: 'anonymous', identity: `${a}:${b}:${c}:${d}::/64`, network: `${a}:${b}:${c}:${wide}::/56` };
}

/** The first half of an IPv6 address in groups without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right].slice(0, 4);
  return groups.map((group) => group.replace(/^0+(?=.)/, ''));
}
