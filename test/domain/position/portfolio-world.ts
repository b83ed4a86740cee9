import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import type { Chain } from '../../../src/catalog/types.ts';
import type { Sightings } from '../../../src/domain/drift/types.ts';
import type { ChainFacts } from '../../../src/domain/facts.ts';
import { composePortfolio } from '../../../src/domain/portfolio/compose.ts';
import { portfolioContext } from '../../../src/domain/portfolio/context.ts';
import type { Portfolio, RegisteredRow } from '../../../src/domain/portfolio/types.ts';
import type { HeldPosition, HeldStock } from '../../../src/domain/position/types.ts';
import { Decimal, ZERO } from '../../../src/shared/decimal.ts';
import type { MarketId } from '../../../src/shared/ids.ts';
import { completeFacts, DAY, NOW_MS } from '../world.ts';
import { composedOf, holdings, WALLET } from './position-world.ts';

const catalog = createCatalog(curatedChains);

/** A row of the register: open, 20 days old, opened at an LTV of 80 %. */
export function rowOf(marketId: MarketId, over: Partial<RegisteredRow> = {}): RegisteredRow {
  return {
    wallet: WALLET,
    chainId: 4663,
    marketId,
    positionIndex: 0,
    isOpen: true,
    depositedUsd: new Decimal(100),
    addedUsd: ZERO,
    removedUsd: ZERO,
    returnedUsd: ZERO,
    collateralApyPctAtOpen: null,
    borrowApyPctAtOpen: null,
    leverageApyPctAtOpen: null,
    desiredLtvPct: new Decimal(80),
    entryPrice: null,
    exitPrice: null,
    equityVaultId: null,
    createdAtMs: NOW_MS - 20 * DAY,
    updatedAtMs: NOW_MS - 20 * DAY,
    closedAtMs: null,
    ...over,
  };
}

export interface ObservedAge {
  readonly chain: Chain;
  readonly facts?: ChainFacts;
  readonly positions?: readonly HeldPosition[];
  readonly stocks?: readonly HeldStock[];
  readonly rows?: readonly RegisteredRow[];
  readonly known?: Sightings['known'];
}

/** Compose the portfolio of `WALLET`. */
export function portfolioOf({
  chain,
  facts = completeFacts(chain),
  positions = [],
  stocks = [],
  rows = [],
  known = new Map(),
}: ObservedAge): Portfolio {
  const context = portfolioContext(catalog, chain, composedOf(chain, facts), facts, { known, nowMs: NOW_MS });
  return composePortfolio(context, holdings(chain.chainId, positions, stocks), rows);
}
