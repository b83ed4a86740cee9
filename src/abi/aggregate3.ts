import { type Address, type Hex, toFunctionSelector } from 'viem';
import { multicall3Abi } from './multicall3.ts';
import { WORD_DIGITS } from './words.ts';

const WORD = 32;
const SELECTOR = toFunctionSelector(multicall3Abi[0]);
const wordOf = (value: number): string => value.toString(16).padStart(WORD_DIGITS, '0');
/** `allowFailure`, and the place of the calldata behind three words. */
const MAY_FAIL = `${wordOf(1)}${wordOf(3 * WORD)}`;
const HEX = /^0x[0-9a-f]*$/;

/** Encode a call of `aggregate3` in which every call may fail alone. The text is that of viem, in a tenth of its time. */
export function encodeAggregate3(calls: readonly { readonly to: Address; readonly data: Hex }[]): Hex {
  const places: string[] = [];
  const rows: string[] = [];
  let place = calls.length * WORD;
  for (const { to, data } of calls) {
    const digits = data.length - 2;
    const words = Math.ceil(digits / WORD_DIGITS);
    places.push(wordOf(place));
    rows.push(
      to.slice(2).toLowerCase().padStart(WORD_DIGITS, '0'),
      MAY_FAIL,
      wordOf(digits / 2),
      data.slice(2).padEnd(words * WORD_DIGITS, '0'),
    );
    place += (4 + words) * WORD;
  }
  return `${SELECTOR}${wordOf(WORD)}${wordOf(calls.length)}${places.join('')}${rows.join('')}`;
}

/** Result of one call. */
export interface Returned {
  readonly success: boolean;
  readonly returnData: Hex;
}

/**
 * Decode the answer to `aggregate3` with so many calls.
 * @throws RangeError when it is not such an answer
 */
export function decodeAggregate3(answer: Hex, calls: number): readonly Returned[] {
  const text = answer.toLowerCase();
  if (!HEX.test(text)) throw new RangeError('The answer is not hex.');
  const digitsAt = (byte: number, bytes: number): string => {
    const from = 2 + byte * 2;
    if (from + bytes * 2 > text.length) throw new RangeError('The answer ends within a value.');
    return text.slice(from, from + bytes * 2);
  };
  /** A place, a length or a flag. What does not fit into the text is refused by the next reading. */
  const numberAt = (byte: number): number => Number.parseInt(digitsAt(byte, WORD), 16);
  const list = numberAt(0);
  if (numberAt(list) !== calls) throw new RangeError('The answer has another number of results.');
  const first = list + WORD;
  return Array.from({ length: calls }, (_, i) => {
    const row = first + numberAt(first + i * WORD);
    const success = numberAt(row);
    if (success > 1) throw new RangeError('A result is neither a success nor a failure.');
    const bytes = row + numberAt(row + WORD);
    return { success: success === 1, returnData: `0x${digitsAt(bytes + WORD, numberAt(bytes))}` };
  });
}
