import type { Catalog } from '../../src/catalog/index.ts';
import type { PortfolioSample } from '../../src/domain/portfolio/report.ts';
import { Decimal, ZERO } from '../../src/shared/decimal.ts';
import { depositOf, endedAtMs, openedAtMs } from './registrations.ts';
import { seededWallets } from './wallets.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 31_536_000_000;
const EVERY_HOURS = 6;
const DAYS = 30;
/** Costs of opening and yearly incentives as shares of the deposit, close to the later values on chain. */
const ENTRY_COST = '0.004';
const INCENTIVES = '0.02';
/** A slow wave, so that the chart is not a straight line. */
const WAVE = 0.0012;

/** Values of the portfolios of the local world in the month before its start, ending close to the values on chain. */
export function seededSamples(catalog: Catalog, nowMs: number): readonly PortfolioSample[] {
  const lives = catalog.chains.flatMap((chain) =>
    seededWallets.flatMap(({ entries }) =>
      entries
        .filter(({ chainId }) => chainId === chain.chainId)
        .map((entry, id) => ({
          chainId: chain.chainId,
          deposit: depositOf(chain, entry).usd,
          openedAtMs: openedAtMs(id, nowMs),
          status: entry.kind === 'loop' ? entry.status : 'open',
        })),
    ),
  );
  const moments = Array.from({ length: (DAYS * 24) / EVERY_HOURS }, (_, i) => nowMs - (i + 1) * EVERY_HOURS * HOUR_MS);
  return moments.flatMap((atMs) =>
    catalog.chains.map(({ chainId }): PortfolioSample => {
      let [depositedUsd, netValueUsd, incentivesUsd, totalUsd] = [ZERO, ZERO, ZERO, ZERO];
      const known = lives.filter((life) => life.chainId === chainId && life.openedAtMs <= atMs);
      for (const { deposit, status, openedAtMs: sinceMs } of known) {
        const hasEnded = status !== 'open' && atMs >= endedAtMs(nowMs);
        const lifeMs = Math.min(atMs, hasEnded ? endedAtMs(nowMs) : atMs) - sinceMs;
        const wave = new Decimal((WAVE * Math.sin(atMs / (40 * HOUR_MS))).toFixed(6));
        const value = deposit.times(new Decimal(1).minus(ENTRY_COST).plus(hasEnded ? 0 : wave));
        const incentives = deposit.times(INCENTIVES).times(lifeMs).div(YEAR_MS).decimalPlaces(6);
        const remaining = hasEnded && status === 'liquidated' ? ZERO : value;
        depositedUsd = depositedUsd.plus(deposit);
        netValueUsd = netValueUsd.plus(hasEnded ? 0 : value);
        incentivesUsd = incentivesUsd.plus(incentives);
        totalUsd = totalUsd.plus(remaining).minus(deposit).plus(incentives);
      }
      return { chainId, atMs, positions: known.length, depositedUsd, netValueUsd, incentivesUsd, totalUsd };
    }),
  );
}
