import { encodeAbiParameters, encodeEventTopics, type Hex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import type { Reading } from '../../src/chain/reading.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import type { BuilderDeps } from '../../src/transactions/deps.ts';
import { SimulationMismatchError, SimulationRevertedError } from '../../src/transactions/errors.ts';
import { withVenues } from '../../src/transactions/quote/attempts.ts';
import type { Quoter } from '../../src/transactions/quote/quoter.ts';
import { createVenueStatistics } from '../../src/transactions/quote/statistics.ts';
import { planAllocator } from '../../src/transactions/read/allocator.ts';
import { foldMarket, interestOf } from '../../src/transactions/read/market-state.ts';
import { createBalanceSlots } from '../../src/transactions/simulate/balance-slot.ts';
import { filledSwap, fillsOf, type SwapPlace } from '../../src/transactions/simulate/fills.ts';
import { movementsByLogs } from '../../src/transactions/simulate/movements.ts';
import type { SimulatedLog } from '../../src/transactions/simulate/steps.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { loopMarket, manageIn, type Scene, servedChain, tokenOn, USER, whole } from './model/scene.ts';

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const other = loopMarket(1, 'PT-sUSDe', 'USDC');
const chain = servedChain(1);
const { morphoBlue, flashLeverage, flashLeverageRouter } = chain.contracts;
const d = (value: string | number) => new Decimal(value);
const PROXY: Address = '0x00000000000000000000000000000000000000B1';
const VENUE: Address = '0x00000000000000000000000000000000000000D4';

function transfer(token: Address, from: Address, to: Address, value: bigint): SimulatedLog {
  const [signature] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });
  return {
    address: token,
    topics: [signature as Hex, pad(from), pad(to)],
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  };
}

type Event = 'SupplyCollateral' | 'WithdrawCollateral' | 'Borrow' | 'Repay';
/** An event of the protocol: its amount, and for a debt its shares. */
function event(
  eventName: Event,
  onBehalf: Address,
  amount: bigint,
  shares?: bigint,
  id = market.id,
  emitter = morphoBlue,
): SimulatedLog {
  const item = morphoBlueAbi.find((one) => one.type === 'event' && one.name === eventName);
  if (item?.type !== 'event') throw new Error(`no event ${eventName}`);
  const args = { id, caller: PROXY, onBehalf, receiver: PROXY };
  const plain = item.inputs.filter((input) => !('indexed' in input));
  const values = [...(plain[0]?.type === 'address' ? [PROXY] : []), amount, ...(shares === undefined ? [] : [shares])];
  const topics = encodeEventTopics({ abi: morphoBlueAbi, eventName, args: args as never });
  return {
    address: emitter,
    topics: topics as SimulatedLog['topics'],
    data: encodeAbiParameters(plain, values as never),
  };
}

