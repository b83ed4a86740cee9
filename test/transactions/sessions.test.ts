import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Abi } from '../../src/abi/erc20.ts';
import type { BlockReader } from '../../src/chain/read-at.ts';
import type { Reading } from '../../src/chain/reading.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Session } from '../../src/chain/rpc/session.ts';
import type { CallResult } from '../../src/chain/types.ts';
import type { ComposedMarket } from '../../src/domain/market/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import {
  createNodes,
  inOneSession,
  measuredUsdPrices,
  pricedBy,
  ratesOf,
  referralFeeBps,
  tokenUsdPrices,
} from '../../src/transactions/deps.ts';
import { borrowApyChange } from '../../src/transactions/preview/rates.ts';
import { foldMarket } from '../../src/transactions/read/market-state.ts';
import { createLatestReader, foldPlans, planOne, readOf } from '../../src/transactions/read/reads.ts';
import { NOW_MS, withItem } from '../domain/world.ts';
import { depsOf, loopMarket, servedChain, tokenOn, USER, whole } from './model/scene.ts';

const d = (value: string | number) => new Decimal(value);
const market = loopMarket(1, 'sUSDe', 'PYUSD');
const chain = servedChain(1);

describe(createLatestReader, () => {
  const word = (value: bigint) => encodeAbiParameters(parseAbiParameters('uint256'), [value]);
  const plan = [1, 2, 3].map(() => readOf(USER, erc20Abi, 'balanceOf', [USER]));
  const ok = (data: `0x${string}`): CallResult => ({ ok: true, data }) as CallResult;
  const failed = { ok: false, data: word(9n) } as unknown as CallResult;

  function readerOf(
    final: readonly CallResult[] | Error,
    now: readonly CallResult[] = [ok(word(7n)), failed, ok('0x12')],
  ) {
    const asked: unknown[] = [];
    const readAt: BlockReader = async (_reading, _plan, options) => {
      asked.push(options?.finalized);
      if (options?.finalized && final instanceof Error) throw final;
      const results = options?.finalized ? (final as readonly CallResult[]) : now;
      return { block: { number: options?.finalized ? 5n : 9n, timestamp: 1n }, results } as never;
    };
    const session = { run: (work: (on: Reading) => unknown) => work({} as Reading) } as unknown as Session;
    return { reader: createLatestReader(session, readAt), asked };
  }

  test('default: an answer is decoded; a revert, rubbish and a missing one are none', async () => {
    const { reader, asked } = readerOf([]);
    expect(await reader.read(plan)).toMatchObject({ block: { number: 9n }, answers: [7n, undefined, undefined] });
    expect(await readerOf([], []).reader.read(plan)).toMatchObject({ answers: [undefined, undefined, undefined] });
    expect(asked).toEqual([undefined]);
  });

  test('behavior: settled answers are those of the block and of the final one', async () => {
    const { reader, asked } = readerOf([ok(word(7n)), ok(word(8n)), failed]);
    expect(await reader.readSettled(plan)).toEqual({
      answers: [7n, undefined, undefined],
      final: [7n, 8n, undefined],
    });
    expect(asked).toEqual([undefined, true]);
  });

  test('behavior: a node without a final block has no settled answers; a defect is not hidden', async () => {
    const missing = readerOf(new ChainReadError('server_error'));
    expect(await missing.reader.readSettled(plan)).toEqual({ answers: [7n, undefined, undefined], final: undefined });
    await expect(readerOf(new TypeError('a defect')).reader.readSettled(plan)).rejects.toThrow('a defect');
  });

  test('behavior: each plan is folded at the block, with its own answers', () => {
    const block = { timestamp: 7n, number: 3n };
    const at = { reads: [], fold: (answers: readonly unknown[], on: object) => [answers.length, on] };
    const folded = foldPlans(
      { first: planOne(plan[0] as never), at, last: planOne(plan[1] as never) },
      ['a', 'b'],
      block,
    );
    expect([folded.first(), folded.at(), folded.last()]).toEqual(['a', [0, block], 'b']);
  });
});

