import { DAY_MS } from '../apy/series.ts';
import { nextChangeMs, type RenderedStamp, renderStamp } from '../freshness/stamp.ts';
import type { Strategy } from './types.ts';

/** The fields of a strategy that change with time alone. */
export interface RenderedStrategyTime {
  /** Whole days until maturity, 0 from maturity on; `null` for a token that does not mature. */
  readonly maturityDaysLeft: number | null;
  readonly freshness: {
    readonly borrow: RenderedStamp;
    readonly collateralApy: RenderedStamp;
    readonly exitLiquidity: RenderedStamp;
    readonly oracle: RenderedStamp;
  };
}

/** Render what depends on the moment; everything else of a strategy is ready to show. */
export function renderStrategy(strategy: Strategy, nowMs: number): RenderedStrategyTime {
  const { borrow, collateralApy, exitLiquidity, oracle } = strategy.freshness;
  return {
    maturityDaysLeft: maturityDaysLeft(strategy.collateral.maturity, nowMs),
    freshness: {
      borrow: renderStamp(borrow, nowMs),
      collateralApy: renderStamp(collateralApy, nowMs),
      exitLiquidity: renderStamp(exitLiquidity, nowMs),
      oracle: renderStamp(oracle, nowMs),
    },
  };
}

/** Count the whole days until a maturity in unix seconds. */
export function maturityDaysLeft(maturity: number | null, nowMs: number): number | null {
  if (maturity === null) return null;
  return Math.max(0, Math.floor((maturity * 1_000 - nowMs) / DAY_MS));
}

/** Tell the first later moment at which the rendering of this strategy reads differently, ms. */
export function validUntilMs(strategy: Strategy, nowMs: number): number {
  const { freshness, collateral } = strategy;
  const stamps = [freshness.borrow, freshness.collateralApy, freshness.exitLiquidity, freshness.oracle];
  const next = nextChangeMs(stamps, nowMs) ?? Number.POSITIVE_INFINITY;
  const days = maturityDaysLeft(collateral.maturity, nowMs);
  if (collateral.maturity === null || days === null || days === 0) return next;
  return Math.min(next, collateral.maturity * 1_000 - days * DAY_MS + 1);
}