describe('movements by events', () => {
  const place = (executor: Address, callIndex: number): SwapPlace =>
    ({ swap: { tokenOut: market.collateral }, executor, callIndex }) as unknown as SwapPlace;

  test('behavior: a fill is the amount that its executor receives from outside, in its own call and token', () => {
    const token = market.collateral.address;
    const logs = [
      [transfer(token, VENUE, flashLeverage, 99n)],
      [
        ...[transfer(token, VENUE, flashLeverage, 5n), transfer(token, PROXY, flashLeverage, 2n)],
        // From inside, to another account, of another token.
        ...[transfer(token, USER, flashLeverage, 10n), transfer(token, morphoBlue, flashLeverage, 20n)],
        ...[transfer(token, VENUE, flashLeverageRouter, 40n), transfer(market.loan.address, VENUE, flashLeverage, 80n)],
      ],
    ];
    const places = [place(flashLeverage, 1), place(flashLeverageRouter, 1), place(flashLeverage, 7)];
    expect(fillsOf(chain, USER, places, logs).map(({ received }) => received)).toEqual([7n, 40n, 0n]);
  });

  test('behavior: a fill above its reference loses nothing, and without one its loss is not known', () => {
    const swap = { expectedOut: 90n, reference: 100n, lossPct: d(10) } as unknown as PlannedSwap;
    const filled = (received: bigint, of = swap) => filledSwap({ swap: of, received });
    expect(
      [filled(95n), filled(100n), filled(110n)].map(({ expectedOut, lossPct }) => [expectedOut, lossPct?.toFixed()]),
    ).toEqual([
      [95n, '5'],
      [100n, '0'],
      [110n, '0'],
    ]);
    expect(filled(95n, { ...swap, reference: undefined, lossPct: undefined }).lossPct).toBeUndefined();
  });

  test('behavior: the new position is the last one, by the events of its own account and market', () => {
    const slots = [
      { userProxy: USER, amountDepositedInLoanToken: 1n },
      { userProxy: PROXY, amountDepositedInLoanToken: 44n },
    ];
    const logs = [
      [
        event('SupplyCollateral', PROXY, 100n),
        event('SupplyCollateral', PROXY, 50n),
        event('WithdrawCollateral', PROXY, 20n),
      ],
      [
        ...[event('Borrow', PROXY, 7n, 900n), event('Repay', PROXY, 2n, 100n), event('Repay', USER, 9n, 9n)],
        ...[event('SupplyCollateral', USER, 1_000n), event('Borrow', PROXY, 1n, 5n, other.id)],
        event('Borrow', PROXY, 1n, 7n, market.id, VENUE),
      ],
    ];
    const watched = { chain, user: USER, places: [], opens: market, repays: [] };
    expect(movementsByLogs(watched, logs, slots).opened).toEqual({
      id: 1,
      collateral: 130n,
      borrowShares: 800n,
      basis: 44n,
    });
    expect(() => movementsByLogs(watched, logs, undefined)).toThrow();
    const repays = [
      { market, proxy: PROXY, callIndex: 0 },
      { market: other, proxy: PROXY, callIndex: 0 },
    ];
    const twice = [...logs, [event('Repay', PROXY, 5n, 1n), event('Repay', PROXY, 8n, 1n, other.id)]];
    expect(movementsByLogs({ ...watched, opens: undefined, repays }, twice, undefined)).toEqual({
      fills: [],
      opened: undefined,
      repaid: [7n, 8n],
    });
  });
});

test('SimulationMismatchError: knows its chain and the swap', () => {
  const swap = { tokenIn: PROXY, tokenOut: VENUE };
  const shortfall = {
    of: 'net_value',
    expected: '2',
    simulated: '1',
    token: market.loan,
    tolerancePct: '0.1',
  } as const;
  const error = new SimulationMismatchError({ ...shortfall, swap }, 4663);
  expect([error.chainId, error.swap, error.details]).toEqual([4663, swap, shortfall]);
});

describe('balance slots', () => {
  test('behavior: a node that does not answer finds none, and the token is looked up again', async () => {
    let asked = 0;
    const request = async () => {
      asked += 1;
      throw new TypeError('a defect');
    };
    const reading = { at: '0x1', client: { request } } as unknown as Reading;
    const slots = createBalanceSlots();
    for (const n of [1, 2]) expect([await slots.find(reading, VENUE), asked]).toEqual([undefined, n]);
  });
});