describe('sessions', () => {
  test('error: of a chain that has no node, or is not served', () => {
    const nodes = new Map([
      [1, { session: () => ({}) }],
      [10, { session: () => ({}) }],
    ]) as never;
    const node = createNodes([chain, servedChain(4663)], nodes, { now: () => NOW_MS });
    expect(Object.keys(node(1))).toEqual(['reader', 'simulator']);
    expect(() => node(4663)).toThrow('no node is configured for chain 4663');
    expect(() => node(10)).toThrow('no node is configured for chain 10');
  });

  test('behavior: one build has one session for each chain', () => {
    const { deps } = depsOf({ market });
    const begun: number[] = [];
    const counted = inOneSession({
      ...deps,
      node: (chainId) => {
        begun.push(chainId);
        return { ...deps.node(chainId) };
      },
    });
    expect(counted.node(1)).toBe(counted.node(1));
    expect(counted.node(4663)).not.toBe(counted.node(1));
    expect(begun).toEqual([1, 4663]);
  });
});

describe('rates and prices of a build', () => {
  const unit = (amount: number) => whole(amount, market.loan);
  const live = foldMarket(
    market,
    [
      [unit(1_000), unit(1_000) * 1_000_000n, unit(600), unit(600) * 1_000_000n, 1_780_000_000n, 0n],
      1_268_391_679n,
      107n * 10n ** 22n,
      unit(400),
      undefined,
    ],
    { timestamp: 1_780_000_000n, number: 1n },
  );
  const composed = {
    effectiveCollateralApyPct: d(6),
    borrowApyPct: d(5),
    netBorrowApyPct: d('4.2'),
  } as unknown as ComposedMarket;

  test('behavior: the borrow rate follows the change of the debt and the liquidity moved in; the incentive is the APY less the net APY', () => {
    expect(ratesOf(undefined, live)).toBeUndefined();
    const of = (more?: Parameters<typeof ratesOf>[2]) => ratesOf(composed, live, more);
    expect([of()?.incentiveAprPct.toFixed(), of()?.collateralApyPct.toFixed()]).toEqual(['0.8', '6']);
    expect(of()?.borrowApyPct(unit(50))).toEqual(borrowApyChange(live, unit(50)));
    expect(of()?.borrowApyPct(0n)).toEqual(borrowApyChange(live, 0n));
    expect(of({ debtBefore: unit(30) })?.borrowApyPct(unit(50))).toEqual(borrowApyChange(live, unit(20)));
    expect(of({ moved: unit(100) })?.borrowApyPct(0n)).toEqual(borrowApyChange(live, 0n, unit(100)));
    const { after, before } = borrowApyChange(live, unit(20));
    expect(after.gt(before)).toBe(true);
  });

  test('behavior: a referral fee is taken where somebody receives it, five times as much of an uncorrelated pair', () => {
    const { deps } = depsOf({ market });
    const received = { ...deps, feeReceiver: USER };
    const fees = [true, false].map((correlated) => referralFeeBps(received, { ...market, correlated }));
    expect([...fees, referralFeeBps(deps, market)]).toEqual([5, 25, 0]);
  });

  test('behavior: a USD price counts while it is fresh; one of an oracle names its market and is not measured', () => {
    const usdc = tokenOn(1, 'USDC').address;
    const at = (asOfMs: number) =>
      depsOf({ market, facts: (facts) => withItem(facts, 'price', usdc, { value: { usd: d('0.97') }, asOfMs }) }).deps;
    // 900 s are the budget of prices.
    const [fresh, old] = [at(NOW_MS - 900_000), at(NOW_MS - 900_001)];
    expect(tokenUsdPrices(fresh, chain)(usdc)?.toFixed()).toBe('0.97');
    expect(tokenUsdPrices(old, chain)(usdc)).toBeUndefined();
    expect(measuredUsdPrices(fresh, chain)(usdc)?.toFixed()).toBe('0.97');
    expect(pricedBy(fresh, chain)(usdc)).toBeUndefined();
    const collateral = market.collateral.address;
    expect(tokenUsdPrices(fresh, chain)(collateral)?.gt(1)).toBe(true);
    expect(measuredUsdPrices(fresh, chain)(collateral)).toBeUndefined();
    expect(pricedBy(fresh, chain)(collateral)?.collateral.address).toBe(collateral);
    expect(tokenUsdPrices(fresh, chain)(USER)).toBeUndefined();
  });
});
