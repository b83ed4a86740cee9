import type { Abi, AbiFunction, AbiParameter, ContractFunctionName, DecodeFunctionDataReturnType } from 'viem';
import { keccak256 } from '../hash/keccak.ts';
import { VerificationError } from './errors.ts';

/* viem decodes every encoding that a contract would accept. Here only that of `encodeFunctionData` passes. */

/** Hexadecimal digits of a word. */
const WORD = 64;

interface Cursor {
  readonly hex: string;
  readonly callIndex: number;
  /** Called with the place of each `bytes` and each list, in digits from the start of the arguments. */
  readonly onPlace: (path: string, from: number, to: number) => void;
}

/** Where each `bytes` and each list lies in the calldata, by its path, in bytes. */
export type Places = Readonly<Record<string, { readonly from: number; readonly to: number }>>;

/** The functions of an ABI that may be called, by selector. */
export type Methods<A extends Abi, N extends string> = ReadonlyMap<string, AbiFunction> & {
  readonly _of?: readonly [A, N];
};

/** Choose the functions of a contract that are understood. */
export function methodsOf<const A extends Abi, const N extends ContractFunctionName<A>>(
  abi: A,
  names: readonly N[],
): Methods<A, N> {
  const functions = (abi as Abi).filter(
    (item): item is AbiFunction => item.type === 'function' && (names as readonly string[]).includes(item.name),
  );
  return new Map(functions.map((item) => [selectorOf(item), item]));
}

/** The selector of each function of an ABI, by its name. */
export function selectorsOf(abi: Abi): ReadonlyMap<string, string> {
  return new Map(abi.flatMap((item) => (item.type === 'function' ? [[item.name, selectorOf(item)]] : [])));
}

function selectorOf({ name, inputs }: AbiFunction): string {
  return keccak256(`${name}(${inputs.map(typeOf).join(',')})`).slice(0, 10);
}

function typeOf(parameter: AbiParameter): string {
  const { type } = parameter;
  return type.startsWith('tuple')
    ? `(${componentsOf(parameter).map(typeOf).join(',')})${type.slice('tuple'.length)}`
    : type;
}

/** A call whose bytes are the only encoding of its arguments. */
export type ExactCall<A extends Abi, N extends string> = Extract<
  DecodeFunctionDataReturnType<A>,
  { functionName: N }
> & { readonly places: Places };

/**
 * Decode calldata of one of the given functions. Addresses are in lower case.
 * @throws VerificationError for another selector and for every encoding but the canonical one: trailing bytes, offsets that
 * are not those of the encoder, bits beyond a value's type, padding that is not zero
 */
export function decodeExactly<A extends Abi, N extends string>(
  methods: Methods<A, N>,
  data: string,
  callIndex: number,
): ExactCall<A, N> {
  const method = methods.get(data.slice(0, 10));
  if (!method) {
    const known = [...methods.values()].map(({ name }) => name).join(', ');
    const message = `its selector ${data.slice(0, 10)} is none of those that are expected here: ${known}.`;
    throw new VerificationError('method', message, callIndex);
  }
  const places: Record<string, { from: number; to: number }> = {};
  const hex = data.slice(10);
  const cursor: Cursor = {
    hex,
    callIndex,
    onPlace(path, from, to) {
      places[path] = { from: 4 + from / 2, to: 4 + to / 2 };
    },
  };
  const { values, size } = decodeMembers(cursor, method.inputs, 0, '');
  if (size !== hex.length) throw malformed(cursor, `${(hex.length - size) / 2} bytes follow its arguments`);
  return { functionName: method.name, args: values, places } as unknown as ExactCall<A, N>;
}

function decodeMembers(cursor: Cursor, members: readonly AbiParameter[], start: number, path: string) {
  const values: unknown[] = [];
  let head = start;
  let tail = start + members.reduce((sum, member) => sum + headSize(member), 0);
  for (const [i, member] of members.entries()) {
    const at = `${path}${member.name ?? i}`;
    if (isDynamic(member)) {
      // The canonical place of each tail is right behind the one before it.
      if (Number(wordAt(cursor, head)) !== (tail - start) / 2)
        throw malformed(cursor, `the offset of ${at} is another`);
      const { value, size } = decodeDynamic(cursor, member, tail, at);
      values.push(value);
      tail += size;
      head += WORD;
    } else {
      values.push(decodeStatic(cursor, member, head, at));
      head += headSize(member);
    }
  }
  return { values, size: tail - start };
}

