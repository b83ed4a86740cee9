import { MAX_WARNINGS } from '../../domain/plausibility/types.ts';
import type { FormattedClosing } from '../../domain/position/closing.ts';
import type { Position, PositionExit, PositionStatus } from '../../domain/position/types.ts';
import { POSITION_KEY } from '../../resolvers/common/global-id.ts';
import { holdingGaps } from '../../resolvers/position/position-gaps.ts';
import { type ExplorerLinks, explorerLinksOf, openedAtOf, pnlOf } from '../../resolvers/position/position-result.ts';
import { findPosition, manualModeCalls, strategyOf, tokensOfPosition } from '../../resolvers/position/positions.ts';
import { rewardsOf } from '../../resolvers/position/rewards.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { gapsOf } from '../common/gaps.ts';
import { defineNode } from '../common/node.ts';
import { FreshnessRef, ORACLE_PRICE_AS_OF, ReadAtRef } from '../common/stamp.ts';
import { WarningRef } from '../common/warning.ts';
import { ExitTierRef } from '../market/exit-liquidity.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { UnsignedCallRef } from '../transaction/call.ts';
import { PnlRef } from './pnl.ts';
import { PositionRewardsRef, REWARDS_COST } from './rewards.ts';

export const PositionStatusRef = builder.enumType('PositionStatus', {
  description: 'Life of a position.',
  values: enumValues<PositionStatus>({
    open: 'The position holds collateral.',
    closed: 'The owner closed the position.',
    liquidated:
      'The position was liquidated as a whole: the contract still calls it open, and it has no debt and collateral worth less than 0.01 USD. After a liquidation of a part it is open.',
  }),
});

const PositionExitRef = builder.objectRef<PositionExit>('PositionExitLiquidity').implement({
  description:
    'Liquidity for closing a position: the measured exit sizes of its collateral against its own size. `gaps` of the position explain a field that is `null`, e.g. `exitLiquidity.tier`.',
  fields: (t) => ({
    tier: t.expose('tier', { type: ExitTierRef, nullable: true, description: 'Grade of the collateral.' }),
    cleanExitSizeUsd: t.expose('cleanExitSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Largest measured size that sells under 1.5 % loss, whole USD.',
    }),
    unwindSizeUsd: t.expose('unwindSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'All collateral, which a close sells. USD with 2 places.',
    }),
    exceedsCleanExitSize: t.exposeBoolean('exceedsCleanExitSize', {
      nullable: true,
      description: 'Whether closing at once would sell more than the clean exit size.',
    }),
    noSwapRoute: t.exposeBoolean('noSwapRoute', { description: 'Whether the collateral has no swap route at all.' }),
  }),
});

/** Description of the ratio by which the lending protocol decides on a liquidation. */
export const HEALTH_FACTOR =
  'Value of the collateral x liquidation LTV / debt, as Morpho defines it: a ratio, rounded down to 4 places. Below 1 it can be liquidated; without debt there is none.';

type Stamps = Partial<NonNullable<Position['freshness']>> &
  Pick<NonNullable<Position['freshness']>, 'borrow' | 'oracle'>;

export const PositionFreshnessRef = builder.objectRef<Stamps>('PositionFreshness').implement({
  description: 'Age of the market values that a position or vault is valued with. Holdings and debt are read live.',
  fields: (t) => ({
    borrow: t.expose('borrow', { type: FreshnessRef, description: 'Age of the borrow rate and interest.' }),
    oracle: t.expose('oracle', { type: FreshnessRef, description: 'Age of the oracle value.' }),
    collateralApy: t.expose('collateralApy', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the APY of the collateral; `null` = the stock leg of a vault, whose loops have their own.',
    }),
  }),
});

const USD_OF = (field: string) => `\`${field}\` in USD with 2 places.`;

