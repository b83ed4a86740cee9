import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 networks that are not public: own, private, shared, link-local, documentation, benchmarks, multicast, reserved. */
const CLOSED_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // A platform service of a cloud on a public address.
  ['168.63.129.16', 32],
] as const;

/** The only IPv6 network of public unicast addresses: the mapped, translated (NAT64), local and multicast ones lie outside. */
const PUBLIC_V6 = ['2000::', 3] as const;
/** Networks inside it that carry another address, or are not public: Teredo and other protocols, documentation, 6to4. */
const CLOSED_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const closed = new BlockList();
for (const [network, prefix] of CLOSED_V4) closed.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of CLOSED_V6) closed.addSubnet(network, prefix, 'ipv6');
const publicV6 = new BlockList();
publicV6.addSubnet(...PUBLIC_V6, 'ipv6');

/** Whether an address is on the public internet. Anything that is not plainly an address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, 'ipv4');
  // An address with a zone is local to a link.
  if (!isIPv6(address) || address.includes('%')) return false;
  return publicV6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}
