import { z } from 'zod';
import { MAX_DECIMALS } from '../../catalog/schema.ts';
import { raw } from '../raw.ts';

/** An amount of base units, at most a uint256. */
const baseUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

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
export type UserRewards = z.infer<typeof userRewardsSchema>;
export type CampaignMetrics = z.infer<typeof metricsSchema>;

/** `GET /users/{address}/rewards`: per chain, amounts in base units. `amount` is cumulative. */
export const userRewardsSchema = z.array(
  z.object({
    chain: z.object({ id: z.number() }),
    rewards: z.array(
      z.object({
        token: z.object({
          address: z.string(),
          symbol: z.string().min(1),
          decimals: z.int().min(0).max(MAX_DECIMALS),
        }),
        amount: baseUnits,
        claimed: baseUnits,
        pending: baseUnits,
      }),
    ),
  }),
);
