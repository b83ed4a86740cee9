import type { Chain } from '../../catalog/types.ts';
import type { Address, StrategyId } from '../../shared/ids.ts';
import { type CandidateLoop, type LoopMatch, type LoopTags, matchYieldLoops, type OpenVault } from '../equity/loops.ts';
import { composeEquityPosition, type EquityPosition } from '../equity/position.ts';
import type { MarketValues } from '../market/at-block.ts';
import { composePosition } from './compose.ts';
import type { Position, WalletHoldings } from './types.ts';
import { isDust, valueHolding } from './valuation.ts';

/** Composed holdings of one wallet on one chain. A vault's loops are in the vault, all others in `positions`. */
export interface ComposedWallet extends Pick<WalletHoldings, 'chainId' | 'wallet' | 'block'> {
  /** Routers that are still authorized on the wallet's lending positions after an interrupted batch; absent = not known. */
  readonly leftAuthorizations?: readonly Address[] | undefined;
  /** Newest first. */
  readonly positions: readonly Position[];
  /** Open vaults, in catalog order. */
  readonly equityPositions: readonly EquityPosition[];
}

/** The vault of a loop, certain or possible. */
export interface LoopAttribution {
  readonly vaultId: StrategyId;
  /** `ambiguous`: it is one of the candidates, and is listed among the wallet's plain positions. */
  readonly match: Exclude<LoopMatch['match'], 'none'>;
  /** All loops of that vault, or all candidates. */
  readonly loopIds: readonly number[];
}

/**
 * Compose the holdings of a wallet, as of their block.
 * @param markets values at that block
 */
export function composeWallet(
  chain: Chain,
  markets: MarketValues,
  holdings: WalletHoldings,
  tags: LoopTags,
): ComposedWallet {
  const newestFirst = holdings.positions.toSorted((a, b) => b.id - a.id);
  const loops = newestFirst.map((held) => {
    const found = {
      market: chain.markets.find(({ id }) => id === held.marketId),
      composed: markets.get(held.marketId),
    };
    return { held, position: composePosition(held, holdings, found), composed: found.composed };
  });
  const matches = matchLoops(chain, markets, holdings, tags);
  const attributed = new Set([...matches.values()].flatMap(({ loopIds }) => loopIds));
  return {
    chainId: holdings.chainId,
    wallet: holdings.wallet,
    block: holdings.block,
    leftAuthorizations: holdings.authorized,
    positions: loops.filter(({ held }) => !attributed.has(held.id)).map((entry) => entry.position),
    equityPositions: chain.equityVaults.flatMap((vault) => {
      const match = matches.get(vault.id);
      const held = holdings.stocks.find(({ marketId }) => marketId === vault.stockMarket.id);
      if (!match || !held) return [];
      const input = {
        vault,
        held,
        match,
        loops: loops.filter((entry) => match.loopIds.includes(entry.held.id)),
        stock: markets.get(vault.stockMarket.id),
      };
      return [composeEquityPosition(input, holdings)];
    }),
  };
}

/** Return the vault that a position belongs to, or may belong to; `null` = none. */
export function attributionOf(
  chain: Chain,
  markets: MarketValues,
  holdings: WalletHoldings,
  tags: LoopTags,
  positionId: number,
): LoopAttribution | null {
  for (const [vaultId, { match, loopIds, candidateIds }] of matchLoops(chain, markets, holdings, tags)) {
    const ids = match === 'ambiguous' ? candidateIds : loopIds;
    if (match !== 'none' && ids.includes(positionId)) return { vaultId, match, loopIds: ids };
  }
  return null;
}

/**
 * Match the loops of a wallet to its open vaults: those whose stock market has debt of the wallet, or collateral that is more
 * than dust. Collateral of a stranger makes neither a vault, nor a liquidated loop live again.
 */
function matchLoops(
  chain: Chain,
  markets: MarketValues,
  holdings: WalletHoldings,
  tags: LoopTags,
): ReadonlyMap<StrategyId, LoopMatch> {
  const vaults = chain.equityVaults.flatMap((vault): OpenVault[] => {
    const held = holdings.stocks.find(({ marketId }) => marketId === vault.stockMarket.id);
    const stock = markets.get(vault.stockMarket.id);
    if (!held || isDust(held, stock)) return [];
    const debt = stock ? valueHolding(held, stock, holdings.block.timestamp).debt : null;
    return [{ id: vault.id, yieldMarketId: vault.yieldMarket.id, debt: held.borrowShares === 0n ? 0n : debt }];
  });
  if (vaults.length === 0) return new Map();
  const loops = holdings.positions.flatMap((held): CandidateLoop[] =>
    held.open
      ? [
          {
            id: held.id,
            marketId: held.marketId,
            depositedAssets: held.depositedAssets,
            live: !isDust(held, markets.get(held.marketId)),
          },
        ]
      : [],
  );
  return matchYieldLoops(vaults, loops, tags);
}
