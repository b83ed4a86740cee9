import type { Chain, Market } from '../catalog/types.ts';
import type { LendingState, OraclePrice } from '../domain/facts.ts';
import { basisOf } from '../domain/market/oracle-basis.ts';
import type { Address, MarketId } from '../shared/ids.ts';
import { letOthersRun } from '../shared/turns.ts';
import { type Decoded, readingsOf } from './decode.ts';
import { foldBorrowRates, foldStored, planBorrowRates, planStored } from './plans/lending-state.ts';
import { type FeedAnswer, foldFeeds, foldOracles, type OracleAnswer, planFeeds, planOracles } from './plans/oracles.ts';
import type { BlockReader } from './read-at.ts';
import type { Reading } from './reading.ts';
import type { BlockRef, Readings, ReadOptions } from './types.ts';

export interface LendingReading {
  readonly block: BlockRef;
  readonly lending: Readings<MarketId, LendingState>;
  readonly oracle: Readings<Address, OraclePrice>;
}

/**
 * Read markets at one block: their state, their oracles' values and the feeds behind those. Two requests per hundred markets.
 * Feeds that cannot be read are left out without affecting the rest.
 * @throws ChainReadError when the node stops answering
 */
export type ReadMarkets = (
  reading: Reading,
  markets: readonly Market[],
  options?: ReadOptions,
) => Promise<LendingReading>;

/** Markets per page, which bounds the work in one turn of the event loop. */
const MARKETS_PER_PAGE = 100;

interface Page {
  readonly block: BlockRef;
  readonly lending: readonly (readonly [MarketId, Decoded<LendingState>])[];
  readonly oracle: readonly (readonly [Address, Decoded<OraclePrice>])[];
}

export function createMarketReading(
  { contracts: { morphoBlue } }: { readonly contracts: Pick<Chain['contracts'], 'morphoBlue'> },
  readAt: BlockReader,
): ReadMarkets {
  /** The rate depends on the totals, and the list of feeds on the oracle, so both are read in a second round. */
  const readPage = async (reading: Reading, markets: readonly Market[], options?: ReadOptions): Promise<Page> => {
    const isolated = { signal: options?.signal, isolate: true };
    const oracles = [...new Set(markets.map(({ oracle }) => oracle))];
    const planned = planStored(morphoBlue, markets);
    const { block, results } = await readAt(reading, [...planned, ...planOracles(oracles)], isolated);
    await letOthersRun();
    const stored = foldStored(markets, results, block);
    const answers = foldOracles(oracles, results.slice(planned.length));
    const feeds = [...new Set([...answers.values()].flatMap(({ feeds: named }) => (named.ok ? named.value : [])))];
    const rates = planBorrowRates(markets, stored);
    const plan = [...rates, ...planFeeds(feeds)];
    const second = plan.length === 0 ? { results: [] } : await readAt(reading, plan, isolated);
    await letOthersRun();
    const known = foldFeeds(feeds, second.results.slice(rates.length), block);
    const states = foldBorrowRates(stored, second.results);
    const priceOf = ({ price, ...named }: OracleAnswer): Decoded<OraclePrice> => {
      if (!price.ok) return price;
      return { ok: true, value: { price: price.value, blockNumber: block.number, ...behind(named, known) } };
    };
    return {
      block,
      lending: markets.map(({ id }, i) => [id, states[i] ?? MALFORMED]),
      oracle: [...answers].map(([oracle, answer]) => [oracle, priceOf(answer)]),
    };
  };

  return async (reading, markets, options) => {
    const first = await readPage(reading, markets.slice(0, MARKETS_PER_PAGE), options);
    const lending = [...first.lending];
    const oracle = new Map(first.oracle);
    for (let from = MARKETS_PER_PAGE; from < markets.length; from += MARKETS_PER_PAGE) {
      const page = await readPage(reading, markets.slice(from, from + MARKETS_PER_PAGE), options);
      lending.push(...page.lending);
      // An oracle on two pages may have been read on one of them only.
      for (const [address, price] of page.oracle) if (!oracle.get(address)?.ok) oracle.set(address, price);
    }
    return { block: first.block, lending: readingsOf(lending), oracle: readingsOf(oracle) };
  };
}

/** What is behind a price; nothing where the oracle does not name it. */
function behind(
  { feeds, vaults }: Pick<OracleAnswer, 'feeds' | 'vaults'>,
  known: ReadonlyMap<Address, FeedAnswer>,
): Pick<OraclePrice, 'feeds' | 'basis'> {
  if (!feeds.ok) return {};
  const dated = { feeds: feeds.value.map((address) => known.get(address)?.feed ?? { address }) };
  if (!vaults.ok) return dated;
  const descriptions = feeds.value.map((address) => known.get(address)?.description);
  return { ...dated, basis: basisOf({ vaults: vaults.value.length, feeds: descriptions }) };
}

const MALFORMED = { ok: false, reason: 'malformed' } as const;
