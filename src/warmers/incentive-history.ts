import type { Chain } from '../catalog/types.ts';
import type { ChainFacts, IncentiveHistory } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import { ZERO } from '../shared/decimal.ts';
import type { MarketId } from '../shared/ids.ts';
import type { IncentivesPort } from '../upstreams/types.ts';
import { INCENTIVES_SOURCE } from './incentives.ts';
import { refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface IncentiveHistoryDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/**
 * Create the warmer of the APR histories of the markets' borrow incentives. The provider is asked for the campaigns that
 * run; what earlier campaigns paid is remembered, and a market whose campaigns have all ended steps down to zero.
 */
export function createIncentiveHistoryWarmer(
  deps: IncentiveHistoryDeps,
  chain: Chain,
  port: IncentivesPort,
  everySec: number,
): Warmer {
  const { snapshot } = deps;
  const { chainId } = chain;
  return {
    name: `incentive-history:${chainId}`,
    groups: ['incentiveHistory'],
    everySec,
    phase: 2,
    run: (signal) => {
      const facts = snapshot.facts(chainId);
      const running = campaignsOf(facts);
      const ended = endedHistories(facts);
      return refreshGroup(deps, {
        chainId,
        group: 'incentiveHistory',
        keys: [...running.keys(), ...ended.keys()],
        source: INCENTIVES_SOURCE,
        signal,
        ask: async () => {
          if (running.size === 0) return { values: ended, failures: new Map() };
          const { values, failures } = await port.history(running, { signal });
          return { values: new Map<string, IncentiveHistory>([...ended, ...values]), failures };
        },
        combine: continueHistory,
      });
    },
  };
}

function campaignsOf(facts: ChainFacts): ReadonlyMap<MarketId, readonly string[]> {
  const campaigns = [...facts.groups.incentives.items].flatMap(([marketId, { value }]) =>
    value.borrow.length === 0 ? [] : [[marketId as MarketId, value.borrow.map(({ id }) => id)] as const],
  );
  return new Map(campaigns);
}

/** Histories whose last step still pays although no campaign is running: they end when that was measured. */
function endedHistories(facts: ChainFacts): ReadonlyMap<string, IncentiveHistory> {
  const ended = new Map<string, IncentiveHistory>();
  for (const [marketId, { value: history }] of facts.groups.incentiveHistory.items) {
    const incentives = facts.groups.incentives.items.get(marketId);
    const last = history.points.at(-1);
    if (!incentives || incentives.value.borrow.length > 0 || !last || last.aprPct.isZero()) continue;
    if (incentives.asOfMs > last.atMs) {
      ended.set(marketId, { points: [...history.points, { atMs: incentives.asOfMs, aprPct: ZERO }] });
    }
  }
  return ended;
}

/** Put a fresh step function after what was known before its first step. An empty one takes nothing away. */
export function continueHistory(fresh: IncentiveHistory, lastGood: IncentiveHistory | undefined): IncentiveHistory {
  const [first] = fresh.points;
  if (!lastGood) return fresh;
  if (!first) return lastGood;
  return { points: [...lastGood.points.filter((point) => point.atMs < first.atMs), ...fresh.points] };
}
