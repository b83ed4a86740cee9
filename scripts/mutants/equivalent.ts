import { EQUIVALENT_BUILDERS } from './equivalent-builders.ts';

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
  ...EQUIVALENT_BUILDERS,
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
  {
    file: 'src/domain/portfolio/query.ts',
    code: 'return a < b ? -1 : a > b ? 1 : 0;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/portfolio/query.ts',
    code: 'return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'const order = a < b ? -1 : a > b ? 1 : 0;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'return a.id < b.id ? -1 : a.id > b.id ? 1 : a.chainId - b.chainId;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/apy/continue-campaigns.ts',
    code: 'return [...united.values()].sort((a, b) => a.startsAtMs - b.startsAtMs || (a.id < b.id ? -1 : 1));',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/portfolio/query.ts',
    code: 'return a < b ? -1 : a > b ? 1 : 0;',
    original: 'a < b',
    replacement: 'a <= b',
    reason: 'equal keys are not compared, or are the same key',
  },
  {
    file: 'src/domain/portfolio/query.ts',
    code: 'return a < b ? -1 : a > b ? 1 : 0;',
    original: 'a > b',
    replacement: 'a >= b',
    reason: 'equal keys are not compared, or are the same key',
  },
  {
    file: 'src/domain/portfolio/query.ts',
    code: 'return a < b ? -1 : a > b ? 1 : 0;',
    original: '0',
    replacement: '0 + 1',
    reason: 'equal keys are not compared, or are the same key',
  },
  {
    file: 'src/domain/equity/loops.ts',
    code: 'return { count: count > 1 ? 2 : count === 1 ? 1 : 0, loopIds };',
    original: '2',
    replacement: '2 + 1',
    reason: 'any number above one means several',
  },
  {
    file: 'src/domain/portfolio/aggregates.ts',
    code: '.sort((a, b) => b.netValueUsd.usd.comparedTo(a.netValueUsd.usd) ?? 0),',
    original: '0',
    replacement: '0 + 1',
    reason: 'only a comparison with NaN has no result, and sums are no NaN',
  },
  {
    file: 'src/database/proxies.ts',
    original: 'known.get(owner) ?? getAddress(owner)',
    replacement: 'getAddress(owner)',
    reason: 'memory of a function that always answers the same',
  },
  {
    file: 'src/database/proxies.ts',
    original: 'known.set(owner, hit);',
    replacement: '',
    reason: 'memory of a function that always answers the same',
  },
  {
    file: 'src/database/registrations.ts',
    original: 'known.get(wallet) ?? getAddress(wallet)',
    replacement: 'getAddress(wallet)',
    reason: 'memory of a function that always answers the same',
  },
  {
    file: 'src/database/registrations.ts',
    original: 'known.set(wallet, hit);',
    replacement: '',
    reason: 'memory of a function that always answers the same',
  },
  {
    file: 'src/database/proxies.ts',
    original: '500',
    replacement: '500 + 1',
    reason: 'how many rows are read before others run',
  },
  {
    file: 'src/snapshot/codec.ts',
    code: 'export const ITEMS_PER_PAGE = 50;',
    original: '50',
    replacement: '50 + 1',
    reason: 'how many items are parsed before others run',
  },
  {
    file: 'src/domain/deployment/disagreements.ts',
    original: 'found.length > 0',
    replacement: 'found.length >= 0',
    reason: 'an empty list counts as none',
  },
  {
    file: 'src/domain/equity/position.ts',
    code: 'if (!price || !value.usd) {',
    original: '!price || !value.usd',
    replacement: '!price && !value.usd',
    reason: 'both are known where the price of the loan token is',
  },
  {
    file: 'src/domain/leverage/ladder.ts',
    code: 'if (isWhole) wholePct = wholePct.plus(carryPct);',
    original: 'isWhole',
    replacement: 'true',
    reason: 'only the last rung is not whole',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'const order = a < b ? -1 : a > b ? 1 : 0;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
  {
    file: 'src/domain/strategy/keys.ts',
    code: 'return a.id < b.id ? -1 : a.id > b.id ? 1 : a.chainId - b.chainId;',
    original: '1',
    replacement: '1 + 1',
    reason: 'only the sign of a comparison counts',
  },
];
