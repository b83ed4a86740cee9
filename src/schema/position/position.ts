import type { FormattedClosing } from '../../domain/position/closing.ts';
import type { Position, PositionExit, PositionStatus } from '../../domain/position/types.ts';
import { manualModeCalls, strategyOf } from '../../resolvers/position/positions.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { FreshnessRef, GapRef, ORACLE_PRICE_AS_OF, ReadAtRef } from '../common/stamp.ts';
import { WarningRef } from '../common/warning.ts';
import { StrategyRef } from '../refs.ts';
import { ExitTierRef } from '../strategy/strategy-parts.ts';
import { UnsignedCallRef } from '../transaction/call.ts';

const STATUS_DESCRIPTIONS: Record<PositionStatus, string> = {
  open: 'The position holds collateral.',
  closed: 'The owner closed the position.',
  liquidated: 'The position was liquidated: the contract still calls it open, and it holds nothing.',
};

export const PositionStatusRef = builder.enumType('PositionStatus', {
  description: 'State of a position in its life.',
  values: enumValues(STATUS_DESCRIPTIONS),
});

const PositionExitRef = builder.objectRef<PositionExit>('PositionExitLiquidity').implement({
  description: 'What closing the position would meet: the measured exit sizes of its collateral against its own size.',
  fields: (t) => ({
    tier: t.expose('tier', {
      type: ExitTierRef,
      nullable: true,
      description: 'Grade of the collateral; `null` = not measured.',
    }),
    cleanExitSizeUsd: t.expose('cleanExitSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Largest measured size that sells under 1.5 % loss, whole USD; `null` = none does, or see `gaps`.',
    }),
    unwindSizeUsd: t.expose('unwindSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'What closing would sell: all collateral, USD with 2 places; `null` = see `gaps`.',
    }),
    exceedsCleanExitSize: t.exposeBoolean('exceedsCleanExitSize', {
      nullable: true,
      description: 'Whether closing at once would sell more than that size; `null` = see `gaps`.',
    }),
    noSwapRoute: t.exposeBoolean('noSwapRoute', { description: 'Whether the collateral has no swap route at all.' }),
  }),
});

const PositionFreshnessRef = builder.objectRef<NonNullable<Position['freshness']>>('PositionFreshness').implement({
  description: 'Age of the market values that a position is valued with. What it holds is read live.',
  fields: (t) => ({
    borrow: t.expose('borrow', { type: FreshnessRef, description: 'Borrow rate and interest.' }),
    oracle: t.expose('oracle', { type: FreshnessRef, description: 'Oracle value.' }),
    collateralApy: t.expose('collateralApy', { type: FreshnessRef, description: 'APY of the collateral.' }),
  }),
});

const USD_OF = (field: string) => `\`${field}\` in USD with 2 places; \`null\` = see \`gaps\`.`;

const CloseNowRef = builder.objectRef<FormattedClosing>('PositionCloseNow').implement({
  description:
    "What closing the position now comes to at the oracle price, by today's yield fee: what the swap of the close loses is not in it, a build tells that. Whole loan tokens where not said otherwise.",
  fields: (t) => ({
    yieldFee: t.expose('yieldFee', {
      type: 'Decimal',
      description:
        'What the contract takes of what is above the deposit basis; 0 on an uncorrelated market and at a loss. By the documented rate while the contract does not tell its own, see `gaps`.',
    }),
    paysOut: t.expose('paysOut', {
      type: 'Decimal',
      description: 'What is left after the debt and the fee; 0 under water.',
    }),
    pnlBeforeFee: t.expose('pnlBeforeFee', {
      type: 'Decimal',
      description:
        'What is left after the debt, less the deposit basis: of what stands in the position now. What parts sold before have brought is not in it.',
    }),
    pnlAfterFee: t.expose('pnlAfterFee', { type: 'Decimal', description: 'The same less the fee.' }),
    yieldFeeUsd: t.expose('yieldFeeUsd', { type: 'Decimal', nullable: true, description: USD_OF('yieldFee') }),
    paysOutUsd: t.expose('paysOutUsd', { type: 'Decimal', nullable: true, description: USD_OF('paysOut') }),
    pnlBeforeFeeUsd: t.expose('pnlBeforeFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: USD_OF('pnlBeforeFee'),
    }),
    pnlAfterFeeUsd: t.expose('pnlAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: USD_OF('pnlAfterFee'),
    }),
  }),
});

