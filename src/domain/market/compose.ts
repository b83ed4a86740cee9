import { MarketUtils } from '@morpho-org/blue-sdk';
import type { CollateralApySource } from '../../catalog/schema.ts';
import type { Market } from '../../catalog/types.ts';
import { Decimal, ZERO } from '../../shared/decimal.ts';
import { borrowApyPctFromRate, borrowRateNow } from '../apy/rates.ts';
import { deploymentTerms, whyUnknown } from '../deployment/terms.ts';
import type { ContractDeployment } from '../deployment/types.ts';
import type { FactGroup, GroupState, SharedLiquidity } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { earliestStale, NEVER_MS, stampOf } from '../freshness/stamp.ts';
import type { Gap } from '../freshness/types.ts';
import { LIQUIDATION_BUFFER_POINTS } from '../leverage/limits.ts';
import { accrue } from './accrue.ts';
import type { CompositionContext } from './context.ts';
import { marketFeesOf } from './fees.ts';
import { averageHistory } from './history.ts';
import { runningIncentive } from './incentives.ts';
import { oracleDivergence } from './oracle-divergence.ts';
import { priceAgeGap, priceAsOfMs } from './price-age.ts';
import { loanPrice, tokenPrice } from './prices.ts';
import { sharedAssetsOf } from './shared-liquidity.ts';
import { bufferOf } from './statics.ts';
import type { ComposedMarket, ExcludedMarket } from './types.ts';
import { warningsOf, worstOf } from './warnings.ts';

export type MarketOutcome =
  | { readonly composed: ComposedMarket; readonly excluded?: never }
  | { readonly excluded: ExcludedMarket; readonly composed?: never };

/**
 * Compose one market from one version of the facts. Lending state and oracle are required, and the collateral APY unless
 * its source is `none` or the token has matured; a market without them is left out, with its reasons.
 */
export function composeMarket(market: Market, context: CompositionContext): MarketOutcome {
  const groups = context.facts.groups;
  const lendingState = groups.lendingState.items.get(market.id);
  const oracle = groups.oracle.items.get(market.oracle);
  const apySource = effectiveApySource(market, context.nowMs);
  const collateralApy = apySource === 'none' ? undefined : groups.collateralApy.items.get(market.collateral.address);
  if (!lendingState || !oracle || (apySource !== 'none' && !collateralApy)) {
    const waitingFor = [
      ...(lendingState ? [] : [waiting('lendingState', groups.lendingState, market.id)]),
      ...(oracle ? [] : [waiting('oracle', groups.oracle, market.oracle)]),
      ...(apySource === 'none' || collateralApy
        ? []
        : [waiting('collateralApy', groups.collateralApy, market.collateral.address)]),
    ];
    return {
      excluded: {
        marketId: market.id,
        symbol: `${market.collateral.displaySymbol}/${market.loan.symbol}`,
        waitingFor,
      },
    };
  }

  const gaps: Gap[] = [];
  const facts = factsOf(market, lendingState, oracle, collateralApy, context);
  const totals = accrue(lendingState.value);
  const liquidityAssets = floorAtZero(totals.totalSupplyAssets - totals.totalBorrowAssets);
  const borrowApyPct = borrowApyPctFromRate(borrowRateNow(lendingState.value));
  const borrowIncentive = runningIncentive(facts.incentives?.value, 'borrow', context.nowMs);
  const collateralIncentive = runningIncentive(facts.incentives?.value, 'collateral', context.nowMs);
  explainIncentive('borrowIncentive', borrowIncentive, market, context, gaps);
  explainIncentive('collateralIncentive', collateralIncentive, market, context, gaps);
  if (!facts.exitLiquidity) {
    const missing = gapOfGroup('exitLiquidity', groups.exitLiquidity, market.collateral.address);
    gaps.push(missing, { ...missing, field: 'freshness.exitLiquidity' });
  }
  const collateralApyPct = collateralApy?.value.apyPct ?? ZERO;
  const limits = context.limitsOf(market.lltv);
  const averaged = averageHistory({ market, facts, collateralApySource: apySource, limits }, context);
  const composed: Draft = {
    market,
    facts,
    totalSupplyAssets: totals.totalSupplyAssets,
    totalBorrowAssets: totals.totalBorrowAssets,
    totalSupplyShares: totals.totalSupplyShares,
    totalBorrowShares: totals.totalBorrowShares,
    liquidityAssets,
    utilization: MarketUtils.getUtilization(totals),
    borrowApyPct,
    netBorrowApyPct: borrowIncentive ? borrowApyPct.minus(borrowIncentive.aprPct) : borrowApyPct,
    collateralApySource: apySource,
    collateralApyPct,
    effectiveCollateralApyPct: collateralIncentive
      ? collateralApyPct.plus(collateralIncentive.aprPct)
      : collateralApyPct,
    liquidationLtvPct: limits.liquidationLtvPct,
    maxLtvPct: limits.maxLtvPct,
    safeLtvPct: limits.safeLtvPct,
    limits,
    fees: marketFeesOf(market, context.facts, context.feesByKind),
    history: averaged.history,
    averaged,
    stamps: {
      borrow: stampOf(lendingState, context.budgets.lendingState),
      oracle: stampOf(oracle, context.budgets.oracle),
      // Without a source for the yield, its stamp is that of the market.
      collateralApy: stampOf(collateralApy ?? lendingState, context.budgets.collateralApy[apySource]),
      exitLiquidity: stampOf(facts.exitLiquidity ?? { asOfMs: NEVER_MS }, context.budgets.exitLiquidity),
      prices: undefined,
      incentives: facts.incentives ? stampOf(facts.incentives, context.budgets.incentives) : undefined,
    },
    warnings: [],
    worst: {},
    gaps: [],
  };
  if (borrowIncentive !== undefined) composed.borrowIncentive = borrowIncentive;
  if (collateralIncentive !== undefined) composed.collateralIncentive = collateralIncentive;
  if (market.kind === 'loop') composed.deployment = deploymentTerms(market, context.facts, context.budgets);
  else gaps.push(NO_DEPLOYMENT);
  addPrices(composed, context, gaps);
  const diverging = oracleDivergence({
    market,
    oracle,
    loanUsd: composed.loanPrice?.value.usd,
    price: composed.collateralPrice,
  });
  if (diverging) composed.oracleDivergence = diverging;
  composed.warnings = warningsOf(composed, context);
  if (composed.warnings.length > 0) composed.worst = worstOf(composed, context);
  const undated = priceAgeGap(priceAsOfMs(composed.facts.oracle.value.feeds));
  if (undated) gaps.push(undated);
  explainInputs(composed, context, gaps);
  explainLimits(context, gaps);
  gaps.push(...composed.fees.gaps);
  gaps.push(...averaged.gaps);
  composed.gaps = gaps;
  return { composed };
}

