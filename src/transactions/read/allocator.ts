import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { publicAllocatorAbi } from '../../abi/public-allocator.ts';
import type { MarketParams } from '../../catalog/market-id.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { SharedLiquidity } from '../../domain/facts.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { type ReadPlan, readOf } from './reads.ts';

/** Liquidity that one vault could move out of one market into the target market now, loan base units. */
export interface AllocatorSource {
  readonly vault: Address;
  readonly feeWei: bigint;
  /** The most that the vault lets flow into the target market, over all its sources. */
  readonly maxIn: bigint;
  readonly marketId: MarketId;
  readonly market: MarketParams;
  /** The market's own liquidity, which all vaults share. */
  readonly liquidity: bigint;
  /** The lesser of the flow cap and the vault's supply there. */
  readonly movable: bigint;
}

type Sources = SharedLiquidity['sources'];
/** The largest sources, as the indexer saw them: more than any market has, and a bound on one read. */
const MAX_SOURCES = 40;
const READS_PER_SOURCE = 6;
const VIRTUAL_SHARES = 1_000_000n;

/**
 * Plan the liquidity of the indexer's sources now: the indexer names the sources, the chain their amounts. Nothing on a
 * chain without a public allocator.
 */
export function planAllocator(
  chain: Chain,
  market: Market,
  shared: SharedLiquidity | undefined,
): ReadPlan<readonly AllocatorSource[]> {
  const { morphoBlue, publicAllocator } = chain.contracts;
  if (!publicAllocator || !shared) return { reads: [], fold: () => [] };
  const sources = [...shared.sources].sort((a, b) => (a.assets < b.assets ? 1 : -1)).slice(0, MAX_SOURCES);
  return {
    reads: sources.flatMap(({ vault, withdrawMarketId: id }) => [
      readOf(morphoBlue, morphoBlueAbi, 'idToMarketParams', [id]),
      readOf(morphoBlue, morphoBlueAbi, 'market', [id]),
      readOf(morphoBlue, morphoBlueAbi, 'position', [id, vault]),
      readOf(publicAllocator, publicAllocatorAbi, 'flowCaps', [vault, id]),
      readOf(publicAllocator, publicAllocatorAbi, 'flowCaps', [vault, market.id]),
      readOf(publicAllocator, publicAllocatorAbi, 'fee', [vault]),
    ]),
    fold: (answers) => foldAllocator(sources, answers),
  };
}

type SourceAnswers = readonly [
  readonly [Address, Address, Address, Address, bigint] | undefined,
  readonly [bigint, bigint, bigint, bigint, bigint, bigint] | undefined,
  readonly [bigint, bigint, bigint] | undefined,
  readonly [bigint, bigint] | undefined,
  readonly [bigint, bigint] | undefined,
  bigint | undefined,
];

/** Fold the answers of `planAllocator`. A source that does not answer brings nothing. */
function foldAllocator(sources: Sources, answers: readonly unknown[]): readonly AllocatorSource[] {
  return sources.flatMap(({ vault, withdrawMarketId }, i): AllocatorSource[] => {
    const slice = answers.slice(i * READS_PER_SOURCE, (i + 1) * READS_PER_SOURCE);
    const [params, totals, position, caps, intoCaps, feeWei] = slice as unknown as SourceAnswers;
    if (!params || !totals || !position || !caps || !intoCaps || feeWei === undefined) return [];
    const [loanToken, collateralToken, oracle, irm, lltv] = params;
    const [supplyAssets, supplyShares, borrowAssets] = totals;
    const supplied = (position[0] * (supplyAssets + 1n)) / (supplyShares + VIRTUAL_SHARES);
    return [
      {
        vault,
        feeWei,
        maxIn: intoCaps[0],
        marketId: withdrawMarketId,
        market: { loanToken, collateralToken, oracle, irm, lltv },
        liquidity: supplyAssets > borrowAssets ? supplyAssets - borrowAssets : 0n,
        movable: caps[1] < supplied ? caps[1] : supplied,
      },
    ];
  });
}
