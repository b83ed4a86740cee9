import type { FailureReason, IncentiveCampaign, MarketIncentives } from '../../domain/facts.ts';
import type { MarketId } from '../../shared/ids.ts';
import { toBatch } from '../batch.ts';
import { APR_PCT, type ParsedValue, readDecimal, readTimeMs } from '../readings.ts';
import { readSeries, type Series } from '../series.ts';
import type { Batch } from '../types.ts';
import { type CampaignMetrics, campaignKeySchema, campaignSchema } from './schema.ts';

/** The rows of all pages of one kind of campaign. */
interface CampaignRows {
  readonly byMarket: ReadonlyMap<string, readonly ParsedValue<IncentiveCampaign>[]>;
  /** Rows without a market. While there are any, no market is known to have no campaigns. */
  readonly unattributed: number;
}

/**
 * The running campaigns per market. A market without any is a measured "none", unless a row had no market: then the "none" is
 * unproven and the market fails. A market with an unreadable campaign fails too, because its sum would be too small.
 */
export function mapCampaigns(
  marketIds: readonly MarketId[],
  rows: { readonly borrow: readonly unknown[]; readonly collateral: readonly unknown[] },
  nowMs: number,
): Batch<MarketIncentives> & { readonly unattributed: number } {
  const borrow = sortByMarket(rows.borrow);
  const collateral = sortByMarket(rows.collateral);
  const batch = toBatch(
    marketIds.map((id): [string, ParsedValue<MarketIncentives>] => {
      const borrowed = running(borrow, id, nowMs);
      const posted = running(collateral, id, nowMs);
      if (!borrowed.ok) return [id, borrowed];
      if (!posted.ok) return [id, posted];
      return [id, { ok: true, value: { borrow: borrowed.value, collateral: posted.value } }];
    }),
  );
  return { ...batch, unattributed: borrow.unattributed + collateral.unattributed };
}

function sortByMarket(rows: readonly unknown[]): CampaignRows {
  const byMarket = new Map<string, ParsedValue<IncentiveCampaign>[]>();
  const keys = new Set<string>();
  let unattributed = 0;
  for (const raw of rows) {
    const key = campaignKeySchema.safeParse(raw);
    if (!key.success) {
      unattributed += 1;
      continue;
    }
    const campaign = readCampaign(raw);
    // A campaign is listed twice when the list moves between two pages: the first row counts.
    if (campaign.ok && keys.has(campaign.value.id)) continue;
    if (campaign.ok) keys.add(campaign.value.id);
    const market = key.data.params.market.toLowerCase();
    byMarket.set(market, [...(byMarket.get(market) ?? []), campaign]);
  }
  return { byMarket, unattributed };
}

function readCampaign(raw: unknown): ParsedValue<IncentiveCampaign> {
  const row = campaignSchema.safeParse(raw);
  if (!row.success) return { ok: false, reason: 'malformed' };
  const { id, opportunityId, rewardToken } = row.data;
  const apr = readDecimal(row.data.apr, APR_PCT);
  if (!apr.ok) return apr;
  const starts = readTimeMs(row.data.startTimestamp, 'sec');
  if (!starts.ok) return starts;
  const ends = readTimeMs(row.data.endTimestamp, 'sec');
  if (!ends.ok) return ends;
  if (ends.value < starts.value) return { ok: false, reason: 'implausible' };
  const url = opportunityId == null ? {} : { url: campaignUrl(opportunityId, id) };
  const campaign = {
    id,
    symbol: rewardToken.symbol,
    aprPct: apr.value,
    startsAtMs: starts.value,
    endsAtMs: ends.value,
  };
  return { ok: true, value: { ...campaign, ...url } };
}

/** Public page of the campaign. */
function campaignUrl(opportunityId: string, id: string): string {
  return `https://app.merkl.xyz/opportunities/${encodeURIComponent(opportunityId)}/campaigns/${encodeURIComponent(id)}`;
}

function running(sorted: CampaignRows, id: MarketId, nowMs: number): ParsedValue<readonly IncentiveCampaign[]> {
  const campaigns: IncentiveCampaign[] = [];
  for (const reading of sorted.byMarket.get(id) ?? []) {
    if (!reading.ok) return reading;
    if (reading.value.startsAtMs <= nowMs && nowMs < reading.value.endsAtMs) campaigns.push(reading.value);
  }
  if (campaigns.length === 0 && sorted.unattributed > 0) return { ok: false, reason: 'malformed' };
  return { ok: true, value: campaigns.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** The ended campaigns per market. An unreadable row is left out, because ended campaigns only add to the history. */
export function mapEnded(
  marketIds: readonly MarketId[],
  rows: { readonly borrow: readonly unknown[]; readonly collateral: readonly unknown[] },
): ReadonlyMap<MarketId, MarketIncentives> {
  const [borrow, collateral] = [sortByMarket(rows.borrow), sortByMarket(rows.collateral)];
  const readable = ({ byMarket }: CampaignRows, id: MarketId) =>
    (byMarket.get(id) ?? []).flatMap((reading) => (reading.ok ? [reading.value] : []));
  return new Map(marketIds.map((id) => [id, { borrow: readable(borrow, id), collateral: readable(collateral, id) }]));
}

/**
 * The step function of one campaign.
 * @returns a failure reason when no record is usable
 */
export function mapMetrics(metrics: CampaignMetrics, nowMs: number): Series | FailureReason {
  const series = readSeries(
    metrics.aprRecords.map(({ timestamp, apr }) => ({ at: timestamp, value: apr })),
    { time: 'sec', within: APR_PCT, nowMs },
  );
  if (series.points.length > 0) return series;
  return series.latest.ok ? 'missing' : series.latest.reason;
}
