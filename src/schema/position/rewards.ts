import type { RecordedReward } from '../../resolvers/common/services.ts';
import type { PositionRewards } from '../../resolvers/position/rewards.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { FreshnessRef } from '../common/stamp.ts';

/** Cost of a field that asks an upstream: a point of the budget. */
export const REWARDS_COST = 100;
/** Tokens of the rewards of a position. */
const MAX_REWARDS = 2_000;

const amount = (description: string, of: (reward: RecordedReward) => bigint) => ({
  type: 'Decimal' as const,
  description,
  resolve: (reward: RecordedReward) => formatUnitsPlain(of(reward), reward.token.decimals),
});

const RewardRef = builder.objectRef<RecordedReward>('PositionReward').implement({
  description: 'What a position has earned in one token, by the record of the incentive provider.',
  fields: (t) => ({
    tokenAddress: t.field({ type: 'Address', description: 'The token.', resolve: ({ token }) => token.address }),
    symbol: t.string({ description: 'Symbol of the token.', resolve: ({ token }) => token.symbol }),
    decimals: t.int({ description: 'Decimals of the token.', resolve: ({ token }) => token.decimals }),
    accruedAmount: t.field(
      amount('Credited so far, what was claimed included. Whole tokens.', ({ accrued }) => accrued),
    ),
    claimedAmount: t.field(amount('Claimed. Whole tokens.', ({ claimed }) => claimed)),
    pendingAmount: t.field(amount('Earned, and not credited yet. Whole tokens.', ({ pending }) => pending)),
  }),
});

export const PositionRewardsRef = builder.objectRef<PositionRewards>('PositionRewards').implement({
  description:
    'Rewards of a position, by the record of the incentive provider for the contract that holds it. The service builds no claim.',
  fields: (t) => ({
    entries: t.field({
      type: [RewardRef],
      nullable: true,
      complexity: { field: 1, multiplier: 3 },
      description: `One entry per token, at most ${MAX_REWARDS}; an empty list = the provider has credited nothing.`,
      resolve: ({ rewards }) => rewards?.slice(0, MAX_REWARDS) ?? null,
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the reading of the record.',
    }),
    isCollectable: t.boolean({
      nullable: true,
      description: 'Whether the owner can collect them. Not known of any position, see `gaps`.',
      resolve: () => null,
    }),
    gaps: t.field(gapsOf<PositionRewards>(({ gaps }) => gaps)),
  }),
});