const NO_DEPLOYMENT = gap('deployment', 'NOT_APPLICABLE', 'The contract opens no positions on it.');

/** A market under construction: optional fields are added once they are known. */
type Draft = Writable<Omit<ComposedMarket, 'stamps'>> & { readonly stamps: Writable<ComposedMarket['stamps']> };
type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Facts = Writable<ComposedMarket['facts']>;

/** Gather the facts of a market. Facts that were never measured are absent. */
function factsOf(
  market: Market,
  lendingState: Facts['lendingState'],
  oracle: Facts['oracle'],
  collateralApy: Facts['collateralApy'] | undefined,
  { facts: { groups } }: CompositionContext,
): ComposedMarket['facts'] {
  return {
    lendingState,
    oracle,
    collateralApy,
    incentives: groups.incentives.items.get(market.id),
    exitLiquidity: groups.exitLiquidity.items.get(market.collateral.address),
    sharedLiquidity: groups.sharedLiquidity.items.get(market.id),
    borrowHistory: groups.borrowHistory.items.get(market.id),
  };
}

/** A principal token earns nothing after its maturity, even if the latest reading of its source is a positive APY. */
function effectiveApySource(market: Market, nowMs: number): CollateralApySource {
  const { maturity, apySource } = market.collateral;
  return maturity !== undefined && nowMs >= maturity * 1_000 ? 'none' : apySource;
}

