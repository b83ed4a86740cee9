import { BadRequestError } from '../../shared/errors.ts';
import {
  type Address,
  type ChainId,
  EQUITY_PREFIX,
  formatValue,
  globalIdOf,
  invalidGlobalId,
  type MarketId,
  type PositionName,
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

const DOMAIN_POSITION_ID = /^(?:([1-9]\d{0,8})-(?:(0x[0-9a-fA-F]{64})-)?)?(0|[1-9]\d{0,9})$/;

/** Read the id of a strategy: its domain id or its global one. @throws BadRequestError naming `field`, also for the id of another type */
export function readStrategyId(id: string, field: string): StrategyId {
  const names = { types: ['LoopStrategy', 'EquityVaultStrategy'], domainId: 'strategyId' };
  const [, strategyId] = keyOfGlobalId(id, ['chainId', 'strategyId'], names, field) ?? [];
  if (strategyId === undefined) return parseStrategyId(id, field);
  const isVault = globalIdOf(id)?.typename === 'EquityVaultStrategy';
  if (strategyId.startsWith(EQUITY_PREFIX) !== isVault) throw invalidGlobalId(id, field);
  return strategyId;
}

/** Read the id of a market: its domain id or its global one. @throws as `readStrategyId` */
export function readMarketId(id: string, field: string): MarketId {
  const names = { types: ['Market'], domainId: 'marketId' };
  return keyOfGlobalId(id, ['chainId', 'marketId'], names, field)?.[1] ?? parseMarketId(id, field);
}

/** Read the address of a contract or wallet; a wallet may be named by its global id. @throws as `readStrategyId` */
export function readAddress(id: string, field: string): Address {
  const names = { types: ['Wallet'], domainId: 'address' };
  return keyOfGlobalId(id, ['word', 'address'], names, field)?.[1] ?? parseAddress(id, field);
}

/** Read the id of a position: its domain id, the end of that, or its global one. @throws as `readStrategyId` */
export function readPositionId(id: string, field: string): PositionName {
  const names = { types: ['Position'], domainId: 'positionId' };
  const key = keyOfGlobalId(id, POSITION_KEY, names, field);
  if (key) return { chainId: key[0], wallet: key[1], index: key[2], text: id };
  const [, chainId, marketId, index] = DOMAIN_POSITION_ID.exec(id) ?? [];
  if (index === undefined) {
    throw new BadRequestError(
      `"${formatValue(id)}" is not the id of a position. Send its positionId, {chainId}-{marketId}-{positionIndex}, or its global \`id\`.`,
      { field, value: formatValue(id), limit: { pattern: DOMAIN_POSITION_ID.source } },
    );
  }
  return {
    chainId: chainId === undefined ? undefined : Number(chainId),
    marketId: marketId === undefined ? undefined : parseMarketId(marketId, field),
    index: Number(index),
    text: id,
  };
}

/** Read the key of a global id of one of the types; `undefined` = the text is no global id. */
function keyOfGlobalId<const Names extends readonly KeyPart[]>(
  id: string,
  parts: Names,
  { types, domainId }: { readonly types: readonly string[]; readonly domainId: string },
  field: string,
): NodeKey<Names> | undefined {
  const decoded = globalIdOf(id);
  if (decoded === undefined) return undefined;
  const { typename, key } = decoded;
  if (!types.includes(typename)) {
    throw new BadRequestError(
      `"${formatValue(id)}" is the \`id\` of a ${typename}. Send the ${domainId} or the \`id\` of a ${types.join(' or ')}.`,
      { field, value: formatValue(id), limit: { oneOf: types } },
    );
  }
  const values = parseNodeKey(parts, key, { id, field });
  // Another spelling of the key is refused as in `node`.
  if (values.join(':') !== key) throw invalidGlobalId(id, field);
  return values;
}

function wholeNumber(text: string, field: string): number {
  if (/^(0|[1-9]\d{0,8})$/.test(text)) return Number(text);
  throw invalidGlobalId(text, field);
}
