import { type Address, getAddress, type Hex } from 'viem';

/*
 * Words of 32 bytes in hex text. The decoder of viem turns an answer into bytes and reads them with a cursor, which takes several
 * times as long and leaves several times the garbage; these functions are for the calls that are made by the thousand.
 */

/** Hex digits of a word. */
export const WORD_DIGITS = 64;
/** Where the digits begin, after `0x`. */
const FIRST = 2;

/**
 * Read a word as an unsigned integer, by its index from 0.
 * @throws SyntaxError when the text has no such word
 */
export function uintAt(data: Hex, index: number): bigint {
  const from = FIRST + index * WORD_DIGITS;
  return BigInt(`0x${data.slice(from, from + WORD_DIGITS)}`);
}

/**
 * Read a word as an address, checksummed.
 * @throws an error of viem when the text has no such word
 */
export function addressAt(data: Hex, index: number): Address {
  const end = FIRST + (index + 1) * WORD_DIGITS;
  return getAddress(`0x${data.slice(end - 40, end)}`);
}