describe('reads', () => {
  test('behavior: the supply of a vault is that of its shares, as the protocol rounds it', () => {
    const source = { vault: VENUE, withdrawMarketId: other.id, assets: 1n, feeWei: 0n };
    const plan = planAllocator(chain, market, { sources: [source] });
    const supplied = (shares: bigint, assets: bigint, total: bigint, cap = 10n ** 30n) =>
      plan.fold(
        [['0x1', '0x2', '0x3', '0x4', 5n], [assets, total, 0n, 0n, 0n, 0n], [shares, 0n, 0n], [0n, cap], [7n, 0n], 0n],
        {
          timestamp: 1n,
        },
      )[0]?.movable;
    // shares × (assets + 1) / (total + 1,000,000).
    expect([supplied(1_000_000n, 1n, 0n), supplied(1_000_000n, 9n, 1_000_000n), supplied(999_999n, 0n, 0n)]).toEqual([
      2n,
      5n,
      0n,
    ]);
    expect([supplied(1_000_000n, 9n, 0n, 4n), supplied(1_000_000n, 9n, 0n, 10n)]).toEqual([4n, 10n]);
    const answers = [['0x1'], [1n, 0n, 0n], [1n], [0n, 1n], [7n, 0n], 0n];
    for (let i = 0; i < answers.length; i += 1)
      expect(plan.fold(answers.with(i, undefined as never), { timestamp: 1n })).toEqual([]);
  });

  test('behavior: interest counts from one state of a market to a later one, never backwards', () => {
    const units = (amount: number) => whole(amount, market.loan);
    const at = (timestamp: bigint) =>
      foldMarket(
        market,
        [
          [units(1_000), units(1_000) * 1_000_000n, units(600), units(600) * 1_000_000n, 1_780_000_000n, 0n],
          1_268_391_679n,
          1n,
          0n,
          undefined,
        ],
        { timestamp, number: 1n },
      );
    const [now, later] = [at(1_780_000_000n), at(1_780_086_400n)];
    expect([interestOf(units(100), now, now), interestOf(units(100), later, now)]).toEqual([0n, 0n]);
    const grown = (later.sdk.totalBorrowAssets - now.sdk.totalBorrowAssets) / 6n;
    expect(interestOf(units(100), now, later) - grown).toBeLessThanOrEqual(1n);
    expect(interestOf(units(100), now, later)).toBeGreaterThan(0n);
  });
});

test('createVenueStatistics: tells each event, a refusal by its reason', () => {
  const events: unknown[] = [];
  const statistics = createVenueStatistics((one) => events.push(one));
  for (const reason of ['timeout', 'timeout', 'rate_limited', undefined] as const) {
    statistics.note(1, 'AggregatorOne', 'refused', reason);
  }
  statistics.note(1, 'AggregatorOne', 'quoted', 'timeout');
  statistics.note(4663, 'AggregatorOne', 'failed_in_simulation');
  expect(events.slice(3)).toEqual([
    { chainId: 1, venue: 'AggregatorOne', outcome: 'missing' },
    { chainId: 1, venue: 'AggregatorOne', outcome: 'quoted' },
    { chainId: 4663, venue: 'AggregatorOne', outcome: 'failed_in_simulation' },
  ]);
});

