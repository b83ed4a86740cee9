import { keccak256 } from './keccak.ts';

/** A proof names the same few addresses again and again, and a hash takes a quarter of a millisecond. */
const known = new Map<string, `0x${string}`>();
const MOST_KNOWN = 1_000;

/** The address in the spelling of EIP-55. */
export function checksummed(address: string): `0x${string}` {
  const found = known.get(address);
  if (found !== undefined) return found;
  const digits = address.slice(2).toLowerCase();
  const hash = keccak256(digits).slice(2);
  const text = [...digits].map((digit, i) => (Number.parseInt(hash[i] ?? '0', 16) > 7 ? digit.toUpperCase() : digit));
  if (known.size >= MOST_KNOWN) known.clear();
  const written = `0x${text.join('')}` as const;
  known.set(address, written);
  return written;
}