export const PositionRef = builder.objectRef<Position>('Position').implement({
  description:
    'One leveraged position of a wallet. Amounts are whole tokens. A field that is `null` has its reason in `gaps`: a ratio of a position that holds nothing does not exist; what is not known is never 0.',
  fields: (t) => ({
    id: t.exposeInt('id', { description: 'Index in the array of the wallet on chain: what the manage builder takes.' }),
    positionId: t.exposeString('positionId', { description: '`{chainId}-{marketId}-{id}`.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain it lives on.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Its owner.' }),
    proxy: t.expose('proxy', { type: 'Address', description: 'Contract that holds its collateral and owes its debt.' }),
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'The strategy, which is its market.' }),
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'That strategy; `null` while it is not measured or not in the catalog.',
      resolve: (position, _args, ctx) => strategyOf(position, ctx),
    }),
    status: t.expose('status', { type: PositionStatusRef, description: 'Open, closed or liquidated.' }),
    open: t.exposeBoolean('open', { description: 'Whether it holds collateral.' }),
    liquidated: t.exposeBoolean('liquidated', { description: 'Whether it was liquidated.' }),
    collateralSymbol: t.exposeString('collateralSymbol', { nullable: true, description: 'Collateral token.' }),
    loanSymbol: t.exposeString('loanSymbol', { nullable: true, description: 'Loan token.' }),
    amountLeveragedCollateral: t.expose('amountLeveragedCollateral', {
      type: 'Decimal',
      nullable: true,
      description: 'All its collateral.',
    }),
    netCollateral: t.expose('netCollateral', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral less the debt at the oracle price, in collateral tokens; negative under water.',
    }),
    amountLoan: t.expose('amountLoan', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt in loan tokens, with interest up to the block of the reading.',
    }),
    ltvPct: t.expose('ltvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt over collateral value, percent with 2 places.',
    }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'LTV at which it can be liquidated, percent.',
    }),
    ltvHeadroomPct: t.expose('ltvHeadroomPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV left before liquidation.',
    }),
    currentLeverage: t.expose('currentLeverage', {
      type: 'Decimal',
      nullable: true,
      description: 'Leverage of its LTV, 1 place.',
    }),
    collateralUsd: t.expose('collateralUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral by the oracle and the price of the loan token, USD with 2 places.',
    }),
    debtUsd: t.expose('debtUsd', { type: 'Decimal', nullable: true, description: 'Debt, USD with 2 places.' }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral less debt, USD with 2 places.',
    }),
    currentLeverageApyPct: t.expose('currentLeverageApyPct', {
      type: 'Decimal',
      nullable: true,
      description:
        'APY at its current leverage and the rates of today, incentives (APRs) included as they are, signed percent with 2 places.',
    }),
    amountDepositedInLoanToken: t.expose('amountDepositedInLoanToken', {
      type: 'Decimal',
      nullable: true,
      description:
        'Deposit basis in loan tokens, as the contract counts it: what was put in and repaid, less what was taken out and borrowed, never below 0. The yield fee is taken of what is above it.',
    }),
    amountReturnedInLoanToken: t.expose('amountReturnedInLoanToken', {
      type: 'Decimal',
      nullable: true,
      description: 'What closing, of a part too, has paid out, in loan tokens.',
    }),
    liquidationPrice: t.expose('liquidationPrice', {
      type: 'Decimal',
      nullable: true,
      description: 'Loan tokens per collateral token at which it can be liquidated.',
    }),
    closeNow: t.expose('closeNow', {
      type: CloseNowRef,
      nullable: true,
      description: 'P&L before and after fee, and what closing it now pays out; `null` = it has ended, or see `gaps`.',
    }),
    manualMode: t.exposeBoolean('manualMode', {
      nullable: true,
      description:
        'Whether the owner of the product has put it into manual mode, for good: only its own wallet acts on it then, and no build does. `null` = it has ended, or its contract did not tell: see `gaps`.',
    }),
    manualModeCalls: t.field({
      type: [UnsignedCallRef],
      nullable: true,
      complexity: { field: 1, multiplier: 4 },
      description:
        'In manual mode the unsigned calls that end it, in order: repay all of the debt at the lending protocol, with the interest of half an hour approved, and take the collateral out. `null` = it is not in manual mode, or that is not known.',
      resolve: (position, _args, ctx) => manualModeCalls(position, ctx),
    }),
    exitLiquidity: t.expose('exitLiquidity', {
      type: PositionExitRef,
      nullable: true,
      description: 'What closing would meet; `null` on positions that ended.',
    }),
    freshness: t.expose('freshness', {
      type: PositionFreshnessRef,
      nullable: true,
      description: 'Age of the market values; `null` where none was used.',
    }),
    readAt: t.expose('readAt', {
      type: ReadAtRef,
      description:
        'Block at which it was read: what it holds, its debt, and the price that values it unless `freshness` names an older one.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}; \`null\` = it needs none, or this is not known: see \`gaps\`.`,
      resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
    }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'What to know of the values that it is valued with; empty when there is nothing.',
    }),
    gaps: t.expose('gaps', {
      type: [GapRef],
      complexity: { field: 1, multiplier: 5 },
      description: 'Every field that is `null`, and why.',
    }),
  }),
});