describe('withVenues', () => {
  const [A, B] = [tokenOn(1, 'USDC').address, tokenOn(1, 'USDT').address];
  type Source = 'AggregatorOne' | 'AggregatorTwo' | 'YieldMarket';
  const SHOWN: Readonly<Record<Source, string>> = { AggregatorOne: '1', AggregatorTwo: '2', YieldMarket: '3' };
  /** Which venues each run uses for two swaps, of which the second one is quoted last. */
  async function runsOf(serving: Readonly<Record<string, readonly Source[]>>, failures: readonly Error[]) {
    const runs: string[] = [];
    const noted: string[] = [];
    const quoter = {
      capped: true,
      rank: async ({ tokenIn }: { tokenIn: Address }, avoided: readonly string[] = []) =>
        (serving[tokenIn] ?? []).filter((source) => !avoided.includes(source)).map((source) => ({ source })),
    } as unknown as Quoter;
    const venueStatistics = {
      note: (_: number, venue: string, what: string) => noted.push(`${venue} ${what}`),
      counts: () => [],
    };
    const result = await withVenues(
      { quoter, venueStatistics, node: () => ({}) } as unknown as BuilderDeps,
      async (deps) => {
        const used: string[] = [];
        for (const tokenIn of [A, B]) {
          const { source } = await deps.quoter.quote({ chain, tokenIn, tokenOut: market.loan.address } as never);
          used.push(SHOWN[source]);
        }
        runs.push(used.join(''));
        const failure = failures[runs.length - 1];
        if (failure) throw failure;
        return 'built';
      },
    ).catch((error: unknown) => error);
    return { runs, result, failed: noted.filter((one) => one.endsWith('failed_in_simulation')) };
  }
  const BOTH: readonly Source[] = ['AggregatorOne', 'AggregatorTwo'];
  const unknown = new SimulationRevertedError({ reason: 'Slippage', args: [], callIndex: 0 }, true);
  const of = (reason: string) => new SimulationRevertedError({ reason, args: [], callIndex: 0 }, true);
  const short = (tokenIn: Address | undefined) =>
    new SimulationMismatchError(
      {
        of: 'swap_output',
        expected: '2',
        simulated: '1',
        token: market.loan,
        tolerancePct: '0.1',
        swap: tokenIn && { tokenIn, tokenOut: market.loan.address },
      },
      1,
    );

  test('behavior: a venue is avoided only where another one answered', async () => {
    const { runs, failed } = await runsOf({ [A]: BOTH, [B]: ['AggregatorOne'] }, [unknown, unknown]);
    expect(runs).toEqual(['11', '21', '11']);
    expect(failed).toEqual(
      ['AggregatorOne', 'AggregatorOne', 'AggregatorTwo', 'AggregatorOne'].map((one) => `${one} failed_in_simulation`),
    );
  });

  test('behavior: of a known swap its venue alone is avoided, then the other one again', async () => {
    expect((await runsOf({ [A]: BOTH, [B]: BOTH }, [short(B), short(B)])).runs).toEqual(['11', '12', '11']);
    const { runs, failed } = await runsOf({ [A]: BOTH, [B]: BOTH }, [short(A), short(B)]);
    expect([runs, failed]).toEqual([
      ['11', '21', '22'],
      ['AggregatorOne failed_in_simulation', 'AggregatorOne failed_in_simulation'],
    ]);
    expect((await runsOf({ [A]: BOTH, [B]: BOTH }, [short(undefined), short(B)])).runs).toEqual(['11', '22', '21']);
  });

  test('behavior: of three venues both that have failed for a swap are avoided', async () => {
    const three = { [A]: [...BOTH, 'YieldMarket'], [B]: ['AggregatorOne'] } as const;
    expect((await runsOf(three, [short(A), short(A)])).runs).toEqual(['11', '21', '31']);
  });

  test('behavior: an error of the router blames the swap of the payment, one of FlashLeverage the last swap, a limit both', async () => {
    const runs = async (reason: string) => (await runsOf({ [A]: BOTH, [B]: BOTH }, [of(reason)])).runs;
    expect(await runs('FlashLeverageRouter__MinTokenOutNotMet')).toEqual(['11', '21']);
    expect(await runs('FlashLeverage__MinTokenOutNotMet')).toEqual(['11', '12']);
    expect(await runs('FlashLeverage__ExceedsMaxLTV')).toEqual(['11', '22']);
  });

  test('behavior: a known swap that one venue serves alone is quoted anew', async () => {
    expect((await runsOf({ [A]: BOTH, [B]: ['AggregatorOne'] }, [short(B)])).runs).toEqual(['11', '11']);
    expect((await runsOf({ [A]: ['AggregatorOne'], [B]: ['AggregatorOne'] }, [unknown, unknown])).runs).toEqual([
      '11',
      '11',
    ]);
  });
});

test('a payment that is swapped is measured by its own value, before the loss', async () => {
  const losing = (share: bigint): Scene => {
    const of = (fair: bigint) => (fair * share) / 10_000n;
    const before = {
      loop: { collateral: whole(8_000, market.collateral), debt: whole(6_000, market.loan) },
      basis: 0n,
    };
    return { market, before, lieOf: () => ({ quoted: of, simulated: of, onChain: of }) };
  };
  const repay = (maxSwapLossPct: string, share: bigint) =>
    manageIn(losing(share), {
      action: 'repay',
      amount: d(500),
      payToken: tokenOn(1, 'USDC').address,
      maxSwapLossPct: d(maxSwapLossPct),
    }).then(
      ({ path }) => path,
      (error: { details?: { limit?: unknown } }) => error.details?.limit,
    );
  // The venue keeps 3 basis points beside: 500 × (1 − 0.97 × 0.9997) = 15.1455, which is 3.0291 % of 500.
  expect(await repay('3.03', 9_700n)).toBe('swapAndRepay');
  expect(await repay('3.02', 9_700n)).toEqual({ maxTotalLossPct: '3.02', maxSwapLossPct: '3.03' });
});
