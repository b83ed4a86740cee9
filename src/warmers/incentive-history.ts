import type { Chain } from '../catalog/types.ts';
import {
  campaignKey,
  continueSteps,
  endUnlisted,
  type ListedCampaign,
  observedSteps,
  uniteCampaigns,
} from '../domain/apy/continue-campaigns.ts';
import { DAY_MS } from '../domain/apy/series.ts';
import type { CampaignRecord, ChainFacts, FailureReason, IncentiveHistory, MarketIncentives } from '../domain/facts.ts';
import { isSuspectRate } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import { type Decimal, ZERO } from '../shared/decimal.ts';
import type { MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { RateHistory, RatePoint } from '../shared/rate-history.ts';
import type { IncentivesPort } from '../upstreams/types.ts';
import { INCENTIVES_SOURCE, onSides, UNKNOWN_APR_MAX } from './incentives.ts';
import { refreshGroup, type Snapshot } from './refresh.ts';
import { bestEffort, RETENTION_DAYS } from './series.ts';
import type { Beside, ReadCampaigns, RecordCampaigns, Warmer } from './types.ts';

export interface IncentiveHistoryDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readCampaigns: ReadCampaigns;
  readonly recordCampaigns: RecordCampaigns;
  /** Absent: a run waits for its writes. */
  readonly beside?: Beside | undefined;
}

/**
 * Create the warmer of the markets' incentive history. Each campaign is recorded on its side with the steps of the provider's
 * records, ended campaigns included. A running campaign without records gets our own observations. Records are kept in the
 * database as long as other histories.
 */
export function createIncentiveHistoryWarmer(
  deps: IncentiveHistoryDeps,
  chain: Chain,
  port: IncentivesPort,
  everySec: number,
): Warmer {
  const { snapshot, clock, logger, beside = (work) => work } = deps;
  const { chainId, markets } = chain;
  const marketIds = markets.map(({ id }) => id);
  const tryTo = bestEffort(logger, { chainId });

  return {
    name: `incentive-history:${chainId}`,
    groups: ['incentiveHistory'],
    everySec,
    phase: 2,
    run: async (signal) => {
      const nowMs = clock.now();
      const facts = snapshot.facts(chainId);
      const [stored, ended] = await Promise.all([
        tryTo('read campaigns', () => deps.readCampaigns(chainId, nowMs - RETENTION_DAYS * DAY_MS), new Map()),
        tryTo('list ended campaigns', () => port.ended(chain, marketIds, { signal }), new Map()),
      ]);
      const plans = marketIds.flatMap((id) => planOf(id, facts, stored.get(id) ?? [], ended.get(id), nowMs));
      const report = await refreshGroup(deps, {
        everySec,
        chainId,
        group: 'incentiveHistory',
        keys: plans.map(({ marketId }) => marketId),
        source: INCENTIVES_SOURCE,
        signal,
        ask: async () => {
          const ids = [...new Set(plans.flatMap(({ campaignIds }) => campaignIds))];
          const none = { values: new Map<string, RateHistory>(), failures: new Map<string, FailureReason>() };
          const recorded = ids.length === 0 ? none : await port.history(ids, { signal });
          const failures = new Map<string, FailureReason>();
          const values = new Map<string, IncentiveHistory>();
          for (const plan of plans) {
            const failed = failureOf(plan, recorded.failures);
            if (failed) failures.set(plan.marketId, failed);
            else values.set(plan.marketId, recordOf(plan, recorded.values, nowMs));
          }
          return { values, failures };
        },
        doubt: (fresh, _lastGood, marketId) =>
          doubtRecords(
            fresh,
            plans.find((plan) => plan.marketId === marketId),
          ),
      });
      const { items } = snapshot.facts(chainId).groups.incentiveHistory;
      const records = plans.map(({ marketId }) => [marketId, items.get(marketId)?.value.campaigns ?? []] as const);
      await beside(tryTo('store campaigns', () => deps.recordCampaigns(chainId, new Map(records)), undefined));
      return report;
    },
  };
}

/** Known campaigns of a market, and those to request from the provider. */
interface Plan {
  readonly marketId: MarketId;
  readonly listed: readonly ListedCampaign[];
  readonly known: readonly CampaignRecord[];
  readonly campaignIds: readonly string[];
  readonly nowMs: number;
}

