import { findCatalogToken } from '../../resolvers/market/tokens.ts';
import type { Estimate, EstimateAction, WorstCaseView } from '../../resolvers/transaction/estimate.ts';
import { MAX_COSTS } from '../../shared/contract/list-bounds.ts';
import { formatPct } from '../../shared/decimal.ts';
import type { FormattedCost } from '../../transactions/equity/index.ts';
import { type BeforeAfter, type CostKind, type Liquidation, MAX_SLIPPAGE } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { gapsOf } from '../common/gaps.ts';
import { ORACLE_PRICE_AS_OF, ReadAtRef } from '../common/stamp.ts';
import { TokenRef } from '../refs.ts';
import { bpsOfRatio, MAX_ISSUES, type OnChain, PlanIssueRef } from './plan-issue.ts';

const MAX_SLIPPAGE_BPS = bpsOfRatio(MAX_SLIPPAGE).toNumber();

const PlanActionRef = builder.enumType('PlanAction', {
  description: 'The action that a preview or plan is about.',
  values: enumValues<EstimateAction>({
    open_leverage: 'Open a leveraged position.',
    close: 'Close a position, or sell a part of it.',
    increase_leverage: 'Borrow more and swap it into collateral.',
    add_collateral: 'Add collateral to a position.',
    remove_collateral: 'Take collateral out of a position.',
    repay: 'Repay debt of a position.',
    borrow: 'Borrow more on a position, to the wallet.',
    equity_deposit: 'Deposit into an equity vault.',
    equity_exit: 'Leave an equity vault.',
  }),
});

const CostKindRef = builder.enumType('CostKind', {
  description: 'The purpose of a cost.',
  values: enumValues<CostKind>({
    ENTRY_SWAP: 'Loss of the swap of the pay token, at the reference price.',
    LEVERAGE_SWAP: 'Loss of the swap of the flash loan, at the oracle price.',
    EXIT_SWAP: 'Loss of the sale of collateral, at the oracle price.',
    STOCK_SWAP: "Loss of the swap into or out of a vault's stock, at the oracle price.",
    REFERRAL_FEE: 'Referral fee inside a swap.',
    REALLOCATION_FEE: 'Fee of vaults for moving liquidity into the market.',
    DEPOSIT_FEE: 'Fee of the contract on a deposit into an uncorrelated market.',
    YIELD_FEE: "Fee of the contract on the yield of a correlated market, at today's rate.",
  }),
});

const CostRef = builder.objectRef<FormattedCost & OnChain>('Cost').implement({
  description: 'One cost, paid at once. `gaps` of the preview or plan explain a field that is `null`.',
  fields: (t) => ({
    kind: t.expose('kind', { type: CostKindRef, description: 'The purpose of the cost.' }),
    token: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token that the amount is in.',
      resolve: ({ chainId, token: address }, _args, ctx) => findCatalogToken({ chainId, address }, ctx),
    }),
    tokenAddress: t.expose('token', {
      type: 'Address',
      description: 'Address of the token that the amount is in, also of one that is not curated.',
    }),
    symbol: t.exposeString('symbol', {
      description: 'Symbol of the token that the amount is in, also of one that is not curated.',
    }),
    amount: t.expose('amount', { type: 'Decimal', description: 'The cost in whole tokens. Signed.' }),
    valueUsd: t.expose('usd', {
      type: 'Decimal',
      nullable: true,
      description: 'The cost in USD with 2 places. Signed.',
    }),
    shareOfEquityPct: t.expose('pctOfEquity', {
      type: 'Decimal',
      nullable: true,
      description:
        'The cost in percent of the amount paid in, else of the value of the position or vault, with 2 places. Signed.',
    }),
  }),
});

const WorstCaseRef = builder.objectRef<WorstCaseView>('WorstCase').implement({
  description:
    'The result for the wallet when every swap gives its minimum only and the plan is sent a minute later, with the interest of that minute. `gaps` of the preview or plan explain a field that is `null`.',
  fields: (t) => ({
    equity: t.expose('equity', {
      type: 'Decimal',
      description:
        'Collateral less debt at the oracle price plus `paidOut`, whole loan tokens; of a vault the net value of both legs. Whole deposit tokens. Signed.',
    }),
    paidOut: t.expose('paidOut', {
      type: 'Decimal',
      nullable: true,
      description:
        'The part of `equity` that goes to the wallet, fees of the contract taken off, whole loan tokens, of a vault deposit tokens; the rest is left in the position.',
    }),
    ltvPct: t.expose('ltvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'LTV of the position, or of the stock leg of a vault. Percent with 2 places.',
    }),
    yieldLtvPct: t.expose('yieldLtvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'LTV of the yield leg of a vault. Percent with 2 places.',
    }),
  }),
});

