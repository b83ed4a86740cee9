import type { Catalog, Chain } from '../../src/catalog/types.ts';
import { createMerkl } from '../../src/upstreams/merkl/client.ts';
import { createMorphoApi } from '../../src/upstreams/morpho-api/client.ts';
import { optional, outcomeOf, single } from './outcome.ts';
import type { Measure, ProviderSurface } from './types.ts';

const DAY = 86_400;
/** Number of markets to request from the indexer. */
const SAMPLES = 4;

/** Surfaces of the incentive provider and of the lending protocol's indexer, per chain. */
export function lendingSurfaces(catalog: Catalog): readonly ProviderSurface[] {
  return catalog.chains.flatMap((chain) => [
    campaigns(chain),
    campaignHistory(chain),
    positionRewards(chain),
    borrowHistory(chain),
    ...(chain.contracts.publicAllocator === undefined ? [] : [sharedLiquidity(chain)]),
  ]);
}

const merkl = { provider: 'merkl', publicName: 'incentives' } as const;
const indexer = { provider: 'morphoApi', publicName: 'indexer' } as const;

function campaigns(chain: Chain): ProviderSurface {
  return {
    ...merkl,
    name: 'campaigns',
    chainId: chain.chainId,
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, _context, signal) => {
      const ids = chain.markets.map(({ id }) => id);
      return outcomeOf(await createMerkl(deps).live(chain, ids, optional(signal)), ({ borrow, collateral }) =>
        [...borrow, ...collateral].map(({ aprPct }): Measure => ({ kind: 'rate', pct: aprPct })),
      );
    },
  };
}

function campaignHistory(chain: Chain): ProviderSurface {
  return {
    ...merkl,
    name: 'campaign_history',
    chainId: chain.chainId,
    timeFields: ['timestamp'],
    maxAgeSec: 30 * DAY,
    ask: async (deps, _context, signal) => {
      const port = createMerkl(deps);
      const live = await port.live(
        chain,
        chain.markets.map(({ id }) => id),
        optional(signal),
      );
      const [first] = [...live.values.values()].flatMap(({ borrow, collateral }) => [...borrow, ...collateral]);
      if (first === undefined) return undefined;
      return outcomeOf(await port.history([first.id], optional(signal)), () => []);
    },
  };
}

/** The record of an account: of the contract that creates positions, which earns nothing itself. */
function positionRewards(chain: Chain): ProviderSurface {
  return {
    ...merkl,
    name: 'position_rewards',
    chainId: chain.chainId,
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, _context, signal) => {
      const { flashLeverage } = chain.contracts;
      return single(flashLeverage, await createMerkl(deps).earned(chain.chainId, flashLeverage, optional(signal)));
    },
  };
}

function borrowHistory(chain: Chain): ProviderSurface {
  return {
    ...indexer,
    name: 'borrow_history',
    chainId: chain.chainId,
    timeFields: ['x'],
    maxAgeSec: 3 * DAY,
    ask: async (deps, _context, signal) => {
      const ids = chain.markets.slice(0, SAMPLES).map(({ id }) => id);
      return outcomeOf(await createMorphoApi(deps).borrowHistory(chain, ids, optional(signal)), ({ points }) =>
        points.slice(-1).map(({ ratePct }): Measure => ({ kind: 'rate', pct: ratePct })),
      );
    },
  };
}

function sharedLiquidity(chain: Chain): ProviderSurface {
  return {
    ...indexer,
    name: 'shared_liquidity',
    chainId: chain.chainId,
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, _context, signal) => {
      const ids = chain.markets.slice(0, SAMPLES).map(({ id }) => id);
      return outcomeOf(await createMorphoApi(deps).sharedLiquidity(chain, ids, optional(signal)), () => []);
    },
  };
}
