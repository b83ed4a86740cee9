import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beforeDepositFee,
  depositFeeOf,
  yieldFeeOnReturn,
  yieldFeeOnWithdrawal,
} from '../../src/domain/leverage/fees.ts';
import { deploymentNotes, foldDeployment } from '../../src/transactions/read/deployment.ts';
import { marketOf } from '../e2e/leverage/support.ts';

const WAD = 10n ** 18n;
const correlated = marketOf(1, 'sUSDe/PYUSD 91.5');
const uncorrelated = marketOf(1, 'WBTC/USDC 86');

describe('foldDeployment', () => {
  it('default: the contract decides buffer, fees and the kind of market', () => {
    const answers = [false, true, WAD / 40n, WAD / 10n, WAD / 100n, true] as const;
    const deployment = foldDeployment(correlated, answers);
    expect(deployment).toMatchObject({ yieldFee: WAD / 10n, depositFee: 0n, isCorrelated: true, unknown: [] });
    expect(deployment.limits.maxLtvPct.toFixed()).toBe('89');
    expect(foldDeployment(correlated, [false, true, WAD / 40n, WAD / 10n, WAD / 100n, false])).toMatchObject({
      yieldFee: 0n,
      depositFee: WAD / 100n,
    });
    expect(deploymentNotes(deployment)).toEqual([]);
  });

  it('behavior: a missing or absurd view is unknown, and its default is used with a note', () => {
    const deployment = foldDeployment(uncorrelated, [undefined, true, undefined, undefined, 2n * WAD, undefined]);
    expect(deployment).toMatchObject({ yieldFee: 0n, depositFee: WAD / 100n, isCorrelated: false });
    expect(deployment.limits.maxLtvPct.toFixed()).toBe('85.75');
    const terms = ['LIQUIDATION_BUFFER', 's_yieldFee', 's_depositFee', 's_isCorrelated'];
    expect(deployment.unknown).toEqual(['paused', ...terms]);
    expect(deploymentNotes(deployment)).toEqual([
      expect.stringContaining('did not answer paused: it counts as open'),
      expect.stringContaining(`did not answer ${terms.join(', ')}: documented defaults are used`),
    ]);
  });
});

describe('fees', () => {
  it('behavior: the amount before the fee is the smallest sufficient one', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 30n), fc.bigInt(0n, WAD / 100n), (net, fee) => {
        const gross = beforeDepositFee(net, fee);
        expect(gross - depositFeeOf(gross, fee) >= net).toBe(true);
        const less = gross - 1n;
        expect(less - depositFeeOf(less, fee) < net).toBe(true);
      }),
    );
  });

  it('default: no fee on a loss, and at most the withdrawal', () => {
    expect(yieldFeeOnReturn(99n, 100n, WAD / 10n)).toBe(0n);
    expect(yieldFeeOnReturn(200n, 100n, WAD / 10n)).toBe(10n);
    const withdrawal = { amount: 1_000n, value: 2_000n, netValueAfter: 10_000n, basis: 9_000n };
    expect(yieldFeeOnWithdrawal(withdrawal, WAD / 10n)).toBe(50n);
    expect(yieldFeeOnWithdrawal({ ...withdrawal, basis: 1_000n }, WAD / 10n)).toBe(100n);
    expect(yieldFeeOnWithdrawal({ ...withdrawal, netValueAfter: 1n }, WAD / 10n)).toBe(0n);
  });
});
