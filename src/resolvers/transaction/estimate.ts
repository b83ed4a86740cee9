import type { Token } from '../../catalog/types.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap, GapReason } from '../../domain/freshness/types.ts';
import { priceAgeGap } from '../../domain/market/price-age.ts';
import { type Decimal, formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import type { DepositPreview, FormattedCost } from '../../transactions/equity/index.ts';
import type {
  BuiltCall,
  Cost,
  EffectiveSlippage,
  Issue,
  PlanAction,
  PricedAt,
  TokenAmount,
} from '../../transactions/index.ts';
import { type CallView, formatCalls } from '../common/calls.ts';
import type { AppContext } from '../common/context.ts';
import { requireCatalogToken } from '../market/tokens.ts';
import { spelled } from './request-names.ts';

/** Everything that is previewed or planned. */
export type EstimateAction = PlanAction | 'equity_deposit' | 'equity_exit';

/** The outcome if every swap gives its minimum only; whole loan or deposit tokens, percent with 2 places. */
export interface WorstCaseView {
  readonly equity: string;
  readonly paidOut: string | null;
  readonly ltvPct: string | null;
  readonly yieldLtvPct: string | null;
}

/** The common part of previews and plans. */
export interface Estimate {
  readonly chainId: ChainId;
  readonly strategyId: StrategyId;
  readonly action: EstimateAction;
  /** The ratio of the calldata. */
  readonly slippage: Decimal;
  readonly costs: readonly FormattedCost[];
  /** Percent with 2 places. */
  readonly totalSwapCostPctOfEquity: string | null;
  readonly worstCase: WorstCaseView | null;
  readonly issues: readonly Issue[];
  readonly priced: PricedAt;
  /** Of every field of the preview or plan, its own ones included. */
  readonly gaps: readonly Gap[];
}

type Absence = readonly [field: string, value: unknown, reason: GapReason, message: string];

/** Create a gap for each absent value. */
export function absences(...fields: readonly Absence[]): readonly Gap[] {
  return fields.flatMap(([field, value, reason, message]) =>
    value === null || value === undefined ? [gap(field, reason, message)] : [],
  );
}

const NO_PRICE = 'Nothing prices the token in USD.';

/** List the gaps of the common part. */
export function estimateGaps({
  costs,
  totalSwapCostPctOfEquity,
  worstCase,
  priced,
}: Pick<Estimate, 'costs' | 'totalSwapCostPctOfEquity' | 'worstCase' | 'priced'>): readonly Gap[] {
  const age = priceAgeGap(priced.oraclePriceAsOfMs);
  return [
    ...absences(
      [
        'totalSwapCostOfEquityPct',
        totalSwapCostPctOfEquity,
        'NOT_MEASURED',
        'One of the swaps, or the equity, cannot be valued.',
      ],
      ['worstCase', worstCase, 'NOT_APPLICABLE', 'No position is left, and nothing is paid out.'],
      ['readAt', priced.readAt, 'NOT_MEASURED', 'The node did not tell the block.'],
      ...costs.flatMap(({ usd, pctOfEquity }, i): Absence[] => [
        [`costs.${i}.valueUsd`, usd, 'NOT_MEASURED', NO_PRICE],
        [`costs.${i}.shareOfEquityPct`, pctOfEquity, 'NOT_MEASURED', 'The cost cannot be valued against the equity.'],
      ]),
      ...(worstCase ? worstCaseAbsences(worstCase) : []),
    ),
    ...(age ? [age] : []),
  ];
}

function worstCaseAbsences({ paidOut, ltvPct, yieldLtvPct }: WorstCaseView): Absence[] {
  return [
    ['worstCase.paidOut', paidOut, 'NOT_APPLICABLE', 'The action pays nothing out.'],
    ['worstCase.ltvPct', ltvPct, 'NOT_APPLICABLE', 'No position is left.'],
    ['worstCase.yieldLtvPct', yieldLtvPct, 'NOT_APPLICABLE', 'No yield leg is opened.'],
  ];
}

/** Show costs with their amounts as text. */
export function formatCosts(costs: readonly Cost[]): readonly FormattedCost[] {
  return costs.map(({ kind, token, symbol, amount, usd, pctOfEquity }) => ({
    kind,
    token,
    symbol,
    amount: amount.decimalPlaces(18).toFixed(),
    usd: usd ? toFixedHalfUp(usd, 2) : undefined,
    pctOfEquity: pctOfEquity ? formatPct(pctOfEquity) : undefined,
  }));
}

/** The common part of a deposit, as its preview has it. */
export function depositEstimate(
  preview: DepositPreview,
  { slippage, issues }: Pick<Estimate, 'slippage' | 'issues'>,
): Estimate & { readonly worstCase: WorstCaseView } {
  const { chainId, strategyId, costs, totalSwapCostPctOfEquity = null } = preview;
  const { equity, ltv: ltvPct, yieldLtv: yieldLtvPct } = preview.worstCase;
  const worstCase = { equity, paidOut: null, ltvPct, yieldLtvPct };
  const common = { costs, totalSwapCostPctOfEquity, worstCase, priced: preview };
  return {
    ...common,
    chainId,
    strategyId,
    action: 'equity_deposit',
    slippage,
    issues,
    gaps: [...estimateGaps(common), ...depositGaps(preview)],
  };
}

function depositGaps({ stock, yieldLeg, liquidation, fees }: DepositPreview): readonly Gap[] {
  const unpriced = 'The USD price of the deposit token is not known.';
  const age = priceAgeGap(yieldLeg.oraclePriceAsOfMs);
  return [
    ...absences(
      ['deposit.stock.priceUsd', stock.priceUsd, 'NOT_MEASURED', unpriced],
      ['deposit.stock.liquidationPriceUsd', stock.liquidationPriceUsd, 'NOT_MEASURED', unpriced],
      ['deposit.stock.combined', stock.combined, 'NOT_APPLICABLE', 'A preview names no wallet.'],
      ['deposit.liquidation', liquidation, 'NONE', 'The stock leg owes nothing.'],
      ['deposit.fees.estimatedUsd', fees.estimatedFeeUsd, 'NOT_MEASURED', unpriced],
    ),
    ...(stock.combined
      ? absences([
          'deposit.stock.combined.liquidationPriceUsd',
          stock.combined.liquidationPriceUsd,
          'NOT_MEASURED',
          unpriced,
        ])
      : []),
    ...(age ? [{ ...age, field: `deposit.yieldLeg.${age.field}` }] : []),
  ];
}

/** One plan for one wallet. */
export interface PlanBaseView extends Estimate {
  readonly user: Address;
  /** In the order in which they are sent. */
  readonly calls: readonly CallView[];
  readonly atomicRequired: boolean;
  /** The wallet's gains in the simulation; `null` = see the gaps. */
  readonly received: readonly TokenAmount[] | null;
  /** When it has to be built anew, ms. */
  readonly expiresAtMs: number;
  readonly signingUrl: string | null;
  readonly instructions: string;
  readonly gasUsed: bigint | null;
}

/** A built transaction or batch, as far as every plan shows it. */
interface Built {
  readonly user: Address;
  readonly slippage: EffectiveSlippage;
  readonly issues: readonly Issue[];
  readonly signingUrl?: string | undefined;
  readonly gasUsed?: bigint | undefined;
  readonly instructions: string;
}

/** The fields of every plan that its build decides. */
export function planFields(
  { user, slippage, issues, signingUrl, gasUsed, instructions }: Built,
  calls: readonly BuiltCall[],
  ctx: AppContext,
) {
  return {
    user,
    calls: formatCalls(calls, user),
    slippage: slippage.value,
    issues: spelled(issues, ctx),
    signingUrl: signingUrl ?? null,
    instructions: spelled(instructions, ctx),
    gasUsed: gasUsed ?? null,
  };
}

/** An amount of a token of the catalog, base units. */
export interface AmountView {
  readonly token: Token;
  readonly amount: bigint;
}

/** Name the tokens that a plan pays out: those of its market or vault. */
export function receivedAmounts({ chainId, received }: PlanBaseView, ctx: AppContext): AmountView[] | null {
  if (received === null) return null;
  return received.map(({ token: { address }, amount }) => ({
    token: requireCatalogToken({ chainId, address }, ctx),
    amount,
  }));
}

/** List the gaps of a plan. */
export function planGaps({
  signingUrl,
  gasUsed,
  received,
}: {
  readonly signingUrl: unknown;
  readonly gasUsed: unknown;
  readonly received: unknown;
}): readonly Gap[] {
  const untried = 'The calls could not be simulated, see `issues`.';
  return absences(
    ['signingUrl', signingUrl, 'NONE', 'No app is configured.'],
    ['simulatedGas', gasUsed, 'NOT_MEASURED', untried],
    ['received', received, 'NOT_MEASURED', untried],
  );
}
