import type { Chain } from '../catalog/types.ts';
import { campaignKey, type ListedCampaign } from '../domain/apy/continue-campaigns.ts';
import type { FailureReason, GroupState, MarketIncentives } from '../domain/facts.ts';
import { isSuspectRate } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import { type Decimal, ZERO } from '../shared/decimal.ts';
import type { MarketId } from '../shared/ids.ts';
import type { Batch, IncentivesPort } from '../upstreams/types.ts';
import { type EmptinessRule, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface IncentivesDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

export const INCENTIVES_SOURCE = 'incentives';

/** An answer without any campaign is accepted only once every known campaign has passed its own end. */
const EMPTINESS: EmptinessRule<MarketIncentives> = {
  isEmpty: ({ borrow, collateral, restricted = [] }) => borrow.length + collateral.length + restricted.length === 0,
  isStillValid: ({ borrow, collateral }, nowMs) => [...borrow, ...collateral].some(({ endsAtMs }) => endsAtMs > nowMs),
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
        everySec,
        chainId: chain.chainId,
        group: 'incentives',
        keys,
        source: INCENTIVES_SOURCE,
        signal,
        ask: async () => {
          const answer = await port.live(chain, keys, { signal });
          return doubtMissing(answer, deps.snapshot.facts(chain.chainId).groups.incentives, deps.clock.now(), everySec);
        },
        emptiness: EMPTINESS,
        doubt: doubtCampaigns,
      }),
  };
}

/**
 * A campaign awaits confirmation when its APR is far from the previous one, or when a new one pays far more than its reward
 * token ever did on the market. Returns the sum of the market's new APRs on both sides.
 */
export function doubtCampaigns(fresh: MarketIncentives, before: MarketIncentives | undefined): Decimal | undefined {
  const known = before ? onSides(before) : [];
  const running = onSides(fresh);
  const isSuspect = running.some((campaign) => {
    const { symbol, aprPct } = campaign;
    const same = known.find((other) => campaignKey(other) === campaignKey(campaign))?.aprPct;
    if (same) return isSuspectRate(aprPct, same, undefined);
    const most = known.filter((other) => other.symbol === symbol).map((other) => other.aprPct);
    return aprPct.gt(UNKNOWN_APR_MAX) && !most.some((apr) => !isSuspectRate(aprPct, apr, undefined));
  });
  return isSuspect ? running.reduce((sum, { aprPct }) => sum.plus(aprPct), ZERO) : undefined;
}

/** APR up to which a campaign with a new reward token on the market needs no confirmation, percent. */
export const UNKNOWN_APR_MAX = 50;

/**
 * A campaign that should still run but is not listed was cancelled, or was lost between two pages. The list does not show
 * which. Its market fails as missing and stays at last-good, until the campaign has been missing for a whole cadence, or ends.
 */
function doubtMissing(
  answer: Batch<MarketIncentives>,
  { items, failures: known }: GroupState<MarketIncentives>,
  nowMs: number,
  everySec: number,
): Batch<MarketIncentives> {
  const values = new Map<string, MarketIncentives>();
  const failures = new Map<string, FailureReason>(answer.failures);
  for (const [key, fresh] of answer.values) {
    const before = items.get(key as MarketId)?.value;
    const failure = known.get(key);
    const isConfirmed = failure?.reason === 'missing' && nowMs - failure.sinceMs >= everySec * 1_000;
    const lost = before !== undefined && !isConfirmed && leavesOut(fresh, before, nowMs);
    if (lost) failures.set(key, 'missing');
    else values.set(key, fresh);
  }
  return { values, failures };
}

/** The campaigns of a market with their sides. */
export function onSides({ borrow, collateral }: MarketIncentives): readonly ListedCampaign[] {
  return [
    ...borrow.map((campaign) => ({ ...campaign, side: 'borrow' as const })),
    ...collateral.map((campaign) => ({ ...campaign, side: 'collateral' as const })),
  ];
}

/**
 * A campaign that became restricted is still listed, unless it was the last one that everybody can earn: a market does not lose
 * its whole incentive by one reading.
 */
function leavesOut(fresh: MarketIncentives, before: MarketIncentives, nowMs: number): boolean {
  const earned = onSides(fresh);
  const listed = new Set([...earned, ...(earned.length > 0 ? (fresh.restricted ?? []) : [])].map(campaignKey));
  return onSides(before).some((campaign) => campaign.endsAtMs > nowMs && !listed.has(campaignKey(campaign)));
}