const CloseNowRef = builder.objectRef<FormattedClosing>('PositionCloseNow').implement({
  description:
    "Result of closing a position now at the oracle price, by today's yield fee, without the loss of the sale, which only a plan has. Whole loan tokens unless stated otherwise. `gaps` of the position explain a field that is `null`.",
  fields: (t) => ({
    yieldFee: t.expose('yieldFee', {
      type: 'Decimal',
      description:
        'Fee of the contract on the value above the deposit basis, whole loan tokens; 0 on an uncorrelated market and at a loss. By the documented rate while that of the contract cannot be read, see `gaps`.',
    }),
    paysOut: t.expose('paysOut', {
      type: 'Decimal',
      description: 'Amount that is left after the debt and the fee, whole loan tokens; 0 under water.',
    }),
    pnlBeforeFee: t.expose('pnlBeforeFee', {
      type: 'Decimal',
      description:
        'Amount that is left after the debt, less the deposit basis of the position as it stands, whole loan tokens. Proceeds of parts that were sold before are not in it. Signed.',
    }),
    pnlAfterFee: t.expose('pnlAfterFee', {
      type: 'Decimal',
      description: '`pnlBeforeFee` less `yieldFee`, whole loan tokens. Signed.',
    }),
    yieldFeeUsd: t.expose('yieldFeeUsd', { type: 'Decimal', nullable: true, description: USD_OF('yieldFee') }),
    paysOutUsd: t.expose('paysOutUsd', { type: 'Decimal', nullable: true, description: USD_OF('paysOut') }),
    pnlBeforeFeeUsd: t.expose('pnlBeforeFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: `${USD_OF('pnlBeforeFee')} Signed.`,
    }),
    pnlAfterFeeUsd: t.expose('pnlAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: `${USD_OF('pnlAfterFee')} Signed.`,
    }),
  }),
});

export const PositionRef = builder.objectRef<Position>('Position');
defineNode(PositionRef, {
  key: POSITION_KEY,
  keyOf: ({ chainId, wallet, id }) => [chainId, wallet, id],
  load: ([chainId, wallet, index], ctx) => findPosition({ chainId, wallet, index }, ctx),
  scope: 'partner',
});

PositionRef.implement({
  description:
    'One leveraged position of a wallet, read live. Amounts are whole tokens. A ratio of a position that holds nothing does not exist; an unknown value is never 0: `gaps` tell of every field that is `null`.',
  fields: (t) => ({
    ...identityFields(t),
    ...amountFields(t),
    ...rateFields(t),
    ...contractFields(t),
    ...ageFields(t),
  }),
});

type Fields = Parameters<Parameters<typeof builder.objectFields<typeof PositionRef>>[1]>[0];

function identityFields(t: Fields) {
  return {
    positionIndex: t.exposeInt('id', {
      description: 'Index of the position among those of the wallet on chain, by which it is managed.',
    }),
    positionId: t.expose('positionId', {
      type: 'PositionId',
      description: 'Domain id: `{chainId}-{marketId}-{positionIndex}`.',
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'The owner.' }),
    proxy: t.expose('proxy', {
      type: 'Address',
      description: 'Contract that holds the collateral and owes the debt.',
    }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'The lending market.' }),
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'The strategy of the market.' }),
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'The strategy of the market; `null` = not measured yet, or not in the catalog.',
      resolve: (position, _args, ctx) => strategyOf(position, ctx),
    }),
    collateralToken: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The collateral.',
      resolve: (position, _args, ctx) => tokensOfPosition(position, ctx)?.collateral ?? null,
    }),
    loanToken: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The loan token.',
      resolve: (position, _args, ctx) => tokensOfPosition(position, ctx)?.loan ?? null,
    }),
    status: t.expose('status', { type: PositionStatusRef, description: 'Open, closed or liquidated.' }),
    open: t.exposeBoolean('open', { description: 'Whether the position holds collateral.' }),
    liquidated: t.exposeBoolean('liquidated', {
      description: 'Whether the position was liquidated as a whole. `history` has liquidations of a part.',
    }),
  };
}

function amountFields(t: Fields) {
  const amount = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });
  return {
    collateralAmount: t.expose('amountLeveragedCollateral', amount('All collateral. Whole tokens.')),
    netCollateralAmount: t.expose(
      'netCollateral',
      amount('Collateral less the debt at the oracle price, whole collateral tokens; negative under water.'),
    ),
    debtAmount: t.expose('amountLoan', amount('Debt with interest up to the block of the reading. Whole loan tokens.')),
    depositBasis: t.expose(
      'amountDepositedInLoanToken',
      amount(
        'Deposit basis as the contract counts it, whole loan tokens: paid in and repaid, less taken out and borrowed, never below 0. The yield fee is taken of the value above it.',
      ),
    ),
    returnedAmount: t.expose(
      'amountReturnedInLoanToken',
      amount('Amount that closing, of a part too, has paid out. Whole loan tokens.'),
    ),
    collateralUsd: t.expose(
      'collateralUsd',
      amount('Collateral by the oracle and the price of the loan token. USD with 2 places.'),
    ),
    debtUsd: t.expose('debtUsd', amount('Debt. USD with 2 places.')),
    netValueUsd: t.expose(
      'netValueUsd',
      amount(
        'Collateral less debt, USD rounded to 2 places, negative under water. `pnl.netValueUsd` is exact, and 0 under water. Signed.',
      ),
    ),
  };
}

