import { BadRequestError } from '../../shared/errors.ts';
import {
  type Address,
  type ChainId,
  decodeGlobalId,
  invalidGlobalId,
  type MarketId,
  parseAddress,
  parseMarketId,
  parseStrategyId,
  type StrategyId,
} from '../../shared/ids.ts';

/** The parts that keys of nodes consist of, read from their text. Each throws when it does not fit. */
const PARTS = {
  chainId: (text: string, field: string): ChainId => wholeNumber(text, field),
  index: (text: string, field: string): number => wholeNumber(text, field),
  address: (text: string, field: string): Address => parseAddress(text, field),
  marketId: (text: string, field: string): MarketId => parseMarketId(text, field),
  strategyId: (text: string, field: string): StrategyId => parseStrategyId(text, field),
  word: (text: string): string => text,
};
export type KeyPart = keyof typeof PARTS;
export type NodeKey<Names extends readonly KeyPart[]> = {
  readonly [I in keyof Names]: ReturnType<(typeof PARTS)[Names[I]]>;
};

/** The identity of a position: its chain, its wallet, and its index among those of the wallet. */
export const POSITION_KEY = ['chainId', 'address', 'index'] as const;

/** Read the key of a node from that of its global id `id`. @throws BadRequestError naming `field` and the id */
export function parseNodeKey<const Names extends readonly KeyPart[]>(
  names: Names,
  key: string,
  { id, field }: { readonly id: string; readonly field: string },
): NodeKey<Names> {
  const parts = key.split(':');
  if (parts.length !== names.length) throw invalidGlobalId(id, field);
  try {
    return names.map((name, i) => PARTS[name](parts[i] ?? '', field)) as unknown as NodeKey<Names>;
  } catch {
    // The parts are nothing that the caller has sent.
    throw invalidGlobalId(id, field);
  }
}

/** Read the global id of a position. @throws BadRequestError naming `field`, also for the id of another type */
export function parsePositionId(id: string, field: string): NodeKey<typeof POSITION_KEY> {
  const { typename, key } = decodeGlobalId(id, field);
  if (typename !== 'Position') throw otherType(typename, field);
  const parts = parseNodeKey(POSITION_KEY, key, { id, field });
  // Another spelling of the key is refused as in `node`.
  if (parts.join(':') !== key) throw invalidGlobalId(id, field);
  return parts;
}

function otherType(typename: string, field: string): BadRequestError {
  return new BadRequestError(`${field} is the id of a ${typename}. Send the \`id\` of a Position.`, {
    field,
    value: typename,
    limit: { oneOf: ['Position'] },
  });
}

function wholeNumber(text: string, field: string): number {
  if (/^(0|[1-9]\d{0,8})$/.test(text)) return Number(text);
  throw invalidGlobalId(text, field);
}
