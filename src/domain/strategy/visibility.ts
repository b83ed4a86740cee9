import type { Token } from '../../catalog/types.ts';
import { Decimal, formatPct, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';
import { DAY_MS } from '../apy/series.ts';
import type { ComposedMarket } from '../market/types.ts';
import type { Visibility, VisibilityCheck } from './types.ts';

export interface ListingRules {
  /** A principal token is listed only with more than this many days to its maturity. */
  readonly minDaysToMaturity: number;
  /** A market is listed only with more liquidity than this. */
  readonly minLiquidityUsd: Decimal;
}

export interface VisibilityInput {
  /** The market that is borrowed from; its liquidity counts. */
  readonly market: ComposedMarket;
  /** Yields in percent, of which at least one has to be above zero. `undefined` = not known. */
  readonly yieldsPct: readonly (Decimal | undefined)[];
  /** Uncorrelated markets and equity vaults are listed without a yield of their own. */
  readonly needsYield: boolean;
  /** `null` = not known. */
  readonly lacksRoute: boolean | null;
  /** The token whose maturity counts. */
  readonly maturing: Token;
  readonly nowMs: number;
  /** Results of the rules about the deployed contract. */
  readonly deployment: readonly VisibilityCheck[];
}

const ROUTE: VisibilityCheck = { name: 'swap_route', passed: true, value: 'available', threshold: null };
const UNKNOWN_ROUTE: VisibilityCheck = { name: 'swap_route', passed: true, value: null, threshold: null };
const NO_ROUTE: VisibilityCheck = { name: 'swap_route', passed: false, value: 'none', threshold: null };
const NO_MATURITY: VisibilityCheck = { name: 'maturity', passed: true, value: null, threshold: null };

/** Decide whether a strategy is listed, and keep every check with its value and threshold. */
export function visibilityOf(input: VisibilityInput, rules: ListingRules): Visibility {
  const checks = [
    yieldCheck(input),
    routeCheck(input),
    maturityCheck(input, rules),
    liquidityCheck(input, rules),
    ...input.deployment,
  ];
  return { visible: checks.every((check) => check.passed), checks };
}

/** The rule passes if no known yield is above zero but at least one is unknown. */
function yieldCheck({ yieldsPct, needsYield }: VisibilityInput): VisibilityCheck {
  const known = yieldsPct.filter((pct) => pct !== undefined);
  const largestPct = known.length === 0 ? undefined : Decimal.max(...known);
  const isUnknown = known.length < yieldsPct.length && !largestPct?.gt(ZERO);
  return {
    name: 'has_yield',
    passed: !needsYield || isUnknown || (largestPct?.gt(ZERO) ?? false),
    value: isUnknown || largestPct === undefined ? null : formatPct(largestPct),
    threshold: needsYield ? '0' : null,
  };
}

/** A route that was never measured passes, because an open is quoted before it is built. */
function routeCheck({ lacksRoute }: VisibilityInput): VisibilityCheck {
  if (lacksRoute === null) return UNKNOWN_ROUTE;
  return lacksRoute ? NO_ROUTE : ROUTE;
}

function maturityCheck({ maturing, nowMs }: VisibilityInput, rules: ListingRules): VisibilityCheck {
  if (maturing.maturity === undefined) return NO_MATURITY;
  const leftMs = Math.max(0, maturing.maturity * 1_000 - nowMs);
  return {
    name: 'maturity',
    passed: leftMs > rules.minDaysToMaturity * DAY_MS,
    value: tenths(Math.floor((leftMs * 10) / DAY_MS)),
    threshold: String(rules.minDaysToMaturity),
  };
}

/**
 * Without a price of the loan token the USD value is unknown and `liquidityUsd` absent. Such a market stays listed while it has
 * liquidity in loan tokens, so that a failing price source does not empty the list.
 */
function liquidityCheck({ market }: VisibilityInput, rules: ListingRules): VisibilityCheck {
  const liquidityUsd = market.worst.liquidityUsd ?? market.liquidityUsd;
  return {
    name: 'liquidity',
    passed: liquidityUsd ? liquidityUsd.gt(rules.minLiquidityUsd) : market.liquidityAssets > 0n,
    value: liquidityUsd ? toFixedHalfUp(liquidityUsd, 2) : null,
    threshold: rules.minLiquidityUsd.toFixed(),
  };
}

function tenths(count: number): string {
  return `${Math.floor(count / 10)}.${count % 10}`;
}
