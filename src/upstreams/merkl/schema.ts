import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /campaigns`: one page. */
export const pageSchema = z.array(z.unknown());

/** The part of a row that identifies its market. */
export const campaignKeySchema = z.object({ params: z.object({ market: z.string() }) });

export const campaignSchema = z.object({
  id: z.union([z.string().min(1), z.number()]).transform(String),
  opportunityId: z.union([z.string(), z.number()]).transform(String).nullish().catch(undefined),
  /** Percent. */
  apr: raw,
  startTimestamp: raw,
  endTimestamp: raw,
  rewardToken: z.object({ symbol: z.string().min(1) }),
});

/** `GET /campaigns/{id}/metrics`: unix seconds, percent. */
export const metricsSchema = z.object({
  aprRecords: z.array(z.object({ timestamp: raw, apr: raw }).catch({})),
});
export type CampaignMetrics = z.infer<typeof metricsSchema>;
