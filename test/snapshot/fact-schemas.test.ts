import { describe, expect, test } from 'vitest';
import { EXIT_SIZES_USD, FACT_GROUPS, type FactGroup, type FactGroups, type Failure } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { parseMarketId } from '../../src/shared/ids.ts';
import { readFact, readFailure } from '../../src/snapshot/fact-schemas.ts';

const ADDRESS = '0x0000000000000000000000000000000000000000';
const MARKET = parseMarketId(`0x${'0'.repeat(64)}`);
const zero = new Decimal(0);
const history = [{ atMs: 0, ratePct: new Decimal('-0.5') }];
const campaign = { id: 'a', symbol: 'MORPHO', aprPct: zero, startsAtMs: 0, endsAtMs: 0, url: 'https://example.org' };
const allowed = [{ address: ADDRESS, isAllowed: false }] as const;

/** A value of every group at the lower end of every field, with all optional fields. */
const LEAST: { readonly [G in FactGroup]: FactGroups[G] } = {
  lendingState: {
    totalSupplyAssets: 0n,
    totalSupplyShares: 0n,
    totalBorrowAssets: 0n,
    totalBorrowShares: 0n,
    lastUpdate: 0n,
    fee: 0n,
    rateAtTarget: -1n,
    borrowRate: 0n,
    blockNumber: 0n,
    blockTimestamp: 0n,
  },
  oracle: {
    price: 0n,
    blockNumber: 0n,
    feeds: [{ address: ADDRESS, updatedAt: 0n }],
    before: { price: 0n, atMs: 0 },
  },
  collateralApy: { apyPct: zero, history },
  incentives: { borrow: [campaign], collateral: [campaign] },
  incentiveHistory: {
    campaigns: [{ id: 'a', side: 'borrow', symbol: 'MORPHO', startsAtMs: 0, endsAtMs: 0, steps: history }],
  },
  price: { usd: zero },
  exitLiquidity: { slippagePct: { '100000': zero, '500000': zero, '1000000': null, '5000000': null } },
  sharedLiquidity: {
    sources: [{ vault: ADDRESS, vaultName: 'Vault', withdrawMarketId: MARKET, assets: 0n, feeWei: 0n }],
  },
  borrowHistory: { points: history },
  stableIndex: { id: 'pool', asset: 'USDC', avg7dPct: zero, history },
  tvl: {
    chainId: 1,
    tvlUsd: zero,
    grossTvlUsd: zero,
    borrowedUsd: zero,
    badDebtUsd: zero,
    divergentUsd: zero,
    positions: 0,
    users: 0,
    asOfMs: 0,
    wallets: [ADDRESS],
    outsideCatalog: 0,
    unreadableWallets: 0,
    oracleDivergences: [
      {
        against: 'coingecko',
        oracleUsd: zero,
        referenceUsd: zero,
        divergencePct: zero,
        marketId: MARKET,
        oracle: ADDRESS,
        grossTvlUsd: zero,
        borrowedUsd: zero,
        positions: 0,
      },
    ],
  } as unknown as FactGroups['tvl'],
  deployment: {
    hasCode: false,
    liquidationBuffer: 0n,
    yieldFee: 0n,
    depositFee: 0n,
    treasury: ADDRESS,
    isPaused: false,
    swapRouters: allowed,
    operators: allowed,
    code: [{ address: ADDRESS, hasCode: false }],
    links: [{ address: ADDRESS, to: 'morpho', target: ADDRESS }],
    implausible: ['yieldFee'],
  } as unknown as FactGroups['deployment'],
  marketSupport: {
    isSupported: false,
    isCorrelated: false,
    params: { loanToken: ADDRESS, collateralToken: ADDRESS, oracle: ADDRESS, irm: ADDRESS, lltv: 0n },
  } as FactGroups['marketSupport'],
  tokenContract: { hasCode: false, decimals: 0n, symbol: 'USDC' },
};

const isFact = (group: FactGroup, value: unknown) => readFact(group, value) !== undefined;
const fact = (value: unknown) => ({ value, asOfMs: 0, source: 'test' });

type Path = readonly (string | number)[];
type Leaf = readonly [path: Path, value: unknown];

/** The paths of all leaves of a value. */
function leavesOf(value: unknown, path: Path = []): readonly Leaf[] {
  if (typeof value !== 'object' || value === null || Decimal.isBigNumber(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

/** A copy with another value at a path. */
function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const inner = replaced((value as Record<string, unknown>)[key], rest, by);
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...(value as object), [key]: inner };
}

/** Values that must be refused in place of a leaf. */
function wrongFor([path, value]: Leaf): readonly unknown[] {
  const name = String(path.at(-1));
  if (Decimal.isBigNumber(value)) return [0, '0', new Decimal(Number.NaN), new Decimal(Number.POSITIVE_INFINITY)];
  if (typeof value === 'bigint') return name === 'rateAtTarget' ? [0] : [0, -1n];
  if (typeof value === 'number') return name === 'chainId' ? ['1', 0.5] : ['0', -1];
  if (typeof value === 'boolean') return ['true', 1];
  if (typeof value === 'string' && value.startsWith('0x'))
    return [value.slice(1), `${value}0`, `${value.slice(0, -1)}g`];
  return [1, {}];
}

describe.each(FACT_GROUPS)('%s', (group) => {
  const least = fact(LEAST[group]);

  test('behavior: zeros, times of 1970 and every optional field are readable', () => {
    expect(isFact(group, least)).toBe(true);
  });

  test('behavior: a field of another type, or below its least value, is not', () => {
    for (const leaf of leavesOf(least)) {
      for (const wrong of wrongFor(leaf)) {
        const damaged = replaced(least, leaf[0], wrong);
        expect([leaf[0].join('.'), String(wrong), isFact(group, damaged)]).toEqual([
          leaf[0].join('.'),
          String(wrong),
          false,
        ]);
      }
    }
  });
});

test('behavior: a sweep has a slippage, or none, for every size', () => {
  const { slippagePct } = LEAST.exitLiquidity;
  for (const size of EXIT_SIZES_USD) {
    const { [size]: _left, ...rest } = slippagePct;
    expect(isFact('exitLiquidity', fact({ slippagePct: rest }))).toBe(false);
  }
});

describe('failures', () => {
  const failure: Failure = {
    reason: 'timeout',
    source: 'coingecko',
    sinceMs: 0,
    suspect: { value: zero, readings: 0 },
  };

  test('behavior: with and without an unconfirmed value', () => {
    expect(readFailure(failure)).toEqual(failure);
    const { suspect: _none, ...plain } = failure;
    expect(readFailure(plain)).toEqual(plain);
    expect(readFailure({ ...plain, reason: 'sunspots' })).toEqual({ ...plain, reason: 'server_error' });
  });

  test('behavior: a field of another type, or below its least value, is not readable', () => {
    for (const [path, wrong] of [
      [['reason'], 1],
      [['source'], 1],
      [['sinceMs'], -1],
      [['suspect', 'value'], 1],
      [['suspect', 'value'], new Decimal(Number.NaN)],
      [['suspect', 'readings'], -1],
      [['suspect', 'readings'], 0.5],
    ] as const) {
      expect(readFailure(replaced(failure, path, wrong))).toBeUndefined();
    }
  });
});
