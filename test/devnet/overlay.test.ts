import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOverlay, overlayMaturity } from '../../devnet/overlay.ts';
import { tokenSeed } from '../../devnet/seed/tokens.ts';
import { createCatalog, curatedChains, overlaySchema } from '../../src/catalog/index.ts';

const DAY = 86_400_000;
const dates = fc.date({ min: new Date('2024-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
const catalogAt = (now: number) => createCatalog(curatedChains, createOverlay(now));

describe('overlayMaturity', () => {
  it('default: the last Thursday of a month, half a year ahead', () => {
    const maturityOf = (date: string) => new Date(overlayMaturity(Date.parse(date)) * 1000).toISOString().slice(0, 10);
    expect(maturityOf('2026-11-20')).toBe('2027-05-27');
    expect(maturityOf('2026-08-31T23:59:59Z')).toBe('2027-03-25');
    expect(maturityOf('2026-12-30')).toBe('2027-07-29');
  });

  it('behavior: always a last Thursday at midnight UTC, six to eight months ahead', () => {
    fc.assert(
      fc.property(dates, (date) => {
        const maturity = new Date(overlayMaturity(date.getTime()) * 1000);
        expect(maturity.getUTCDay()).toBe(4);
        expect(maturity.getTime() % DAY).toBe(0);
        expect(new Date(maturity.getTime() + 7 * DAY).getUTCMonth()).not.toBe(maturity.getUTCMonth());
        const days = (maturity.getTime() - date.getTime()) / DAY;
        expect(days).toBeGreaterThan(179);
        expect(days).toBeLessThan(225);
      }),
    );
  });
});

describe('createOverlay', () => {
  it('default: one principal token with its market, under an id that hashes', () => {
    const now = Date.UTC(2026, 10, 20);
    const catalog = catalogAt(now); // recomputes every id
    const token = catalog.chain(1)?.tokens.find(({ symbol }) => symbol === 'PT-sUSDe-27MAY2027');
    expect(token).toMatchObject({
      displaySymbol: 'PT-sUSDe',
      isPt: true,
      maturity: overlayMaturity(now),
      apySource: 'yieldmarket',
    });
    const markets = catalog.chain(1)?.markets.filter(({ collateral }) => collateral === token);
    expect(markets).toMatchObject([
      { kind: 'loop', loan: { symbol: 'USDC' }, lltv: 915_000_000_000_000_000n, correlated: true },
    ]);
    expect(tokenSeed(1, 'PT-sUSDe-27MAY2027')).toEqual(tokenSeed(1, 'PT-sUSDe'));
  });

  it('behavior: survives a round trip through JSON', () => {
    const overlay = createOverlay(Date.UTC(2026, 10, 20));
    expect(overlaySchema.parse(JSON.parse(JSON.stringify(overlay)))).toEqual(overlaySchema.parse(overlay));
  });

  it('behavior: every indexed or aggregated token then names its source, without replacing curated ids', () => {
    const curated = createCatalog(curatedChains);
    for (const chain of catalogAt(0).chains) {
      for (const token of chain.tokens) {
        if (token.apySource === 'stableindex') expect(token.stableIndexId, token.symbol).toBeDefined();
        if (token.apySource === 'aggregator') expect(token.defillamaId, token.symbol).toBeDefined();
        const { stableIndexId, defillamaId } = curated.token(chain.chainId, token.address) ?? {};
        if (stableIndexId !== undefined) expect(token.stableIndexId).toBe(stableIndexId);
        if (defillamaId !== undefined) expect(token.defillamaId).toBe(defillamaId);
      }
    }
  });
});
