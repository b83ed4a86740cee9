import { NOW_MS } from '../../../../../test/domain/world.ts';
import { EXIT_SIZES_USD } from '../../../../domain/facts.ts';
import type { ComposedMarket } from '../../../../domain/market/types.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { openedHolding } from '../../domain/holding.ts';
import type { BestRequest } from '../../domain/rank.ts';
import { stressRow } from '../../domain/rows.ts';

export const request = (over: Partial<BestRequest> = {}): BestRequest => ({
  amountUsd: new Decimal(10_000),
  paysCollateral: false,
  maxDrawdownPct: new Decimal(5),
  minExitUsd: new Decimal(100_000),
  holdingDays: 90,
  nowMs: NOW_MS,
  referralBps: 5,
  ...over,
});

/** The position that a leverage opens for a payment in the collateral; `undefined` = a swap is of no measured size. */
export function openedAt(of: ComposedMarket, { amountUsd, referralBps, nowMs }: BestRequest, leverage: Decimal) {
  const lossOf = (usd: Decimal) =>
    of.facts.exitLiquidity?.value.slippagePct[EXIT_SIZES_USD.find((size) => usd.lte(size)) ?? '5000000'];
  const cost = (pct: Decimal, usd: Decimal, bps: number) =>
    Decimal.max(pct, 0)
      .plus(bps / 100)
      .times(usd)
      .div(100);
  const flash = amountUsd.times(leverage.minus(1));
  const [entryPct, loanUsd] = [lossOf(flash), of.loanPrice?.value.usd];
  if (!entryPct || !loanUsd) return undefined;
  const equity = amountUsd.minus(cost(entryPct, flash, referralBps));
  const exitPct = lossOf(equity.times(leverage));
  const holding = openedHolding(of, { leverage, equity: equity.div(loanUsd), nowMs });
  return exitPct && { equity, holding, exitCost: cost(exitPct, equity.times(leverage), 0) };
}

/** The result of a leverage by the formula of the documents, without campaigns. */
export function resultAt(of: ComposedMarket, asked: BestRequest, leverage: Decimal): Decimal | undefined {
  const { amountUsd, holdingDays } = asked;
  const opened = openedAt(of, asked, leverage);
  const { netApyPct } = opened ? stressRow(opened.holding, { scenario: 'TODAY' }) : {};
  if (!opened || !netApyPct) return undefined;
  const carry = opened.equity.times(netApyPct).div(100).times(holdingDays).div(365);
  const gain = opened.equity.plus(carry).minus(opened.exitCost).minus(amountUsd);
  const fee = gain.gt(0) && of.fees.isCorrelated ? new Decimal(`${of.fees.yieldFee}e-18`) : 0;
  return gain.minus(gain.times(fee)).times(100).div(amountUsd).times(365).div(holdingDays);
}
