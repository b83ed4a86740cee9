import type { Selectable } from 'kysely';
import { CAMPAIGN_SIDES, type CampaignRecord } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved, replaces } from './observed.ts';
import { readSteps, writeSteps } from './rate-steps.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';
import type { IncentiveCampaignsTable } from './schema.ts';

const DAY_MS = 86_400_000;

/** APY of a collateral token on one UTC day, percent. */
export interface DailyApy {
  readonly token: Address;
  /** Start of the day. */
  readonly dayMs: number;
  readonly apyPct: Decimal;
}

export interface ApySample {
  readonly token: Address;
  readonly atMs: number;
  readonly apyPct: Decimal;
}

export interface RecordedRateRepository {
  /** Store the current state of campaigns. One statement. */
  recordCampaigns(chainId: ChainId, campaigns: ReadonlyMap<MarketId, readonly CampaignRecord[]>): Promise<void>;
  /** Read the campaigns of a chain that ended after a time, by market. */
  readCampaigns(chainId: ChainId, sinceMs: number): Promise<ReadonlyMap<MarketId, readonly CampaignRecord[]>>;
  /** Store APYs, one per token and UTC day: the latest of the day wins. One statement. */
  recordApys(chainId: ChainId, samples: readonly ApySample[]): Promise<void>;
  /** Read the daily APYs of a chain, oldest first. */
  readApys(chainId: ChainId, sinceMs: number): Promise<readonly DailyApy[]>;
  /** Remove rows that are expired or from the future, and return their number. */
  prune(): Promise<number>;
}

/** Create the repository of rates that providers do not keep. Every call may throw `UpstreamUnavailableError`. */
export function createRecordedRateRepository(db: Database, clock: Clock): RecordedRateRepository {
  return {
    async recordCampaigns(chainId, campaigns) {
      const rows = campaignRows(chainId, campaigns);
      if (rows.length === 0) return;
      await db
        .insertInto('incentive_campaigns')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['chain_id', 'market_id', 'side', 'campaign_id']).doUpdateSet((eb) => ({
            symbol: eb.ref('excluded.symbol'),
            starts_at: eb.ref('excluded.starts_at'),
            ends_at: eb.ref('excluded.ends_at'),
            steps: eb.ref('excluded.steps'),
          })),
        )
        .execute();
    },
    async readCampaigns(chainId, sinceMs) {
      const rows = await db
        .selectFrom('incentive_campaigns')
        .selectAll()
        .where('chain_id', '=', chainId)
        .where('ends_at', '>', new Date(sinceMs))
        .orderBy('starts_at')
        .orderBy('campaign_id')
        .execute();
      return campaignsOf(rows);
    },
    async recordApys(chainId, samples) {
      if (samples.length === 0) return;
      const rows = samples.map(({ token, atMs, apyPct }) => ({
        chain_id: chainId,
        token,
        day: new Date(Math.floor(atMs / DAY_MS) * DAY_MS),
        sampled_at: new Date(atMs),
        apy_pct: apyPct.toFixed(),
      }));
      await db
        .insertInto('apy_samples')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .columns(['chain_id', 'token', 'day'])
            .doUpdateSet((eb) => ({ sampled_at: eb.ref('excluded.sampled_at'), apy_pct: eb.ref('excluded.apy_pct') }))
            .where(replaces('apy_samples', clock.now())),
        )
        .execute();
    },
    async readApys(chainId, sinceMs) {
      const rows = await db
        .selectFrom('apy_samples')
        .select(['token', 'day', 'apy_pct'])
        .where('chain_id', '=', chainId)
        .where('day', '>=', new Date(sinceMs))
        .where('sampled_at', '<=', latestObserved(clock.now()))
        .orderBy('token')
        .orderBy('day')
        .execute();
      return rows.map(({ token, day, apy_pct }) => ({
        token: token as Address,
        dayMs: day.getTime(),
        apyPct: new Decimal(apy_pct),
      }));
    },
    async prune() {
      const nowMs = clock.now();
      const oldest = new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS);
      const campaigns = await db.deleteFrom('incentive_campaigns').where('ends_at', '<', oldest).executeTakeFirst();
      const apys = await db
        .deleteFrom('apy_samples')
        .where(({ eb, or }) => or([eb('day', '<', oldest), eb('sampled_at', '>', latestObserved(nowMs))]))
        .executeTakeFirst();
      return Number(campaigns.numDeletedRows) + Number(apys.numDeletedRows);
    },
  };
}

function campaignRows(chainId: ChainId, campaigns: ReadonlyMap<MarketId, readonly CampaignRecord[]>) {
  return [...campaigns].flatMap(([marketId, records]) =>
    records.map((record) => ({
      chain_id: chainId,
      market_id: marketId,
      side: record.side,
      campaign_id: record.id,
      symbol: record.symbol,
      starts_at: new Date(record.startsAtMs),
      ends_at: new Date(record.endsAtMs),
      steps: writeSteps(record.steps),
    })),
  );
}

/** Group rows by market. Rows that this version cannot read are left out. */
function campaignsOf(rows: readonly Selectable<IncentiveCampaignsTable>[]): Map<MarketId, CampaignRecord[]> {
  const byMarket = new Map<MarketId, CampaignRecord[]>();
  for (const row of rows) {
    const side = CAMPAIGN_SIDES.find((known) => known === row.side);
    const steps = readSteps(row.steps);
    if (!side || !steps) continue;
    const known = byMarket.get(row.market_id as MarketId) ?? [];
    byMarket.set(row.market_id as MarketId, known);
    known.push({
      id: row.campaign_id,
      side,
      symbol: row.symbol,
      startsAtMs: row.starts_at.getTime(),
      endsAtMs: row.ends_at.getTime(),
      steps,
    });
  }
  return byMarket;
}
