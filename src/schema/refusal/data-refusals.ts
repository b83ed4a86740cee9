import { SWAP_SOURCES } from '../../catalog/schema.ts';
import type { FactGroup } from '../../domain/facts.ts';
import { findCatalogToken, requireCatalogToken } from '../../resolvers/market/tokens.ts';
import type { LiquidityPlace, VenueAnswer } from '../../transactions/index.ts';
import {
  InsufficientLiquidityError,
  LimitExceededError,
  NoRouteError,
  StaleDataError,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { FactGroupRef } from '../common/fact-group.ts';
import { TokenRef } from '../refs.ts';
import { NamedValueRef } from '../transaction/call.ts';
import { SwapSourceRef, VenueReasonRef } from '../transaction/swap-source.ts';
import { detailsOf, RefusalRef } from './refusal.ts';

builder.objectType(StaleDataError, {
  name: 'StaleDataRefusal',
  interfaces: [RefusalRef],
  description:
    'Market state or the oracle price is past its freshness budget, or is of unknown age and contradicted by other prices: nothing is built on it. Reads continue.',
  fields: (t) => ({
    group: t.field({
      type: FactGroupRef,
      description: 'The group of facts that is too old.',
      resolve: (error) => detailsOf(error).group as FactGroup,
    }),
    asOf: t.field({
      type: 'DateTime',
      description: 'Time of the measurement; of a price of unknown age the time of the reading.',
      resolve: (error) => detailsOf(error).asOf,
    }),
    staleAfterSec: t.int({
      description: 'Freshness budget in seconds.',
      resolve: (error) => detailsOf(error).staleAfterSec,
    }),
    staleForSec: t.int({
      nullable: true,
      description: 'Seconds past the budget; `null` = the age itself is not known, see `deviationPct`.',
      resolve: (error) => {
        const { staleForSec, deviationPct } = detailsOf(error);
        return deviationPct === undefined ? staleForSec : null;
      },
    }),
    reference: t.string({
      nullable: true,
      description:
        "The oracle whose price is too old or of unknown age, in words; `null` = the reading of this service is too old, not the oracle's feed.",
      resolve: (error) => detailsOf(error).reference ?? null,
    }),
    feed: t.field({
      type: 'Address',
      nullable: true,
      description: 'The price feed behind the oracle that is past its heartbeat; `null` = no feed is.',
      resolve: (error) => detailsOf(error).feed ?? null,
    }),
    deviationPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Distance of an oracle price of unknown age from the USD prices of its tokens, percent; `null` = the age is known.',
      resolve: (error) => detailsOf(error).deviationPct ?? null,
    }),
  }),
});

const VenueAnswerRef = builder.objectRef<VenueAnswer>('VenueAnswer').implement({
  description: 'The answer of one swap venue.',
  fields: (t) => ({
    source: t.expose('source', { type: SwapSourceRef, description: 'The venue.' }),
    answer: t.field({
      type: VenueReasonRef,
      description: 'The answer.',
      resolve: ({ reason }) => reason,
    }),
  }),
});

builder.objectType(NoRouteError, {
  name: 'NoRouteRefusal',
  interfaces: [RefusalRef],
  description: 'No venue has a believable route for the pair at this size.',
  fields: (t) => ({
    tokenIn: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token to be sold; `null` = it is not curated.',
      resolve: (error, _args, ctx) => {
        const { chainId, tokenIn: address } = detailsOf(error);
        return findCatalogToken({ chainId, address }, ctx);
      },
    }),
    tokenInAddress: t.field({
      type: 'Address',
      description: 'Address of the token to be sold, also of one that is not curated.',
      resolve: (error) => detailsOf(error).tokenIn,
    }),
    tokenOut: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token to be bought; `null` = it is not curated.',
      resolve: (error, _args, ctx) => {
        const { chainId, tokenOut: address } = detailsOf(error);
        return findCatalogToken({ chainId, address }, ctx);
      },
    }),
    tokenOutAddress: t.field({
      type: 'Address',
      description: 'Address of the token to be bought, also of one that is not curated.',
      resolve: (error) => detailsOf(error).tokenOut,
    }),
    amountInUnits: t.field({
      type: 'BigInteger',
      description: 'Amount to be sold, base units of the token to be sold.',
      resolve: (error) => BigInt(detailsOf(error).amountIn),
    }),
    venues: t.field({
      type: [VenueAnswerRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Every venue that was asked, one entry per venue, at most ${SWAP_SOURCES.length}.`,
      resolve: (error) => [...detailsOf(error).venues],
    }),
  }),
});

const LiquidityPlaceRef = builder.enumType('LiquidityPlace', {
  description: 'The place at which liquidity falls short.',
  values: enumValues<LiquidityPlace>({
    market: 'One market: the amount that it lends, reallocation included.',
    protocol: 'The lending protocol: its holdings of the token over all markets, out of which flash loans are taken.',
  }),
});

builder.objectType(InsufficientLiquidityError, {
  name: 'InsufficientLiquidityRefusal',
  interfaces: [RefusalRef],
  description:
    'The market cannot lend the amount to be borrowed, not even with the liquidity that the public allocator could move, or the lending protocol does not hold the amounts that are lent at the same time.',
  fields: (t) => ({
    needed: t.field({
      type: 'Decimal',
      description: 'Amount that is needed. Whole loan tokens.',
      resolve: (error) => detailsOf(error).needed,
    }),
    available: t.field({
      type: 'Decimal',
      description: 'Amount that is there now. Whole loan tokens.',
      resolve: (error) => detailsOf(error).available,
    }),
    loanToken: t.field({
      type: TokenRef,
      description: 'The loan token of both amounts.',
      resolve: (error, _args, ctx) => requireCatalogToken(detailsOf(error).loan, ctx),
    }),
    place: t.field({
      type: LiquidityPlaceRef,
      description: 'Whether a market or the lending protocol falls short.',
      resolve: (error) => detailsOf(error).place,
    }),
    marketId: t.field({
      type: 'MarketId',
      nullable: true,
      description: 'The market that lacks the liquidity; `null` = the lending protocol lacks it.',
      resolve: (error) => detailsOf(error).marketId ?? null,
    }),
    maxAmount: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Largest `amount` that would pass with everything else as requested, whole tokens of the input; `null` = the action takes no amount.',
      resolve: (error) => detailsOf(error).maxAmount ?? null,
    }),
    maxLeverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Highest leverage that would do; `null` = the action takes an amount, see `maxAmount`.',
      resolve: (error) => detailsOf(error).maxLeverage ?? null,
    }),
    maxLtvPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Highest target LTV that would do, percent; `null` = the action takes an amount, see `maxAmount`.',
      resolve: (error) => detailsOf(error).maxLtvPct ?? null,
    }),
  }),
});

builder.objectType(LimitExceededError, {
  name: 'LimitExceededRefusal',
  interfaces: [RefusalRef],
  description: 'An input lies beyond a limit. It is refused and never lowered.',
  fields: (t) => ({
    field: t.string({
      description: 'Path of the input, e.g. `input.target.leverage`.',
      resolve: (error) => detailsOf(error).field,
    }),
    value: t.string({ description: 'The requested value.', resolve: (error) => detailsOf(error).value }),
    limits: t.field({
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 2 },
      description: `The limits by name, e.g. \`maxLeverage\`, \`maxLtvPct\`, \`maxAmount\`; at most 5.`,
      resolve: (error) => Object.entries(detailsOf(error).limit).map(([name, value]) => ({ name, value })),
    }),
  }),
});
