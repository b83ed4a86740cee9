import { AccrualPosition, Market as SdkMarket } from '@morpho-org/blue-sdk';
import { expect } from 'vitest';
import type { EquityVault, Market } from '../../../src/catalog/types.ts';
import type { CampaignSide, ChainFacts } from '../../../src/domain/facts.ts';
import type { Pnl } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, DAY, NOW_MS, withItem } from '../world.ts';
import { composedMarket, composedOf, held, robinhood, WALLET } from './position-world.ts';

export const [vault] = robinhood.equityVaults as [EquityVault];
export const market = vault.yieldMarket;
export const HOUR = 3_600_000;
export const PRICE = '0.9998';
export const units = (whole: string) => BigInt(new Decimal(whole).shiftedBy(market.loan.decimals).toFixed(0));

/** APR steps of the debt side, on whole hours so that hours can be summed up one by one. */
export const STEPS = [
  { atMs: NOW_MS - 25 * DAY, aprPct: new Decimal('1.5') },
  { atMs: NOW_MS - 12 * DAY, aprPct: new Decimal('3') },
  { atMs: NOW_MS - 5 * DAY, aprPct: new Decimal('0') },
  { atMs: NOW_MS - 2 * DAY, aprPct: new Decimal('0.8') },
];
export const paid = (side: CampaignSide) => ({
  campaigns: [
    {
      id: '1',
      side,
      symbol: 'X',
      startsAtMs: NOW_MS - 25 * DAY,
      endsAtMs: NOW_MS + DAY,
      steps: STEPS.map(({ atMs, aprPct }) => ({ atMs, ratePct: aprPct })),
    },
  ],
});
export const facts = withItem(completeFacts(robinhood), 'incentiveHistory', market.id, { value: paid('borrow') });

/** The interest on one unit of debt, summed hour by hour. */
export function hourByHour(fromMs: number, toMs: number): Decimal {
  let sum = new Decimal(0);
  for (let atMs = fromMs; atMs < toMs; atMs += HOUR) {
    const apr = STEPS.findLast((step) => step.atMs <= atMs)?.aprPct ?? new Decimal(0);
    const part = Math.min(HOUR, toMs - atMs);
    sum = sum.plus(apr.times(part).div(100 * 365 * DAY));
  }
  return sum;
}

export function sdkValue(of: Market, holding: { collateral: bigint; borrowShares: bigint }, known: ChainFacts = facts) {
  const composed = composedMarket(composedOf(robinhood, known), of.id);
  const { value: state } = composed.facts.lendingState;
  const params = {
    loanToken: of.loan.address,
    collateralToken: of.collateral.address,
    oracle: of.oracle,
    irm: of.irm,
    lltv: of.lltv,
  };
  const accrued = new SdkMarket({
    ...state,
    params,
    price: composed.facts.oracle.value.price,
    totalBorrowAssets: composed.totalBorrowAssets,
    totalSupplyAssets: composed.totalSupplyAssets,
    lastUpdate: state.blockTimestamp,
  });
  const position = new AccrualPosition({ ...holding, user: WALLET, supplyShares: 0n }, accrued);
  const usd = (assets: bigint) => new Decimal(assets.toString()).shiftedBy(-of.loan.decimals).times(PRICE);
  return { debt: usd(position.borrowAssets), collateral: usd(position.collateralValue ?? 0n) };
}

/** Compare with numbers computed elsewhere; quotients are rounded to 18 places here. */
export function expectPnl(
  pnl: Pnl,
  expected: { deposited: Decimal; returned: Decimal; net: Decimal; incentives: Decimal },
) {
  const { deposited, returned, net, incentives } = expected;
  expect(pnl.gaps).toEqual([]);
  expect(pnl.depositedUsd).toBe(deposited.toFixed());
  expect(pnl.returnedUsd).toBe(returned.toFixed());
  expect(pnl.netValueUsd).toBe(net.toFixed());
  expect(pnl.baseResultUsd).toBe(net.plus(returned).minus(deposited).toFixed());
  expect(new Decimal(pnl.incentivesUsd ?? Number.NaN).minus(incentives).abs().lt('1e-15')).toBe(true);
  expect(pnl.totalUsd).toBe(new Decimal(pnl.baseResultUsd ?? '').plus(pnl.incentivesUsd ?? '').toFixed());
  const rate = net.plus(returned).minus(deposited).plus(incentives).times(100).div(deposited);
  expect(new Decimal(pnl.returnOnEquityPct ?? Number.NaN).minus(rate).abs().lt('1e-13')).toBe(true);
}

export const holding = { collateral: units('500'), borrowShares: units('400') * 10n ** 6n };
export const open = held(market.id, { ...holding, depositedAssets: units('120') });
