import type { Chain } from '../../../src/catalog/types.ts';
import { composeChain } from '../../../src/domain/compose.ts';
import type { ChainFacts } from '../../../src/domain/facts.ts';
import type { ComposedChain, ComposedMarket } from '../../../src/domain/market/types.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../../src/domain/position/types.ts';
import type { Address, MarketId } from '../../../src/shared/ids.ts';
import { chainOf, completeFacts, NOW_MS, PARAMS } from '../world.ts';

export const WALLET: Address = '0x00000000000000000000000000000000000000A1';
export const PROXY: Address = '0x00000000000000000000000000000000000000B2';

/** The block of the market states: no interest has run since. */
export const BLOCK = { number: 100n, timestamp: BigInt(NOW_MS / 1_000 - 60) };

export function composedOf(chain: Chain, facts: ChainFacts = completeFacts(chain)): ComposedChain {
  return composeChain(chain, facts, PARAMS);
}

export function composedMarket(composed: ComposedChain, id: MarketId): ComposedMarket {
  const found = composed.markets.find(({ market }) => market.id === id);
  if (!found) throw new Error(`market ${id} is not composed`);
  return found;
}

export function held(marketId: MarketId, over: Partial<HeldPosition> = {}): HeldPosition {
  return {
    id: 0,
    marketId,
    proxy: PROXY,
    open: true,
    depositedAssets: 0n,
    returnedAssets: 0n,
    collateral: 0n,
    borrowShares: 0n,
    manualMode: false,
    ...over,
  };
}

export function holdings(
  chainId: number,
  positions: readonly HeldPosition[],
  stocks: readonly HeldStock[] = [],
): WalletHoldings {
  return { chainId, wallet: WALLET, block: BLOCK, positions, stocks };
}

export const [ethereum, robinhood] = [chainOf(1), chainOf(4663)];