function rateFields(t: Fields) {
  const pct = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });
  return {
    ltvPct: t.expose('ltvPct', pct('Debt over collateral value. Percent with 2 places.')),
    liquidationLtvPct: t.expose('liquidationLtvPct', pct('LTV at which the position can be liquidated. Percent.')),
    ltvHeadroomPct: t.expose('ltvHeadroomPct', pct('Percentage points of LTV left before liquidation. Signed.')),
    healthFactor: t.expose('healthFactor', pct(HEALTH_FACTOR)),
    leverage: t.expose('currentLeverage', pct('Leverage at the current LTV, a multiple of the equity, 1 place.')),
    leverageApyPct: t.expose(
      'currentLeverageApyPct',
      pct(
        'APY at the exact leverage of its LTV and the current rates, incentives (APRs) included as they are. Signed percent with 2 places.',
      ),
    ),
    liquidationPrice: t.expose(
      'liquidationPrice',
      pct('Loan tokens per collateral token at which the position can be liquidated.'),
    ),
    priceDropToLiquidationPct: t.expose(
      'priceDropToLiquidationPct',
      pct('Fall of the oracle price until liquidation, percent with 2 places; negative = it can be liquidated now.'),
    ),
  };
}

const ExplorerLinksRef = builder.objectRef<ExplorerLinks>('PositionExplorerLinks').implement({
  description: 'Pages of a position at the block explorer of its chain.',
  fields: (t) => ({
    walletUrl: t.expose('wallet', { type: 'URL', description: 'The owner.' }),
    proxyUrl: t.expose('proxy', {
      type: 'URL',
      description: 'The contract that holds the collateral and owes the debt.',
    }),
    blockUrl: t.expose('block', { type: 'URL', description: 'The block of the reading.' }),
  }),
});

function contractFields(t: Fields) {
  return {
    pnl: t.field({
      type: PnlRef,
      nullable: true,
      complexity: 5,
      description:
        'Profit and loss, from the chain and, for incentives, from the time at which the app registered the position. `gaps` of it explain every unknown part.',
      resolve: (position, _args, ctx) => pnlOf(position, ctx),
    }),
    rewards: t.field({
      type: PositionRewardsRef,
      complexity: REWARDS_COST,
      description:
        'What the position has earned by the record of the incentive provider, asked on demand: at most 60 times a minute.',
      resolve: (position, _args, ctx) => {
        ctx.countCall?.('Position.rewards');
        return rewardsOf(position, ctx);
      },
    }),
    explorerLinks: t.field({
      type: ExplorerLinksRef,
      nullable: true,
      description: 'Pages at the block explorer of the chain.',
      resolve: (position, _args, ctx) => explorerLinksOf(position, ctx),
    }),
    closeNow: t.expose('closeNow', {
      type: CloseNowRef,
      nullable: true,
      description: 'P&L before and after the fee, and the amount that closing now pays out.',
    }),
    manualMode: t.exposeBoolean('manualMode', {
      nullable: true,
      description:
        'Whether the owner of the product has put the position into manual mode, for good: only its own wallet acts on it then, and no plan does.',
    }),
    manualModeCalls: t.field({
      type: [UnsignedCallRef],
      nullable: true,
      complexity: { field: 1, multiplier: 4 },
      description: `In manual mode the unsigned calls that end the position, in order, at most 4: repay all of the debt at the lending protocol, with the interest of half an hour approved, and take the collateral out. \`null\` = not in manual mode, or not known, see \`manualMode\`.`,
      resolve: (position, _args, ctx) => manualModeCalls(position, ctx),
    }),
    exitLiquidity: t.expose('exitLiquidity', {
      type: PositionExitRef,
      nullable: true,
      description: 'Liquidity for closing the position; `null` = the position has ended.',
    }),
  };
}

function ageFields(t: Fields) {
  return {
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the app registered the position; the chain does not keep it.',
      resolve: async (position, _args, ctx) => {
        const openedAt = await openedAtOf(position, ctx);
        return typeof openedAt === 'number' ? openedAt : null;
      },
    }),
    freshness: t.expose('freshness', {
      type: PositionFreshnessRef,
      nullable: true,
      description: 'Age of the market values; `null` = none was used.',
    }),
    readAt: t.expose('readAt', {
      type: ReadAtRef,
      description:
        'Block of the reading: of holdings and debt, and of the price that values them unless `freshness` names an older one.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}.`,
      resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
    }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Warnings about the values that the position is valued with, at most ${MAX_WARNINGS}.`,
    }),
    gaps: t.field(gapsOf<Position>(holdingGaps)),
  };
}
