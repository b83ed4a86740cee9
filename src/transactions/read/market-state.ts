import { MathLib, Market as SdkMarket } from '@morpho-org/blue-sdk';
import { erc20Abi } from '../../abi/erc20.ts';
import { irmAbi } from '../../abi/irm.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { oracleAbi } from '../../abi/oracle.ts';
import type { MarketParams } from '../../catalog/market-id.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { OracleFeed } from '../../domain/facts.ts';
import { priceAsOfMs } from '../../domain/market/price-age.ts';
import type { ReadAt } from '../../domain/position/types.ts';
import { datedFeeds, type FeedDates, planBuildFeedDates } from './price-feeds.ts';
import { type BlockOfReading, type ReadPlan, readOf, required } from './reads.ts';

/** The five parameters of a market as contracts take them. */
export function paramsOf(market: Market): MarketParams {
  const { loan, collateral, oracle, irm, lltv } = market;
  return { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
}

type MarketRow = readonly [bigint, bigint, bigint, bigint, bigint, bigint];
type MarketAnswers = readonly [
  MarketRow | undefined,
  bigint | undefined,
  bigint | undefined,
  bigint | undefined,
  FeedDates | undefined,
];

/**
 * Plan the state of a market now: its totals, its rate at target, its oracle's price, the loan tokens that the protocol holds
 * and the dates of the feeds behind the oracle. @param nowMs interest is accrued to then, or to the block where that is later
 */
export function planMarket(
  chain: Chain,
  market: Market,
  feeds?: readonly OracleFeed[],
  nowMs?: number,
): ReadPlan<LiveMarket> {
  const { morphoBlue } = chain.contracts;
  return {
    reads: [
      readOf(morphoBlue, morphoBlueAbi, 'market', [market.id]),
      readOf(market.irm, irmAbi, 'rateAtTarget', [market.id]),
      readOf(market.oracle, oracleAbi, 'price', []),
      readOf(market.loan.address, erc20Abi, 'balanceOf', [morphoBlue]),
      planBuildFeedDates(chain, feeds),
    ],
    fold: (answers, block) => foldMarket(market, answers as MarketAnswers, block, nowMs),
  };
}

export interface LiveMarket {
  /** The protocol SDK's market, accrued to now: to the clock's time, or the block's where that is ahead. */
  readonly sdk: SdkMarket;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly price: bigint;
  /** The amount that can be borrowed at once, loan base units. */
  readonly liquidity: bigint;
  /** Loan tokens that the protocol holds over all its markets, base units: flash loans are taken out of it. */
  readonly idle: bigint;
  /** The feeds behind the oracle with their dates at the block; empty = it needs none; absent = it does not name them. */
  readonly feeds?: readonly OracleFeed[] | undefined;
  /** The block of all of it; without a number where the node reports none. */
  readonly readAt: { readonly blockTimeMs: number; readonly blockNumber?: ReadAt['blockNumber'] | undefined };
}

/** Block and age of the prices and debts behind a result. */
export interface PricedAt {
  /** The block of the reading; absent where the node reports no number. */
  readonly readAt?: ReadAt | undefined;
  /** When the oracle's price was made, ms; `null` = it needs no feed, absent = not known. */
  readonly oraclePriceAsOfMs?: number | null | undefined;
}

/** The block at which a market was read, and the age of its oracle's price. */
export function pricedAt({ readAt: { blockTimeMs, blockNumber }, feeds }: LiveMarket): PricedAt {
  const oraclePriceAsOfMs = priceAsOfMs(feeds);
  return {
    readAt: blockNumber === undefined ? undefined : { blockNumber, blockTimeMs },
    oraclePriceAsOfMs,
  };
}

/** Fold the answers of `planMarket`. @throws ChainReadError when the market or its price cannot be read */
export function foldMarket(market: Market, answers: MarketAnswers, block: BlockOfReading, nowMs = 0): LiveMarket {
  const { timestamp, number } = block;
  const [row, rateAtTarget, price, idle, dates] = answers;
  const [totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee] = required(row);
  if (required(price) === 0n || lastUpdate === 0n) throw new ChainReadError('implausible');
  const stored = new SdkMarket({
    params: paramsOf(market),
    totalSupplyAssets,
    totalSupplyShares,
    totalBorrowAssets,
    totalBorrowShares,
    lastUpdate,
    fee,
    price: required(price),
    rateAtTarget: required(rateAtTarget),
  });
  const sdk = stored.accrueInterest(MathLib.max(lastUpdate, timestamp, BigInt(Math.floor(nowMs / 1000))));
  const feeds = datedFeeds(dates, timestamp);
  return {
    sdk,
    price: required(price),
    liquidity: sdk.liquidity,
    idle: required(idle),
    feeds,
    readAt: { blockTimeMs: Number(timestamp) * 1_000, blockNumber: number },
  };
}

/** Debt behind borrow shares `aheadSec` seconds from now, rounded up as the protocol does. */
export function debtOf(live: LiveMarket, borrowShares: bigint, aheadSec = 0n): bigint {
  if (borrowShares === 0n) return 0n;
  return live.sdk.accrueInterest(live.sdk.lastUpdate + aheadSec).toBorrowAssets(borrowShares, 'Up');
}

/** Interest of a debt from one state of its market to a later one, loan base units; 0 where that is not later. */
export function interestOf(debt: bigint, from: LiveMarket, to: LiveMarket): bigint {
  const grown = to.sdk.toBorrowAssets(from.sdk.toBorrowShares(debt, 'Down'), 'Up');
  return MathLib.zeroFloorSub(grown, debt);
}
