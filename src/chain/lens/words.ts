import { getAbiItem, toFunctionSelector } from 'viem';
import { multicall3Abi } from '../../abi/multicall3.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { Call } from '../types.ts';

/*
 * The ABI of a multicall, word by word. A general encoder looks at the types of every argument of every call again, which
 * for thousands of calls keeps everything else waiting.
 */

const WORD_CHARS = 64;

/** Write an unsigned number as one word. */
function wordOf(value: bigint | number): string {
  return value.toString(16).padStart(WORD_CHARS, '0');
}

/** Write an address as one word. */
function wordOfAddress(address: Address): string {
  return address.slice(2).toLowerCase().padStart(WORD_CHARS, '0');
}

function wordTextAt(data: string, at: number): string {
  const text = data.slice(at, at + WORD_CHARS);
  if (text.length !== WORD_CHARS) throw new RangeError('the data ends within a word');
  return text;
}

const AGGREGATE3 = toFunctionSelector(getAbiItem({ abi: multicall3Abi, name: 'aggregate3' }));
const OFFSET_OF_DATA = wordOf(3 * 32);
const ALLOW_FAILURE = wordOf(1);

/** Write the call of `aggregate3` in which every call may fail alone. */
export function encodeAggregate(calls: readonly Call[]): Hex {
  const offsets: string[] = [];
  const bodies: string[] = [];
  let offset = calls.length * 32;
  for (const { to, data } of calls) {
    const chars = data.length - 2;
    const padded = Math.ceil(chars / WORD_CHARS) * WORD_CHARS;
    offsets.push(wordOf(offset));
    bodies.push(
      wordOfAddress(to) + ALLOW_FAILURE + OFFSET_OF_DATA + wordOf(chars / 2) + data.slice(2).padEnd(padded, '0'),
    );
    offset += 4 * 32 + padded / 2;
  }
  return `${AGGREGATE3}${wordOf(32)}${wordOf(calls.length)}${offsets.join('')}${bodies.join('')}` as Hex;
}

/** Read what `aggregate3` returned; `null` = that call reverted. @throws RangeError for anything that it cannot have written */
export function decodeAggregate(data: Hex): readonly (Hex | null)[] {
  const list = 2 + 2 * numberAt(data, 2);
  const count = numberAt(data, list);
  const start = list + WORD_CHARS;
  if (count * WORD_CHARS > data.length - start) throw new RangeError('the list is longer than the data');
  return Array.from({ length: count }, (_, i) => {
    const row = start + 2 * numberAt(data, start + i * WORD_CHARS);
    const success = numberAt(data, row);
    if (success > 1) throw new RangeError('neither true nor false');
    const bytes = row + 2 * numberAt(data, row + WORD_CHARS);
    const chars = 2 * numberAt(data, bytes);
    const from = bytes + WORD_CHARS;
    if (from + chars > data.length) throw new RangeError('the bytes are longer than the data');
    return success === 1 ? (`0x${data.slice(from, from + chars)}` as Hex) : null;
  });
}

/** Read an offset, a length or a flag. */
function numberAt(data: string, at: number): number {
  const value = Number(`0x${wordTextAt(data, at)}`);
  if (!(value <= data.length)) throw new RangeError('points behind the data');
  return value;
}
