import type {
  CampaignSide,
  FailureReason,
  IncentiveCampaign,
  MarketIncentives,
  RestrictedCampaign,
  Restriction,
  UnreadCampaign,
} from '../../domain/facts.ts';
import { UpstreamUnavailableError } from '../../shared/errors.ts';
import { ADDRESS_PATTERN, type ChainId, type MarketId, parseAddress } from '../../shared/ids.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { toBatch } from '../batch.ts';
import { APR_PCT, type ParsedValue, readDecimal, readTimeMs } from '../readings.ts';
import { readSeries, type Series } from '../series.ts';
import type { Batch, EarnedReward } from '../types.ts';
import {
  type CampaignMetrics,
  campaignKeySchema,
  campaignSchema,
  eligibilitySchema,
  headSchema,
  type UserRewards,
} from './schema.ts';

/** A row of the list, as far as it can be used. */
type CampaignRow =
  | { readonly kind: 'earned'; readonly campaign: IncentiveCampaign }
  | { readonly kind: 'restricted'; readonly campaign: RestrictedCampaign }
  | { readonly kind: 'unread'; readonly campaign: UnreadCampaign; readonly reason: FailureReason; readonly span: Span };

/** Dates of a campaign, ms, as far as they can be read. */
interface Span {
  readonly startsAtMs?: number | undefined;
  readonly endsAtMs?: number | undefined;
}

/** The rows of all pages of one kind of campaign. */
interface CampaignRows {
  readonly byMarket: ReadonlyMap<string, readonly CampaignRow[]>;
  /** Rows without a market. While there are any, no market is known to have no campaigns. */
  readonly unattributed: number;
}

/**
 * The running campaigns per market. A market without any is a measured "none", unless a row had no market: then the "none" is
 * unproven and the market fails. A campaign that cannot be read does not hide the others: the sum is then a lower bound. A market
 * with nothing else fails.
 */
export function mapCampaigns(
  marketIds: readonly MarketId[],
  rows: { readonly borrow: readonly unknown[]; readonly collateral: readonly unknown[] },
  nowMs: number,
): Batch<MarketIncentives> & { readonly unattributed: number; readonly unread: number } {
  const borrow = sortByMarket(rows.borrow, 'borrow');
  const collateral = sortByMarket(rows.collateral, 'collateral');
  const unattributed = borrow.unattributed + collateral.unattributed;
  let unread = 0;
  const batch = toBatch(
    marketIds.map((id): [string, ParsedValue<MarketIncentives>] => {
      const [borrowed, posted] = [borrow, collateral].map((side) => running(side, id, nowMs)) as [Rows, Rows];
      const all = [...borrowed, ...posted];
      const failed = all.flatMap((row) => (row.kind === 'unread' ? [row] : []));
      unread += failed.length;
      const [first] = failed;
      if (first && failed.length === all.length) return [id, { ok: false, reason: first.reason }];
      const isUnproven = [borrowed, posted].some(
        (rows, i) => rows.length === 0 && [borrow, collateral][i]?.unattributed,
      );
      if (isUnproven) return [id, { ok: false, reason: 'malformed' }];
      const restricted = all.flatMap((row) => (row.kind === 'restricted' ? [row.campaign] : []));
      const value = withoutUndefined({
        borrow: earned(borrowed),
        collateral: earned(posted),
        restricted: restricted.length === 0 ? undefined : restricted,
        unread: failed.length === 0 ? undefined : failed.map(({ campaign }) => campaign),
      });
      return [id, { ok: true, value }];
    }),
  );
  return { ...batch, unattributed, unread };
}

type Rows = readonly CampaignRow[];

