import type { Chain } from '../catalog/types.ts';
import type { MarketIncentives } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { IncentivesPort } from '../upstreams/types.ts';
import { type EmptinessRule, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface IncentivesDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

export const INCENTIVES_SOURCE = 'incentives';

/** No campaign on any market is believed once every campaign known has ended by its own dates. */
const EMPTINESS: EmptinessRule<MarketIncentives> = {
  isEmpty: ({ borrow, collateral }) => borrow.length === 0 && collateral.length === 0,
  stillHolds: ({ borrow, collateral }, nowMs) => [...borrow, ...collateral].some(({ endsAtMs }) => endsAtMs > nowMs),
};

/** Create the warmer of the live borrow and collateral campaigns of a chain's markets. */
export function createIncentivesWarmer(
  deps: IncentivesDeps,
  chain: Chain,
  port: IncentivesPort,
  everySec: number,
): Warmer {
  const keys = chain.markets.map((market) => market.id);
  return {
    name: `incentives:${chain.chainId}`,
    groups: ['incentives'],
    everySec,
    phase: 1,
    run: (signal) =>
      refreshGroup(deps, {
        chainId: chain.chainId,
        group: 'incentives',
        keys,
        source: INCENTIVES_SOURCE,
        signal,
        ask: () => port.live(chain, keys, { signal }),
        emptiness: EMPTINESS,
      }),
  };
}
