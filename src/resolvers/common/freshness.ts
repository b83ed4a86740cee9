import type { Chain } from '../../catalog/types.ts';
import type { FactGroup, Failure } from '../../domain/facts.ts';
import { type GroupHealth, groupHealth } from '../../domain/freshness/health.ts';
import type { ExcludedMarket } from '../../domain/market/types.ts';
import type { ChainId } from '../../shared/ids.ts';
import { selectChains } from '../market/chains.ts';
import { secondOf } from './age.ts';
import type { AppContext } from './context.ts';
import type { ChainReadiness } from './services.ts';

/** One item whose latest refresh failed. */
export interface FailingItem {
  readonly key: string;
  /** Symbol of the token or market behind the key, where it is one. */
  readonly symbol: string | null;
  readonly failure: Failure;
  /** When its last good value was measured; `null` = there is none. */
  readonly lastGoodMs: number | null;
}

export interface GroupFreshness extends GroupHealth {
  readonly failing: readonly FailingItem[];
}

export interface ChainFreshness extends ChainReadiness {
  readonly chain: Chain;
  readonly version: number;
  /** `null` before the first publish. */
  readonly publishedMs: number | null;
  readonly groups: readonly GroupFreshness[];
  readonly excluded: readonly ExcludedMarket[];
}

/** Read the ages of facts per chain and group, and the items served at last-good. @throws BadRequestError */
export function readFreshness(
  args: { chainIds?: readonly ChainId[] | null | undefined },
  ctx: AppContext,
): ChainFreshness[] {
  return selectChains(ctx, args.chainIds).map((chain) => {
    const facts = ctx.loaders.facts(chain.chainId);
    const nowMs = secondOf(ctx);
    const groups = groupHealth(chain, facts, ctx.services.budgets, nowMs);
    return {
      chain,
      ...ctx.services.health.readiness(chain.chainId, nowMs),
      version: facts.version,
      publishedMs: facts.version === 0 ? null : facts.publishedMs,
      groups: groups.map((health) => ({ ...health, failing: failingItems(chain, health, ctx) })),
      excluded: ctx.loaders.composed(chain.chainId).excluded,
    };
  });
}

function failingItems(chain: Chain, health: GroupHealth, ctx: AppContext): FailingItem[] {
  const { items, failures } = ctx.loaders.facts(chain.chainId).groups[health.group];
  return [...failures]
    .filter(([key]) => health.source === undefined || tokenAt(chain, key)?.apySource === health.source)
    .map(([key, failure]) => ({
      key,
      symbol: symbolOf(chain, health.group, key),
      failure,
      lastGoodMs: items.get(key)?.asOfMs ?? null,
    }));
}

function symbolOf(chain: Chain, group: FactGroup, key: string): string | null {
  const market = chain.markets.find(({ id, oracle }) => (group === 'oracle' ? oracle === key : id === key));
  if (market) return `${market.collateral.symbol}/${market.loan.symbol}`;
  return tokenAt(chain, key)?.symbol ?? null;
}

function tokenAt(chain: Chain, address: string) {
  return chain.tokens.find((token) => token.address === address);
}