/** Add plausible prices and the USD values derived from them, and explain missing ones. */
function addPrices(composed: Draft, context: CompositionContext, gaps: Gap[]): void {
  const { market, liquidityAssets } = composed;
  const loan = loanPrice(market, context);
  const collateral = tokenPrice(market.collateral, 'collateralPrice', context);
  if (collateral.gap) gaps.push(collateral.gap);
  else composed.collateralPrice = collateral.price;
  const shared = sharedAssets(market, context);
  if (typeof shared !== 'bigint') gaps.push(shared);
  if (loan.gap) {
    gaps.push(loan.gap, { ...loan.gap, field: 'supplyUsd' }, { ...loan.gap, field: 'liquidityUsd' });
    if (typeof shared === 'bigint') gaps.push({ ...loan.gap, field: 'publicAllocatorLiquidityUsd' });
    return;
  }
  const usdPerUnit = loan.price.value.usd.shiftedBy(-market.loan.decimals);
  const usdOfUnits = (units: bigint) => new Decimal(units).times(usdPerUnit);
  composed.loanPrice = loan.price;
  composed.supplyUsd = usdOfUnits(composed.totalSupplyAssets);
  composed.liquidityUsd = usdOfUnits(liquidityAssets);
  if (typeof shared !== 'bigint') return;
  composed.publicAllocatorLiquidityUsd = shared === 0n ? composed.liquidityUsd : usdOfUnits(liquidityAssets + shared);
}

/** Sum the liquidity that the public allocator could move in, in loan base units, or explain why it is not known. */
function sharedAssets(market: Market, context: CompositionContext): bigint | Gap {
  const field = 'publicAllocatorLiquidityUsd';
  if (!context.chain.contracts.publicAllocator) {
    return gap(field, 'NOT_APPLICABLE', 'The protocol has no public allocator on this chain.');
  }
  const group: GroupState<SharedLiquidity> = context.facts.groups.sharedLiquidity;
  const fact = group.items.get(market.id);
  return fact
    ? sharedAssetsOf(fact.value, context.facts.groups.lendingState.items)
    : gapOfGroup(field, group, market.id);
}

/** Add the age of the prices and incentives, and a gap for values computed without an input. */
function explainInputs(composed: Draft, context: CompositionContext, gaps: Gap[]): void {
  const { market, stamps, collateralPrice: collateral, loanPrice: loan } = composed;
  const [first, ...others] = [loan, collateral].flatMap((price) =>
    price ? [stampOf(price, context.budgets.price)] : [],
  );
  if (first) stamps.prices = earliestStale(first, ...others);
  else gaps.push(gapOfGroup('freshness.prices', context.facts.groups.price, market.loan.address));
  if (stamps.incentives) return;
  const missing = gapOfGroup('freshness.incentives', context.facts.groups.incentives, market.id);
  gaps.push(missing);
  for (const field of ['netBorrowApyPct', 'effectiveCollateralApyPct']) {
    gaps.push({ ...missing, field, message: `No incentive is counted. ${missing.message}` });
  }
}

/** Add a gap when the limits use the documented buffer, because the contract's own is not known. */
function explainLimits({ facts }: CompositionContext, gaps: Gap[]): void {
  if (bufferOf(facts) !== undefined) return;
  gaps.push(...assumedLimits(facts.groups.deployment));
}

function assumedLimits(group: GroupState<ContractDeployment>): readonly Gap[] {
  const missing = whyUnknown(group, 'liquidationBuffer');
  const message = `The documented buffer of ${LIQUIDATION_BUFFER_POINTS.toFixed()} points below liquidation is used. ${missing.message}`;
  return ['ltvLimits.maxPct', 'ltvLimits.safePct'].map((field) => ({ ...missing, field, message }));
}

function explainIncentive(
  field: 'borrowIncentive' | 'collateralIncentive',
  incentive: object | null | undefined,
  market: Market,
  context: CompositionContext,
  gaps: Gap[],
): void {
  const group = context.facts.groups.incentives;
  if (incentive === null) gaps.push(gap(field, 'NONE', 'No campaign is running.', group.items.get(market.id)?.asOfMs));
  else if (!incentive) {
    const fact = group.items.get(market.id);
    const unread = 'Its campaigns could not be read.';
    const why = fact ? gap(field, 'SOURCE_FAILED', unread, fact.asOfMs) : gapOfGroup(field, group, market.id);
    gaps.push(why);
    if (!fact) return;
    const rate = field === 'borrowIncentive' ? 'netBorrowApyPct' : 'effectiveCollateralApyPct';
    gaps.push({ ...why, field: rate, message: `No incentive is counted. ${unread}` });
  }
}

function waiting(group: FactGroup, state: GroupState<unknown>, key: string): ExcludedMarket['waitingFor'][number] {
  return { group, reason: state.failures.get(key)?.reason ?? 'not_measured' };
}

function floorAtZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
