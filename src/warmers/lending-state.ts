import type { Chain, Market } from '../catalog/types.ts';
import type { ChainReader, LendingReading } from '../chain/reader.ts';
import { CHAIN_SOURCE, ChainReadError } from '../chain/rpc/errors.ts';
import type { BlockRef } from '../chain/types.ts';
import { borrowApyPctFromRate, borrowRateNow } from '../domain/apy/rates.ts';
import type { ChainFacts, LendingState, OraclePrice } from '../domain/facts.ts';
import { accrue } from '../domain/market/accrue.ts';
import { withJump } from '../domain/market/oracle-divergence.ts';
import { creditedFeed } from '../domain/market/price-age.ts';
import type { Clock } from '../shared/clock.ts';
import { ratio, ZERO } from '../shared/decimal.ts';
import type { MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import { inTurns } from '../shared/turns.ts';
import { measureGroup, reportOrThrow, type Snapshot, sumReports } from './refresh.ts';
import type { Beside, BorrowRateSample, PricedMarket, RecordMarkets, RecordSamples, Warmer } from './types.ts';

export interface LendingStateDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recordSamples: RecordSamples;
  readonly recordMarkets: RecordMarkets;
  /** Absent: a run waits for its writes. */
  readonly beside?: Beside | undefined;
}

/**
 * Create the warmer of market state and oracle values. One reading at one block feeds both groups, published as one version so
 * that no composition mixes two blocks, and our own history of rates and oracle prices. A reading of an older block than the newest known one is
 * dropped.
 */
export function createLendingStateWarmer(
  deps: LendingStateDeps,
  chain: Chain,
  reader: ChainReader,
  everySec: number,
): Warmer {
  const { snapshot, logger, beside = (work) => work } = deps;
  const { chainId, markets } = chain;
  const marketIds = markets.map(({ id }) => id);
  const oracles = [...new Set(markets.map(({ oracle }) => oracle))];
  let areSamplesRecorded = true;

  const record = async (
    samples: readonly BorrowRateSample[],
    priced: ReadonlyMap<MarketId, PricedMarket>,
  ): Promise<void> => {
    try {
      await Promise.all([deps.recordSamples(chainId, samples), deps.recordMarkets(chainId, priced)]);
      if (!areSamplesRecorded) logger.info({ chainId }, 'rate samples stored again');
      areSamplesRecorded = true;
    } catch (error) {
      if (areSamplesRecorded) logger.warn({ chainId, error }, 'rate samples not stored');
      areSamplesRecorded = false;
    }
  };

  return {
    name: `lending-state:${chainId}`,
    groups: ['lendingState', 'oracle'],
    everySec,
    phase: 0,
    run: async (signal) => {
      const reading = reader.readLendingState(markets, { signal }).then(async (read) => {
        const newest = newestBlock(snapshot.facts(chainId), deps.clock.now());
        if (isOlder(read.block, newest)) throw new ChainReadError('implausible');
        return read;
      });
      const common = { chainId, source: CHAIN_SOURCE, signal } as const;
      const [oracle, lending] = await Promise.all([
        measureGroup(deps, {
          everySec,
          ...common,
          group: 'oracle',
          keys: oracles,
          ask: async () => atBlock(await reading, (read) => read.oracle),
          combine: (fresh, lastGood) => withJump(withDates(fresh, lastGood), lastGood, deps.clock.now()),
        }),
        measureGroup(deps, {
          everySec,
          ...common,
          group: 'lendingState',
          keys: marketIds,
          ask: async () => atBlock(await reading, (read) => read.lending),
        }),
      ]);
      await snapshot.publishAll(chainId, { oracle: oracle.publication, lendingState: lending.publication });
      const reports = [reportOrThrow(lending.outcome), reportOrThrow(oracle.outcome)];
      const { samples, priced } = await samplesOf(markets, await reading);
      await beside(record(samples, priced));
      return sumReports(reports);
    },
  };

  function atBlock<T>(reading: LendingReading, pick: (reading: LendingReading) => T): T & { readonly asOfMs: number } {
    return { ...pick(reading), asOfMs: Number(reading.block.timestamp) * 1_000 };
  }
}

/** Drop the dates of feeds that report the time of every block. */
function withDates(fresh: OraclePrice, lastGood: OraclePrice | undefined): OraclePrice {
  if (!fresh.feeds) return fresh;
  const known = new Map(lastGood?.feeds?.map((feed) => [feed.address, feed]));
  return { ...fresh, feeds: fresh.feeds.map((feed) => creditedFeed(feed, known.get(feed.address))) };
}

/** Make the history samples of measured states, and price and rate of each market of which both were read. */
async function samplesOf(markets: readonly Market[], { lending, oracle }: LendingReading) {
  const samples: BorrowRateSample[] = [];
  const priced = new Map<MarketId, PricedMarket>();
  for await (const { id, oracle: address } of inTurns(markets)) {
    const state = lending.values.get(id);
    if (!state) continue;
    const borrowRate = borrowRateNow(state);
    const sample = sampleOf(id, state, borrowRate);
    samples.push(sample);
    const price = oracle.values.get(address)?.price;
    if (price !== undefined) priced.set(id, { atMs: sample.atMs, price, borrowRate });
  }
  return { samples, priced };
}

/** Make the history sample of one measured state, accrued to its block. */
function sampleOf(marketId: MarketId, state: LendingState, borrowRate: bigint): BorrowRateSample {
  const { totalSupplyAssets, totalBorrowAssets } = accrue(state);
  return {
    marketId,
    atMs: Number(state.blockTimestamp) * 1_000,
    borrowApy: borrowApyPctFromRate(borrowRate).shiftedBy(-2),
    // Utilization of an unsupplied market is 0, as in the protocol.
    utilization: totalSupplyAssets === 0n ? ZERO : ratio(totalBorrowAssets, totalSupplyAssets),
    supplyAssets: totalSupplyAssets,
    borrowAssets: totalBorrowAssets,
    liquidityAssets: totalSupplyAssets - totalBorrowAssets,
  };
}

/**
 * Block times are compared first: a lagging node is behind in both time and number, whereas a restarted chain has low numbers
 * but current times. Within one second the number decides.
 */
function isOlder(block: BlockRef, known: BlockRef | null): boolean {
  if (known === null || block.timestamp !== known.timestamp) return known !== null && block.timestamp < known.timestamp;
  return block.number < known.number;
}

/** The newest known block; blocks with a time in the future are skipped. */
function newestBlock(facts: ChainFacts, nowMs: number): BlockRef | null {
  let newest: BlockRef | null = null;
  for (const { value } of facts.groups.lendingState.items.values()) {
    const block = { number: value.blockNumber, timestamp: value.blockTimestamp };
    const isPossible = !isFromFuture(Number(block.timestamp) * 1_000, nowMs);
    if (isPossible && (newest === null || isOlder(newest, block))) newest = block;
  }
  return newest;
}
