import { AdaptiveCurveIrmLib, MathLib } from '@morpho-org/blue-sdk';
import { collateralValueInLoan } from '../../../domain/leverage/flash-loan.ts';
import { type Decimal, HUNDRED } from '../../../shared/decimal.ts';
import type { RatePath, Reach, StressHolding, StressRates } from './types.ts';

/** When the LTV of a holding reaches each limit; `undefined` = a rate is not known, or the market has no adaptive curve. */
export interface LimitReach {
  readonly safe: Reach;
  readonly max: Reach;
  readonly liquidation: Reach;
}

const DAY_SEC = 86_400;
const YEAR_SEC = 31_536_000;
/** The longest step, and the share by which the rate at target may change within one: the SDK's mean of a step is exact enough. */
const MAX_STEP_SEC = 30 * DAY_SEC;
const MAX_ADAPTATION = 0.1;
/** After this the rate counts as settled; its limits are reached within 12 years from an error of 1 % of the target on. */
const SETTLED_SEC = 100 * YEAR_SEC;

const NEVER: Reach = { state: 'NEVER' };

/** A stretch of time with one drift of the logarithm of the LTV per second. The last one has no end. */
interface Stretch {
  readonly fromSec: number;
  readonly toSec: number;
  readonly perSec: number;
}

/**
 * Project when the LTV reaches the limits of a holding, at today's price: the debt grows by the borrow rate of the path, the
 * collateral by its own APY, until a principal token matures. Times are estimates; `ALREADY` is exact.
 * @returns `undefined` when a rate of the path is not known
 */
export function projectReach(holding: StressHolding, path: RatePath): LimitReach | undefined {
  const { rates, limits, debt } = holding;
  if (debt === 0n) return { safe: NEVER, max: NEVER, liquidation: NEVER };
  if (!rates) return undefined;
  const stretches = stretchesOf(holding, rates, path);
  if (!stretches) return undefined;
  const reach = (limitPct: Decimal) => reachOf(holding, limitPct, stretches);
  return { safe: reach(limits.safeLtvPct), max: reach(limits.maxLtvPct), liquidation: reach(limits.liquidationLtvPct) };
}

function reachOf({ collateral, debt, price }: StressHolding, limitPct: Decimal, stretches: readonly Stretch[]): Reach {
  const allowed = limitPct.times(collateralValueInLoan(collateral, price).toString()).div(HUNDRED);
  const used = allowed.isZero() ? null : allowed.div(debt.toString());
  if (used === null || used.lt(1)) return { state: 'ALREADY' };
  const missing = Math.log(used.toNumber());
  let drifted = 0;
  for (const { fromSec, toSec, perSec } of stretches) {
    const after = drifted + perSec * (toSec - fromSec);
    // The limit itself is not beyond it: an LTV that stays where it is never is.
    if (perSec > 0 && after > missing)
      return { state: 'IN_DAYS', days: (fromSec + (missing - drifted) / perSec) / DAY_SEC };
    drifted = after;
  }
  return NEVER;
}

function stretchesOf(holding: StressHolding, rates: StressRates, path: RatePath): readonly Stretch[] | undefined {
  const debt = debtStretches(rates, path);
  if (!debt) return undefined;
  const growth = Math.log1p(Math.max(rates.collateralApyPct.toNumber() / 100, -0.999_999)) / YEAR_SEC;
  const { maturity } = holding.market.collateral;
  const grownSec = maturity === undefined ? Number.POSITIVE_INFINITY : Math.max(0, maturity - holding.nowMs / 1_000);
  return debt.flatMap(({ fromSec, toSec, perSec }): Stretch[] => {
    const turnSec = Math.min(Math.max(grownSec, fromSec), toSec);
    return [
      { fromSec, toSec: turnSec, perSec: perSec - growth },
      { fromSec: turnSec, toSec, perSec },
    ].filter((stretch) => stretch.fromSec < stretch.toSec);
  });
}

/** The growth of the debt along a path; the rate of the adaptive curve is the SDK's, step by step until it has settled. */
function debtStretches({ borrowRate, curve }: StressRates, path: RatePath): readonly Stretch[] | undefined {
  const forever = (fromSec: number, rate: bigint): Stretch => ({
    fromSec,
    toSec: Number.POSITIVE_INFINITY,
    perSec: perSecOf(rate),
  });
  if (path === 'TODAYS_RATE') return [forever(0, borrowRate)];
  if (!curve) return undefined;
  const utilization = path === 'FULL_UTILIZATION' ? MathLib.WAD : curve.utilization;
  const stepSec = stepOf(utilization);
  const stretches: Stretch[] = [];
  let { rateAtTarget } = curve;
  let fromSec = 0;
  while (fromSec < SETTLED_SEC) {
    const { avgBorrowRate, endRateAtTarget } = AdaptiveCurveIrmLib.getBorrowRate(utilization, rateAtTarget, stepSec);
    if (endRateAtTarget === rateAtTarget) break;
    const toSec = fromSec + Number(stepSec);
    stretches.push({ fromSec, toSec, perSec: perSecOf(avgBorrowRate) });
    rateAtTarget = endRateAtTarget;
    fromSec = toSec;
  }
  const { endBorrowRate } = AdaptiveCurveIrmLib.getBorrowRate(utilization, rateAtTarget, 0n);
  return [...stretches, forever(fromSec, endBorrowRate)];
}

/** Steps are short where the curve moves fast: 17 hours without utilization and at full utilization. */
function stepOf(utilization: bigint): bigint {
  const { TARGET_UTILIZATION: target, ADJUSTMENT_SPEED: speed } = AdaptiveCurveIrmLib;
  const span = utilization > target ? MathLib.WAD - target : target;
  const error = Math.abs(Number(utilization - target)) / Number(span);
  const adaptation = perSecOf(speed) * error;
  return BigInt(Math.max(1, Math.floor(Math.min(MAX_STEP_SEC, MAX_ADAPTATION / Math.max(adaptation, 1e-18)))));
}

function perSecOf(rate: bigint): number {
  return Number(rate) / 1e18;
}
