import { describe, expect, test } from 'vitest';
import type { Market } from '../../src/catalog/types.ts';
import type { OraclePrice } from '../../src/domain/facts.ts';
import { divergenceWarning, oracleDivergence, withJump } from '../../src/domain/market/oracle-divergence.ts';
import { possibleRange } from '../../src/domain/market/oracle-range.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, DAY, marketOf, NOW_MS } from './world.ts';

const market = marketOf(chainOf(1), 'weETH', 'WETH');
const oracleAt = (price: string) => ({ price: BigInt(new Decimal(price).shiftedBy(36).toFixed(0)), blockNumber: 1n });
const asFact = (value: ReturnType<typeof oracleAt> & Pick<OraclePrice, 'before'>) => ({ value, asOfMs: NOW_MS });
const loanUsd = new Decimal(2_000);
const priced = (usd: number, source = 'coingecko') => ({ value: { usd: new Decimal(usd) }, source });

describe('oracleDivergence', () => {
  test.each([
    ['1.2', 2_400, undefined],
    ['1.3', 2_400, undefined],
    ['1.33', 2_400, '10.83'],
    ['1.08', 2_400, '-10.00'],
    ['0.66', 2_400, '-45.00'],
    ['1200000000000', 2_400, '99999999999900.00'],
  ])('behavior: an oracle at %s WETH beside a price of %d USD: %s', (price, usd, expected) => {
    const found = oracleDivergence({ market, oracle: asFact(oracleAt(price)), loanUsd, price: priced(usd) });
    expect(found?.divergencePct.toFixed(2)).toBe(expected);
    if (found) expect(found).toMatchObject({ against: 'price', referenceUsd: new Decimal(usd) });
  });

  test('behavior: uses the value before a jump as reference only for a token without a price', () => {
    const jumped = { ...oracleAt('1.8'), before: { price: oracleAt('1.2').price, atMs: NOW_MS } };
    const alone = { market, oracle: asFact(jumped), loanUsd };
    expect(oracleDivergence({ ...alone, price: undefined })?.against).toBe('before');
    expect(oracleDivergence({ ...alone, price: priced(3_600, 'oracle') })?.divergencePct.toFixed(2)).toBe('50.00');
    expect(oracleDivergence({ ...alone, price: priced(3_600) })).toBeUndefined();
    expect(oracleDivergence({ ...alone, price: undefined, loanUsd: undefined })).toBeUndefined();
  });
});

describe('possibleRange', () => {
  /** An oracle with this price, loan tokens per collateral token. */
  const alone = (of: Market, inLoan: string, loan = '1') => ({
    market: of,
    oracle: {
      value: {
        price: BigInt(new Decimal(inLoan).shiftedBy(36 + of.loan.decimals - of.collateral.decimals).toFixed(0)),
        blockNumber: 1n,
      },
      asOfMs: NOW_MS,
    },
    loanUsd: new Decimal(loan),
    price: undefined,
  });
  const [one, other] = [chainOf(1), chainOf(4663)];
  const share = marketOf(one, 'sUSDS', 'AUSD');
  const ether = marketOf(one, 'ETH+', 'WETH');
  const [stock] = other.equityVaults.map(({ stockMarket }) => stockMarket);
  const floating = marketOf(other, 'PONS', 'USDG');
  const bitcoin = marketOf(one, 'WBTC', 'USDC');
  const principal = one.markets.find(({ collateral }) => collateral.symbol === 'PT-apxUSD-5NOV2026');
  if (!stock || !principal) throw new Error('the catalog has a stock and a principal token');

  test.each([
    ['a share of a stablecoin', share, '1', ['0.89', '0.6', '2.01', '1e12', '0'], ['0.9', '1.09', '2']],
    ['staked ether', ether, '2500', ['0.89', '0.5', '2.01', '1e12'], ['0.91', '1.07', '1.99']],
    // 157 days before maturity: 0.9 of its value at a yield of 100 % a year.
    ['a principal token', principal, '1', ['0.55', '0.66', '1.11', '1e12'], ['0.68', '0.98', '1.1']],
    ['a stock', stock, '1', ['0.9', '10001', '688.5e12'], ['1', '192.4', '688.5', '10000']],
    ['bitcoin', bitcoin, '1', ['999', '10000001', '1.07'], ['97850']],
    ['a token that floats', floating, '1', ['0', '1000001', '0.0425e12'], ['0.0425', '0.00000001']],
  ])('default: %s without another price', (_, of, loan, outside, inside) => {
    for (const price of outside) {
      const found = oracleDivergence(alone(of, price, loan));
      expect([price, found?.against]).toEqual([price, 'range']);
      const { min, max } = possibleRange(of, new Decimal(loan), NOW_MS);
      expect(found?.referenceUsd).toEqual(found?.divergencePct.gt(0) ? max : min);
      expect(found && divergenceWarning(found)).toMatchObject({ code: 'oracle_out_of_range', field: 'oracle' });
    }
    for (const price of inside) expect([price, oracleDivergence(alone(of, price, loan))]).toEqual([price, undefined]);
  });

  test('behavior: the range follows a loan token off its peg; the price of the collateral takes precedence', () => {
    expect(oracleDivergence(alone(share, '1.09', '0.4'))).toBeUndefined();
    expect(oracleDivergence({ ...alone(share, '0.6'), price: priced(0.6) })).toBeUndefined();
    expect(oracleDivergence({ ...alone(share, '0.6'), price: priced(1.09) })?.against).toBe('price');
  });

  test('behavior: a matured principal token has its redemption value', () => {
    const afterwards = {
      ...alone(principal, '0.88'),
      oracle: { ...alone(principal, '0.88').oracle, asOfMs: NOW_MS + 400 * DAY },
    };
    expect(oracleDivergence(afterwards)?.against).toBe('range');
  });

  test('behavior: a value outside the range is not a reference for the next one', () => {
    const healed = alone(share, '1.09');
    const value = { ...healed.oracle.value, before: { price: healed.oracle.value.price * 10n ** 12n, atMs: NOW_MS } };
    expect(oracleDivergence({ ...healed, oracle: { ...healed.oracle, value } })).toBeUndefined();
  });
});

describe('withJump', () => {
  const known = oracleAt('1.2');
  const jumped = withJump(oracleAt('0.66'), known, NOW_MS);

  test('default: records a jump of more than 20 % with the value before it', () => {
    expect(jumped.before).toEqual({ price: known.price, atMs: NOW_MS });
    expect(withJump(oracleAt('1.43'), known, NOW_MS).before).toBeUndefined();
    expect(withJump(known, undefined, NOW_MS)).toBe(known);
  });

  test('behavior: lasts for a day, compared with the value before all jumps', () => {
    const hourLater = withJump(oracleAt('0.4'), jumped, NOW_MS + DAY / 24);
    expect(hourLater.before).toEqual(jumped.before);
    expect(withJump(oracleAt('0.4'), hourLater, NOW_MS + DAY + 1).before).toBeUndefined();
    expect(withJump(oracleAt('1.25'), hourLater, NOW_MS + DAY / 12).before).toBeUndefined();
  });
});