export const LiquidationRef = builder
  .objectRef<{ readonly price: string; readonly dropPct: string }>('LiquidationPoint')
  .implement({
    description: 'The price at which a position or the stock leg of a vault could be liquidated.',
    fields: (t) => ({
      liquidationPrice: t.expose('price', {
        type: 'Decimal',
        description: 'Oracle price, loan tokens per collateral token; of a vault deposit tokens per stock token.',
      }),
      priceDropPct: t.expose('dropPct', {
        type: 'Decimal',
        description: 'Fall of the price until then. Percent with 2 places. Signed.',
      }),
    }),
  });

/** Show where a position could be liquidated. */
export function formatLiquidation(point: Liquidation | null): { price: string; dropPct: string } | null {
  return point && { price: point.price.precision(12).toFixed(), dropPct: formatPct(point.dropPct) };
}

export const RateChangeRef = builder.objectRef<BeforeAfter>('RateChange').implement({
  description: 'A rate before and after an action.',
  fields: (t) => ({
    beforePct: t.field({
      type: 'Decimal',
      description: 'The current rate. Percent with 4 places.',
      resolve: ({ before }) => formatPct(before, 4),
    }),
    afterPct: t.field({
      type: 'Decimal',
      description: 'The rate after the action. Percent with 4 places.',
      resolve: ({ after }) => formatPct(after, 4),
    }),
  }),
});

/** The worst case where there always is one. */
export const WORST_CASE = {
  type: WorstCaseRef,
  description: 'The result for the wallet when every swap gives its minimum only.',
} as const;

/** The action of a preview or plan that is about some actions only; without any, about all. */
export function planAction(...actions: readonly EstimateAction[]) {
  return {
    type: PlanActionRef,
    description: 'The action.',
    extensions: actions.length === 0 ? {} : { jsonSchema: { enum: actions } },
  } as const;
}

export const EstimateRef = builder.interfaceRef<Estimate>('Estimate').implement({
  description: 'The part that every preview and every plan has.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'The strategy: a market or a vault.' }),
    action: t.expose('action', planAction()),
    effectiveSlippageBps: t.field({
      type: 'Decimal',
      description:
        'Slippage that holds in the calldata, basis points: the requested one, or the part of it that a limit of the contracts leaves.',
      extensions: { jsonSchema: { exclusiveMinimum: 0, maximum: MAX_SLIPPAGE_BPS } },
      resolve: ({ slippage }) => bpsOfRatio(slippage),
    }),
    costs: t.field({
      type: [CostRef],
      complexity: { field: 1, multiplier: 4 },
      description: `The costs that are paid at once, one per kind and swap, at most ${MAX_COSTS} with every loop of a vault; empty where nothing is swapped and no fee is due.`,
      resolve: ({ costs, chainId }) => costs.map((cost) => ({ ...cost, chainId })),
    }),
    totalSwapCostOfEquityPct: t.expose('totalSwapCostPctOfEquity', {
      type: 'Decimal',
      nullable: true,
      description:
        'Loss of all swaps together, their referral fees and the fee for moving liquidity included, percent of the equity with 2 places. Signed.',
    }),
    worstCase: t.expose('worstCase', { ...WORST_CASE, nullable: true }),
    issues: t.field({
      type: [PlanIssueRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Everything to know or to do before signing, at most ${MAX_ISSUES}.`,
      resolve: ({ issues, chainId }) => issues.map((issue) => ({ ...issue, chainId })),
    }),
    readAt: t.field({
      type: ReadAtRef,
      nullable: true,
      description: 'Block at which the prices and debts behind the numbers were read.',
      resolve: ({ priced }) => priced.readAt ?? null,
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}; of a vault the oracle of the stock.`,
      resolve: ({ priced }) => priced.oraclePriceAsOfMs ?? null,
    }),
    gaps: t.field(
      gapsOf<Estimate>(({ gaps }) => gaps, 'Every field of the preview or plan, and of its parts, that is `null`'),
    ),
  }),
});
