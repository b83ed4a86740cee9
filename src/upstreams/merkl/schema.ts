import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /campaigns`: one page. */
export const pageSchema = z.array(z.unknown());

/** The part of a row that identifies its market. */
export const campaignKeySchema = z.object({ params: z.object({ market: z.string() }) });

const id = z.union([z.string().min(1), z.number()]).transform(String);

/** The part of a row that is read even if the rest cannot be. */
export const headSchema = z.object({
  id: id.optional().catch(undefined),
  startTimestamp: raw,
  endTimestamp: raw,
});

/** The fields that say who may earn a campaign, and whether its reward can be sold. */
export const eligibilitySchema = z.object({
  isTest: raw,
  params: z.object({ whitelist: raw }),
  rewardToken: z.object({ type: raw, isTest: raw, price: raw }),
});

export const campaignSchema = z.object({
  id,
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