function planOf(
  marketId: MarketId,
  { groups }: ChainFacts,
  stored: readonly CampaignRecord[],
  ended: MarketIncentives | undefined,
  nowMs: number,
): readonly Plan[] {
  const live = groups.incentives.items.get(marketId);
  const before = groups.incentiveHistory.items.get(marketId);
  const running = live ? onSides(live.value) : [];
  // A campaign that became restricted ends here: from now on it is in no APY. One that could not be read goes on.
  const isRunning = new Set([...running.map(campaignKey), ...unreadKeys(live?.value)]);
  const past = (ended ? onSides(ended) : []).filter(
    (campaign) => campaign.endsAtMs > nowMs - RETENTION_DAYS * DAY_MS && !isRunning.has(campaignKey(campaign)),
  );
  const united = uniteCampaigns(before?.value.campaigns ?? [], stored);
  // Only a market whose running campaigns were listed shows which known ones have ended.
  const known = live
    ? united.map((record) => endUnlisted(record, isRunning.has(campaignKey(record)), live.asOfMs))
    : united;
  if (running.length + past.length + known.length === 0) return [];
  const readAtMs = before?.asOfMs ?? 0;
  const isComplete = new Set(
    known.filter(({ endsAtMs, steps }) => endsAtMs <= readAtMs && steps.length > 0).map(campaignKey),
  );
  const listed = [...running, ...past.filter((campaign) => !isComplete.has(campaignKey(campaign)))];
  return [{ marketId, listed, known, campaignIds: listed.map(({ id }) => id), nowMs }];
}

function unreadKeys(listed: MarketIncentives | undefined): readonly string[] {
  return (listed?.unread ?? []).flatMap(({ side, id }) => (id === undefined ? [] : [campaignKey({ side, id })]));
}

/** Why a market is not updated: a campaign with known steps could not be read. A new campaign is recorded all the same. */
function failureOf({ listed, known }: Plan, failures: ReadonlyMap<string, FailureReason>): FailureReason | undefined {
  const recorded = new Set(known.filter(({ steps }) => steps.length > 0).map(campaignKey));
  const failed = listed.find((campaign) => failures.has(campaign.id) && recorded.has(campaignKey(campaign)));
  return failed && failures.get(failed.id);
}

function recordOf(
  { listed, known, nowMs: plannedMs }: Plan,
  recorded: ReadonlyMap<string, RateHistory>,
  nowMs: number,
): IncentiveHistory {
  const before = new Map(known.map((record) => [campaignKey(record), record] as const));
  const fresh = listed.map((campaign): CampaignRecord => {
    const { id, side, symbol, startsAtMs, endsAtMs } = campaign;
    const record = before.get(campaignKey(campaign));
    const answered = recorded.get(id);
    const steps = continueSteps(answered, record?.steps);
    const isLive = startsAtMs <= nowMs && nowMs < endsAtMs;
    const observed = answered === undefined && isLive ? observedSteps(steps, campaign, plannedMs) : steps;
    return { id, side, symbol, startsAtMs, endsAtMs, steps: observed ?? [] };
  });
  return { campaigns: uniteCampaigns(fresh, known) };
}

/**
 * Records await confirmation when they contradict a known step, begin far from the listed rate of the campaign, or, without
 * either, contain an absurd rate. Returns the rate of the first such campaign.
 */
function doubtRecords({ campaigns }: IncentiveHistory, plan: Plan | undefined): Decimal | undefined {
  const known = new Map(plan?.known.map((record) => [campaignKey(record), record.steps] as const));
  const listed = new Map(plan?.listed.map((campaign) => [campaignKey(campaign), campaign.aprPct] as const));
  for (const record of campaigns) {
    const points = record.steps;
    const newest = points.at(-1)?.ratePct;
    if (newest === undefined) continue;
    const before = known.get(campaignKey(record)) ?? [];
    const fresh = new Map(points.map(({ atMs, ratePct }) => [atMs, ratePct] as const));
    const isContradicted = before.some(({ atMs, ratePct }) => {
      const again = fresh.get(atMs);
      return again !== undefined && isSuspectRate(again, ratePct, undefined);
    });
    const now = listed.get(campaignKey(record));
    // The listed rate of an ended campaign is zero and no reference.
    const isRunning = plan !== undefined && record.endsAtMs > plan.nowMs;
    const isFarFromListed =
      before.length === 0 && isRunning && now !== undefined && isSuspectRate(newest, now, undefined);
    if (isContradicted || isFarFromListed) return newest;
    // There is no reference for the records.
    const most = before.length === 0 && (now === undefined || !isRunning) ? highest(points) : undefined;
    if (most?.gt(UNKNOWN_APR_MAX)) return most;
  }
  return undefined;
}

function highest(points: readonly RatePoint[]): Decimal {
  return points.map(({ ratePct }) => ratePct).reduce((most, ratePct) => (ratePct.gt(most) ? ratePct : most), ZERO);
}
