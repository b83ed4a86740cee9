import type { Token } from '../../catalog/types.ts';
import { Decimal } from '../../shared/decimal.ts';
import { EXIT_SIZES_USD, type ExitSizeUsd, type ExitSweep } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { ExitTier, SpiralHints } from './types.ts';

/** Above this loss at the smallest size an exit counts as thin; losses at larger sizes do not matter then. Percent. */
const LISTING_MAX_PCT = 2;
/** Below this loss an exit of that size counts as clean, percent. */
const DEPTH_CLEAN_MAX_PCT = 1.5;
const LISTING_MAX = new Decimal(LISTING_MAX_PCT);
const DEPTH_CLEAN_MAX = new Decimal(DEPTH_CLEAN_MAX_PCT);

/** The largest clean size decides the tier. */
const TIER_OF_SIZE = [
  ['5000000', 'deep'],
  ['1000000', 'good'],
  ['500000', 'limited'],
] as const satisfies readonly (readonly [ExitSizeUsd, ExitTier])[];

/** Grade a sweep: deep (5M exits clean), good (1M), limited (500k), thin (only 100k, or more than 2 % at 100k, or no route). */
export function exitTier(sweep: ExitSweep): ExitTier {
  const smallest = sweep.slippagePct['100000'];
  if (smallest === null || smallest.gt(LISTING_MAX)) return 'thin';
  for (const [size, tier] of TIER_OF_SIZE) {
    if (sweep.slippagePct[size]?.lt(DEPTH_CLEAN_MAX)) return tier;
  }
  return 'thin';
}

/**
 * Return the largest measured size with a clean exit; `null` = none, also when only the smallest size loses too much.
 */
export function cleanExitSize(sweep: ExitSweep): ExitSizeUsd | null {
  const smallest = sweep.slippagePct['100000'];
  if (smallest === null || smallest.gt(LISTING_MAX)) return null;
  return EXIT_SIZES_USD.findLast((size) => sweep.slippagePct[size]?.lt(DEPTH_CLEAN_MAX)) ?? null;
}

/** Return the measured size that stands for a sale of this many USD: the next larger one. `undefined` = none is as large. */
export function measuredSize(usd: Decimal): ExitSizeUsd | undefined {
  return EXIT_SIZES_USD.find((measured) => usd.lte(measured));
}

/**
 * Return the percent lost by a sale of this many USD: that of the next larger measured size, because a smaller sale loses no
 * more. `null` = no route at that size, `undefined` = larger than every measured size.
 */
export function lossOfSale(sweep: ExitSweep, usd: Decimal): Decimal | null | undefined {
  const size = measuredSize(usd);
  return size && sweep.slippagePct[size];
}

/** Return the exit tier with the thresholds of its grading. */
export function exitTierHint(sweep: ExitSweep): TierHint {
  return HINTS[exitTier(sweep)];
}

type TierHint = Required<Pick<SpiralHints, 'exitLiquidityTier'>>;

const THRESHOLDS = { listingMaxPct: LISTING_MAX_PCT, depthCleanMaxPct: DEPTH_CLEAN_MAX_PCT } as const;
const hintOf = (value: ExitTier): TierHint => ({ exitLiquidityTier: { value, thresholds: THRESHOLDS } });
const HINTS: Readonly<Record<ExitTier, TierHint>> = {
  deep: hintOf('deep'),
  good: hintOf('good'),
  limited: hintOf('limited'),
  thin: hintOf('thin'),
};

/**
 * Check whether a token has no swap route: by the catalog, or because its sweep found none at any size. `null` = not measured.
 */
export function lacksRoute(token: Pick<Token, 'noSwapRoute'>, sweep: ExitSweep | undefined): boolean | null {
  if (token.noSwapRoute) return true;
  return sweep ? EXIT_SIZES_USD.every((size) => sweep.slippagePct[size] === null) : null;
}

/** Combine the results of several tokens that all have to be sold: one without a route is enough. */
export function anyLacksRoute(...known: readonly (boolean | null)[]): boolean | null {
  if (known.includes(true)) return true;
  return known.includes(null) ? null : false;
}

/** Format whether there is no route. Unknown is served as "no route" with a gap. */
export function formatNoRoute(field: string, known: boolean | null, missing: Gap | undefined, gaps: Gap[]): boolean {
  if (known !== null) return known;
  const why = missing ?? gap(field, 'NOT_MEASURED', 'It was not measured yet.');
  gaps.push({ ...why, field, message: `No route is assumed. ${why.message}` });
  return true;
}

/** Explain each size without a route. */
export function explainExit(sweep: ExitSweep, gaps: Gap[]): void {
  for (const size of EXIT_SIZES_USD) {
    if (sweep.slippagePct[size] !== null) continue;
    gaps.push(gap(`exitLiquidity.slippages.${size}`, 'NONE', 'There is no route at this size.'));
  }
}