function earned(rows: Rows): readonly IncentiveCampaign[] {
  return rows.flatMap((row) => (row.kind === 'earned' ? [row.campaign] : [])).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function sortByMarket(rows: readonly unknown[], side: CampaignSide): CampaignRows {
  const read: { readonly market: string; row: CampaignRow }[] = [];
  const byId = new Map<string, (typeof read)[number]>();
  let unattributed = 0;
  for (const raw of rows) {
    const key = campaignKeySchema.safeParse(raw);
    if (!key.success) {
      unattributed += 1;
      continue;
    }
    const row = readCampaign(raw, side);
    // A campaign is listed twice when the list moves between two pages.
    const { id } = row.campaign;
    const known = id === undefined ? undefined : byId.get(id);
    if (known) {
      if (PRECEDENCE[row.kind] > PRECEDENCE[known.row.kind]) known.row = row;
      continue;
    }
    const entry = { market: key.data.params.market.toLowerCase(), row };
    read.push(entry);
    if (id !== undefined) byId.set(id, entry);
  }
  const byMarket = new Map<string, CampaignRow[]>();
  for (const { market, row } of read) byMarket.set(market, [...(byMarket.get(market) ?? []), row]);
  return { byMarket, unattributed };
}

/** Of several rows of one campaign a readable one counts, and one that says who may earn it before one that does not. */
const PRECEDENCE: Readonly<Record<CampaignRow['kind'], number>> = { unread: 0, earned: 1, restricted: 2 };

function readCampaign(raw: unknown, side: CampaignSide): CampaignRow {
  const { startTimestamp, endTimestamp, ...about } = headSchema.parse(raw);
  const starts = readTimeMs(startTimestamp, 'sec');
  const ends = readTimeMs(endTimestamp, 'sec');
  const isInOrder = !(starts.ok && ends.ok) || starts.value <= ends.value;
  const span = isInOrder
    ? { startsAtMs: starts.ok ? starts.value : undefined, endsAtMs: ends.ok ? ends.value : undefined }
    : {};
  const unread = (reason: FailureReason): CampaignRow => ({
    kind: 'unread',
    campaign: withoutUndefined({ side, id: about.id }),
    reason,
    span,
  });
  const row = campaignSchema.safeParse(raw);
  if (!row.success) return unread('malformed');
  if (!starts.ok) return unread(starts.reason);
  if (!ends.ok) return unread(ends.reason);
  if (!isInOrder) return unread('implausible');
  const { id, opportunityId, rewardToken } = row.data;
  const apr = readDecimal(row.data.apr, APR_PCT);
  const url = opportunityId == null ? {} : { url: campaignUrl(opportunityId, id) };
  const campaign = { id, symbol: rewardToken.symbol, startsAtMs: starts.value, endsAtMs: ends.value, ...url };
  const reason = restrictionOf(raw);
  if (reason) {
    const aprPct = apr.ok ? { aprPct: apr.value } : {};
    return { kind: 'restricted', campaign: { ...campaign, ...aprPct, side, reason } };
  }
  return apr.ok ? { kind: 'earned', campaign: { ...campaign, aprPct: apr.value } } : unread(apr.reason);
}

/** Type of reward tokens that can be sold. */
const SOLD_TYPE = 'TOKEN';

/** Why not everybody can earn a campaign, or sell its reward; `undefined` = everybody can. An unknown type of token is not sold. */
function restrictionOf(raw: unknown): Restriction | undefined {
  const { isTest, params, rewardToken } = eligibilitySchema.parse(raw);
  if (isNonEmpty(params.whitelist)) return 'whitelist';
  if ([isTest, rewardToken.isTest].some((value) => value === true || value === 'true')) return 'test';
  const { type = SOLD_TYPE, price } = rewardToken;
  const isUnpriced = price !== undefined && !(Number(price) > 0);
  return isUnpriced || (type !== null && String(type).toUpperCase() !== SOLD_TYPE) ? 'no_market_price' : undefined;
}

function isNonEmpty(list: unknown): boolean {
  if (list === null || list === undefined || list === '' || list === false) return false;
  return typeof list !== 'object' || Object.keys(list).length > 0;
}

/** Public page of the campaign. */
function campaignUrl(opportunityId: string, id: string): string {
  return `https://app.merkl.xyz/opportunities/${encodeURIComponent(opportunityId)}/campaigns/${encodeURIComponent(id)}`;
}

/** A campaign whose dates cannot be read may be running. */
function running(sorted: CampaignRows, id: MarketId, nowMs: number): Rows {
  return (sorted.byMarket.get(id) ?? []).filter((row) => {
    const { startsAtMs = nowMs, endsAtMs = Number.POSITIVE_INFINITY } = row.kind === 'unread' ? row.span : row.campaign;
    return startsAtMs <= nowMs && nowMs < endsAtMs;
  });
}

/**
 * The ended campaigns per market that everybody could earn. An unreadable row is left out, because ended campaigns only add to
 * the history.
 */
export function mapEnded(
  marketIds: readonly MarketId[],
  rows: { readonly borrow: readonly unknown[]; readonly collateral: readonly unknown[] },
): ReadonlyMap<MarketId, MarketIncentives> {
  const [borrow, collateral] = [sortByMarket(rows.borrow, 'borrow'), sortByMarket(rows.collateral, 'collateral')];
  const readable = ({ byMarket }: CampaignRows, id: MarketId) => earned(byMarket.get(id) ?? []);
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

/**
 * The rewards of an account on one chain. A record whose parts contradict each other is not believed.
 * @throws UpstreamUnavailableError
 */
export function mapRewards(chains: UserRewards, chainId: ChainId): readonly EarnedReward[] {
  return chains
    .filter(({ chain }) => chain.id === chainId)
    .flatMap(({ rewards }) => rewards)
    .map(({ token, amount, claimed, pending }) => {
      if (!ADDRESS_PATTERN.test(token.address)) throw new UpstreamUnavailableError('merkl', 'malformed');
      if (claimed > amount) throw new UpstreamUnavailableError('merkl', 'implausible');
      return { token: { ...token, address: parseAddress(token.address, 'token') }, accrued: amount, claimed, pending };
    });
}
