/** A mutant that behaves as the source does, for a reason. */
export interface Equivalent {
  readonly file: string;
  /** The text of its line; absent = everywhere in the file. */
  readonly code?: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/domain/apy/rates.ts',
    original: 'state.blockTimestamp > state.lastUpdate',
    replacement: 'state.blockTimestamp >= state.lastUpdate',
    reason: 'at equal times the difference is zero as well',
  },
  {
    file: 'src/domain/market/accrue.ts',
    original: 'state.blockTimestamp > state.lastUpdate',
    replacement: 'state.blockTimestamp >= state.lastUpdate',
    reason: 'at equal times the difference is zero as well',
  },
  {
    file: 'src/domain/market/incentives.ts',
    code: '.sort((a, b) => b.aprPct.comparedTo(a.aprPct) ?? 0);',
    original: '0',
    replacement: '0 + 1',
    reason: 'only a comparison with NaN has no result, and rates above zero are no NaN',
  },
  {
    file: 'src/domain/equity/position.ts',
    original: '!stock || !value',
    replacement: '!stock && !value',
    reason: 'a measured stock market always has a value, an unmeasured one never',
  },
  {
    file: 'contracts/product/FlashLeverage.sol',
    code: 'uint256 net = value > debt ? value - debt : 0;',
    original: 'value > debt',
    replacement: 'value >= debt',
    reason: 'the maximum LTV is below 1, so both are equal only at zero, where a yield of one unit has no fee',
  },
  {
    file: 'contracts/product/FlashLeverage.sol',
    code: 'uint256 net = value > debt ? value - debt : 0;',
    original: 'value > debt',
    replacement: 'true',
    reason: 'the maximum LTV is below 1, so both are equal only at zero, where a yield of one unit has no fee',
  },
  {
    file: 'contracts/product/FlashLeverage.sol',
    code: 'uint256 net = value > debt ? value - debt : 0;',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'the maximum LTV is below 1, so both are equal only at zero, where a yield of one unit has no fee',
  },
  {
    file: 'src/domain/plausibility/judge.ts',
    original: 'a.times(b)',
    replacement: 'a.div(b)',
    reason: 'product and quotient have one sign, and beside zero no distance is within a bound',
  },
  {
    file: 'src/domain/position/closing.ts',
    original: 'collateralValue > debt',
    replacement: 'collateralValue >= debt',
    reason: 'at equal amounts the difference is zero as well',
  },
];
