import { getAddress } from 'viem';
import { erc20Abi } from '../../abi/erc20.ts';
import { eventDecoder } from '../../abi/events.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi, morphoCreationAbi, morphoLiquidationAbi } from '../../abi/morpho-blue.ts';
import type { RecordedLog } from '../../domain/history/types.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { ChainReadError } from '../rpc/errors.ts';
import type { LogSources } from './filters.ts';
import type { NodeLog } from './schema.ts';

const morphoEvent = eventDecoder([...morphoBlueAbi, ...morphoLiquidationAbi, ...morphoCreationAbi]);
const productEvent = eventDecoder(flashLeverageAbi);
const tokenEvent = eventDecoder(erc20Abi);

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
  const { from, to, value } = decoded(tokenEvent, log).args;
  if (value === 0n) return null;
  return { ...NOTHING, event: 'Transfer', token: getAddress(log.address), sender: from, receiver: to, assets: value };
}

function morphoContent(log: NodeLog): Content {
  const { eventName, args } = decoded(morphoEvent, log);
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
  const { eventName, args } = decoded(productEvent, log);
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

function decoded<T>(decode: (log: NodeLog) => T | undefined, log: NodeLog): T {
  const event = decode(log);
  if (event === undefined) throw new ChainReadError('malformed');
  return event;
}