function decodeDynamic(cursor: Cursor, member: AbiParameter, start: number, path: string) {
  const { type } = member;
  if (type === 'bytes') {
    const length = lengthAt(cursor, start, path);
    const from = start + WORD;
    const to = from + length * 2;
    const end = from + Math.ceil(length / 32) * WORD;
    if (end > cursor.hex.length) throw malformed(cursor, `${path} ends before its length`);
    if (/[^0]/.test(cursor.hex.slice(to, end))) throw malformed(cursor, `the padding of ${path} is not zero`);
    // A length that takes in zeros of the padding, or leaves out zeros of its end, is as canonical.
    cursor.onPlace(path, start, to);
    return { value: `0x${cursor.hex.slice(from, to)}`, size: end - start };
  }
  if (type.endsWith('[]')) {
    const length = lengthAt(cursor, start, path);
    if (length * WORD > cursor.hex.length) throw malformed(cursor, `${path} ends before its length`);
    const item = { ...member, type: type.slice(0, -2) } as AbiParameter;
    const items = Array.from({ length }, (_, i) => ({ ...item, name: String(i) }));
    const { values, size } = decodeMembers(cursor, items, start + WORD, `${path}.`);
    cursor.onPlace(path, start, start + WORD + size);
    return { value: values, size: WORD + size };
  }
  const { values, size } = decodeMembers(cursor, componentsOf(member), start, `${path}.`);
  return { value: named(member, values), size };
}

function decodeStatic(cursor: Cursor, member: AbiParameter, start: number, path: string): unknown {
  const { type } = member;
  if (type === 'tuple') return named(member, decodeMembers(cursor, componentsOf(member), start, `${path}.`).values);
  const word = wordTextAt(cursor, start);
  if (type === 'bytes32') return `0x${word}`;
  if (type === 'address') {
    if (!word.startsWith('000000000000000000000000')) throw malformed(cursor, `${path} has bits beyond an address`);
    return `0x${word.slice(24)}`;
  }
  const value = BigInt(`0x${word}`);
  if (type === 'bool') {
    if (value > 1n) throw malformed(cursor, `${path} is neither true nor false`);
    return value === 1n;
  }
  const bits = Number(type.slice('uint'.length));
  if (value >> BigInt(bits) !== 0n) throw malformed(cursor, `${path} has bits beyond ${type}`);
  return value;
}

/** Of the part of a value at its own place: an offset, or the value itself. */
function headSize(member: AbiParameter): number {
  if (isDynamic(member) || member.type !== 'tuple') return WORD;
  return componentsOf(member).reduce((sum, component) => sum + headSize(component), 0);
}

const dynamic = new WeakMap<AbiParameter, boolean>();

function isDynamic(member: AbiParameter): boolean {
  const known = dynamic.get(member);
  if (known !== undefined) return known;
  const { type } = member;
  const found = type === 'bytes' || type.endsWith('[]') || (type === 'tuple' && componentsOf(member).some(isDynamic));
  dynamic.set(member, found);
  return found;
}

function componentsOf(member: AbiParameter): readonly AbiParameter[] {
  return 'components' in member ? member.components : [];
}

function named(member: AbiParameter, values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(componentsOf(member).map(({ name }, i) => [name, values[i]]));
}

function wordTextAt({ hex, callIndex }: Cursor, start: number): string {
  const word = hex.slice(start, start + WORD);
  if (word.length === WORD) return word;
  throw new VerificationError('encoding', 'its arguments end too early.', callIndex);
}

const wordAt = (cursor: Cursor, start: number): bigint => BigInt(`0x${wordTextAt(cursor, start)}`);

function lengthAt(cursor: Cursor, start: number, path: string): number {
  const length = wordAt(cursor, start);
  if (length * 2n > BigInt(cursor.hex.length)) throw malformed(cursor, `${path} ends before its length`);
  return Number(length);
}

function malformed({ callIndex }: Cursor, what: string): VerificationError {
  const message = `it is not encoded as an ABI encoder does: ${what}. A contract may read it differently than it looks.`;
  return new VerificationError('encoding', message, callIndex);
}
