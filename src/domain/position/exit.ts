import { type Decimal, toFixedHalfUp } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { PositionMarketValues } from '../market/at-block.ts';
import { cleanExitSize, exitTier, formatNoRoute, lacksRoute } from '../strategy/exit.ts';
import type { PositionExit } from './types.ts';

const SWEEP_FIELDS = [
  'exitLiquidity.tier',
  'exitLiquidity.cleanExitSizeUsd',
  'exitLiquidity.exceedsCleanExitSize',
] as const;

/**
 * Compare the size of an exit (all collateral, in USD) with the largest size that was measured as clean.
 * @param collateralUsd `null` while the collateral has no value in USD; `netValueUsd` has the gap for that.
 */
export function positionExit(composed: PositionMarketValues, collateralUsd: Decimal | null, gaps: Gap[]): PositionExit {
  const sweep = composed.facts.exitLiquidity?.value;
  const unwind = collateralUsd === null ? {} : { unwindSizeUsd: toFixedHalfUp(collateralUsd, 2) };
  if (!sweep) {
    const known = composed.gaps.find(({ field }) => field === 'exitLiquidity');
    const missing = known ?? gap('exitLiquidity', 'NOT_MEASURED', 'It was not measured yet.');
    for (const field of SWEEP_FIELDS) gaps.push({ ...missing, field });
    return { ...unwind, noSwapRoute: noRoute(composed, missing, gaps) };
  }
  const clean = cleanExitSize(sweep);
  if (clean === null) {
    const measuredMs = composed.facts.exitLiquidity?.asOfMs;
    gaps.push(gap('exitLiquidity.cleanExitSizeUsd', 'NONE', 'Every measured size loses too much.', measuredMs));
  }
  return {
    tier: exitTier(sweep),
    cleanExitSizeUsd: clean,
    ...unwind,
    exceedsCleanExitSize: collateralUsd?.gt(Number(clean ?? 0)),
    noSwapRoute: noRoute(composed, undefined, gaps),
  };
}

function noRoute({ market, facts }: PositionMarketValues, missing: Gap | undefined, gaps: Gap[]): boolean {
  const known = lacksRoute(market.collateral, facts.exitLiquidity?.value);
  return formatNoRoute('exitLiquidity.noSwapRoute', known, missing, gaps);
}
