import { type AbiEvent, decodeEventLog, getAddress, toEventSelector } from 'viem';
import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi, morphoCreationAbi, morphoLiquidationAbi } from '../../abi/morpho-blue.ts';
import type { RecordedLog } from '../../domain/history/types.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { ChainReadError } from '../rpc/errors.ts';
import type { LogSources } from './filters.ts';
import type { NodeLog } from './schema.ts';

const MORPHO_ABI = [...morphoBlueAbi, ...morphoLiquidationAbi, ...morphoCreationAbi] as const;

const [morphoEvent, productEvent, tokenEvent] = [eventsOf(MORPHO_ABI), eventsOf(flashLeverageAbi), eventsOf(erc20Abi)];

type Content = Omit<RecordedLog, 'blockNumber' | 'blockHash' | 'atMs' | 'txHash' | 'logIndex'>;

const NOTHING: Omit<Content, 'event'> = {
  marketId: null,
  account: null,
  wallet: null,
  positionIndex: null,
  token: null,
  sender: null,
  receiver: null,
  assets: 0n,
  shares: 0n,
  collateral: 0n,
  badDebt: 0n,
  badDebtShares: 0n,
};

/** Wallets have far fewer positions, and the database stores 31 bits. */
const MAX_INDEX = 2n ** 31n - 1n;

/**
 * Decode a checked log by the contract that it is of; `null` = an index of a position that no wallet can have, or a transfer of
 * 0 tokens, which pays nothing and which anybody can make in the name of any account.
 * @throws ChainReadError `malformed` when its data is not that of its event
 */
export function decodeLog(log: NodeLog, atMs: number, sources: LogSources): RecordedLog | null {
  const content = contentOf(log, sources);
  if (content === null) return null;
  const { blockNumber, blockHash, txHash, logIndex } = log;
  return { blockNumber, blockHash, atMs, txHash, logIndex, ...content };
}

function contentOf(log: NodeLog, { morphoBlue, flashLeverage }: LogSources): Content | null {
  if (log.address === morphoBlue.toLowerCase()) return morphoContent(log);
  if (log.address === flashLeverage.toLowerCase()) return productContent(log);
  const { args } = decoded(() => decodeEventLog({ abi: tokenEvent(log), ...raw(log) }));
  const { from, to, value } = args;
  if (value === 0n) return null;
  return { ...NOTHING, event: 'Transfer', token: getAddress(log.address), sender: from, receiver: to, assets: value };
}

function morphoContent(log: NodeLog): Content {
  const { eventName, args } = decoded(() => decodeEventLog({ abi: morphoEvent(log), ...raw(log) }));
  const marketId = args.id.toLowerCase() as MarketId;
  if (eventName === 'Liquidate') {
    return {
      ...NOTHING,
      event: eventName,
      marketId,
      account: args.borrower,
      assets: args.repaidAssets,
      shares: args.repaidShares,
      collateral: args.seizedAssets,
      badDebt: args.badDebtAssets,
      badDebtShares: args.badDebtShares,
    };
  }
  if (eventName === 'CreateMarket') return { ...NOTHING, event: eventName, marketId };
  const of = { ...NOTHING, event: eventName, marketId, account: args.onBehalf };
  if (eventName === 'SupplyCollateral') return { ...of, collateral: args.assets, sender: args.caller };
  if (eventName === 'WithdrawCollateral') return { ...of, collateral: args.assets, receiver: args.receiver };
  if (eventName === 'Borrow') return { ...of, assets: args.assets, shares: args.shares, receiver: args.receiver };
  return { ...of, assets: args.assets, shares: args.shares, sender: args.caller };
}

function productContent(log: NodeLog): Content | null {
  const { eventName, args } = decoded(() => decodeEventLog({ abi: productEvent(log), ...raw(log) }));
  if (!('positionId' in args) || args.positionId > MAX_INDEX) return null;
  const of = (event: Content['event'], amounts: Partial<Content>): Content => ({
    ...NOTHING,
    event,
    wallet: args.user as Address,
    positionIndex: Number(args.positionId),
    ...amounts,
  });
  switch (eventName) {
    case 'LeveragePositionOpened':
      return of(eventName, { assets: args.amountDepositedInLoanToken, collateral: args.amountCollateral });
    case 'LeveragePositionClosed':
      return of(eventName, { assets: args.amountReturnedInLoanToken });
    case 'CollateralSupplied':
      return of(eventName, { assets: args.amountSuppliedInLoanToken });
    case 'CollateralWithdrawn':
      return of(eventName, { collateral: args.amountWithdrawn });
    case 'LoanRepaid':
      return of(eventName, { assets: args.amountRepaid });
    case 'AdditionalBorrowed':
      return of(eventName, { assets: args.amountBorrowed });
    default:
      return null;
  }
}

/** Find the event of a log in an ABI. The decoder would hash the signature of every event before it. */
function eventsOf<const A extends readonly unknown[]>(abi: A): (log: NodeLog) => A {
  const events = (abi as readonly { readonly type?: string }[]).filter(({ type }) => type === 'event') as AbiEvent[];
  const known = new Map(events.map((event) => [toEventSelector(event), [event]] as const));
  return ({ topics: [topic] }) => (topic === undefined ? [] : (known.get(topic) ?? [])) as unknown as A;
}

function raw({ topics, data }: NodeLog) {
  return { topics: topics as [NodeLog['topics'][number], ...NodeLog['topics']], data, strict: true } as const;
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch {
    throw new ChainReadError('malformed');
  }
}
