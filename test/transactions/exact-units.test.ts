import { encodeAbiParameters, encodeFunctionResult, type Hex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { walletExecutorAbi } from '../../src/abi/wallet-executor.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { requireAgreement } from '../../src/transactions/deployment-guards.ts';
import type { BuilderDeps } from '../../src/transactions/deps.ts';
import { InsufficientLiquidityError, type NotEligibleError } from '../../src/transactions/errors.ts';
import { nothingToIncrease } from '../../src/transactions/manage/lower.ts';
import { depositFeeNote, payDirectly } from '../../src/transactions/manage/paid.ts';
import { largestPart, mostOfPart, shareOfDebt } from '../../src/transactions/manage/part.ts';
import type { ManageContext } from '../../src/transactions/manage/types.ts';
import { requestQuote } from '../../src/transactions/quote/request.ts';
import { debtOf } from '../../src/transactions/read/market-state.ts';
import { payTokenOf } from '../../src/transactions/read/tokens.ts';
import { completeFacts, withItem } from '../domain/world.ts';
import { manageIn, openIn, type Scene, tokenOn, whole } from './model/scene.ts';
import { market as lending, losing } from './refusal-world.ts';
import { call, simulatorOn, USER, word } from './simulation-world.ts';
import { before, chain, collateral, d, liveOf, loan, market, PRICE, refusal, refused } from './susde-position.ts';

/* Amounts at the last unit, by other arithmetic than the product's. */

describe('a part of a position', () => {
  const live = liveOf(whole(2_000_000, loan), whole(1_000_000, loan));
  const held = (size: bigint, debt: bigint, idle = whole(1_000_000, loan)) => ({
    market,
    live: { ...live, idle },
    position: { id: 0, collateral: size, debt, borrowShares: debt * 1_000_000n, basis: 0n },
  });
  const SIZE = whole(100, collateral) + 7n;

  test.each([1n, 3n, SIZE / 3n, SIZE - 1n, SIZE])('shareOfDebt: of %i it is rounded up, with two units', (amount) => {
    const one = held(SIZE, whole(50, loan));
    const later = debtOf(live, one.position.borrowShares, 60n);
    const product = later * amount;
    const up = product / SIZE + (product % SIZE === 0n ? 0n : 1n);
    expect(shareOfDebt(one, amount)).toBe(up + 2n);
  });

  test('mostOfPart: the value that carries the debt is rounded down, the part that has to stay is rounded up', () => {
    // Worth 107.000001; at 91.5 % that carries 97.905000915, so 97.905000. Ten units are spare: of a tenth one.
    const size = whole(100, collateral) + 10n ** 12n;
    const part = (debt: bigint) => mostOfPart(held(size, debt));
    expect(part(97_904_990n)).toBe(size - ((size * 3n + 9n) / 10n + 1n));
    expect(part(97_904_997n)).toBe(0n);
    expect(part(97_904_996n)).toBe(size - ((size * 3n + 3n) / 4n + 1n));
    expect(part(97_905_000n)).toBe(0n);
  });

  test('largestPart: as much as the protocol holds for, two units kept', () => {
    const debt = whole(50, loan);
    const later = debtOf(live, debt * 1_000_000n, 60n);
    const idle = whole(20, loan);
    expect(largestPart(held(SIZE, debt, idle))).toBe((SIZE * (idle - 2n)) / later);
    expect([largestPart(held(SIZE, debt, 2n)), largestPart(held(SIZE, debt, 1n))]).toEqual([0n, 0n]);
  });
});

describe('payDirectly', () => {
  const token = payTokenOf(loan);
  const SPENDER: Address = '0x00000000000000000000000000000000000000d4';
  const approvals = (allowances: ReadonlyMap<Address, bigint>, amount: bigint) =>
    payDirectly({ wallet: { allowances } } as unknown as ManageContext, token, amount, SPENDER).approvals.map(
      ({ action }) => action.args,
    );

  test('behavior: an allowance that is not known is none', () => {
    const all = [{ token: token.address, spender: SPENDER, amount: 1n }];
    expect([approvals(new Map(), 1n), approvals(new Map([[SPENDER, 0n]]), 1n)]).toEqual([all, all]);
    expect(approvals(new Map([[SPENDER, 1n]]), 1n)).toEqual([]);
  });

  test('depositFeeNote: one unit is a fee', () => {
    expect([depositFeeNote(0n, token), depositFeeNote(1n, token)]).toEqual([
      [],
      ['The contract takes about 0.000001 PYUSD of it as its deposit fee.'],
    ]);
  });
});

describe('nothingToIncrease', () => {
  const alternatives = (debt: bigint, targetPct: string) => {
    const position = { collateral: whole(100, collateral), debt };
    const error = nothingToIncrease(market, position, PRICE, d(targetPct), 0n) as NotEligibleError;
    return error.details?.alternatives?.map(({ action, amount }) => `${action} ${amount}`);
  };

  test('behavior: at the target there is no way down, one unit above it there is', () => {
    // 100 at 1.07 and 50 %: 53.5.
    expect(alternatives(53_500_000n, '50')).toBeUndefined();
    // Half a unit is repaid for one; of collateral twice as much is added: 2 units of the loan token at 1.07, rounded up.
    expect(alternatives(53_500_001n, '50')).toEqual([
      'repay 0.000001',
      'add_collateral 0.000001869158878505',
      'close 0.000001869158878505',
    ]);
    expect(alternatives(53_500_001n, '0')?.map((way) => way.split(' ')[0])).toEqual(['repay', 'close']);
  });
});

describe('an increase that the market lends only in part', () => {
  /** 8,000 at 1.07 that owe so much, and a market that lends so much more. */
  const refused = async (debt: string, more: string) => {
    const loop = { ...before.loop, debt: whole(debt, loan) };
    const borrowed = new Decimal(1_000).minus(more).toNumber();
    const scene: Scene = { market, before: { ...before, loop }, answers: { market: lending(1_000, borrowed) } };
    const error = await refusal(manageIn(scene, { action: 'increase_leverage', leverage: d(5) }));
    if (!(error instanceof InsufficientLiquidityError)) throw error;
    const { maxLeverage, maxLtvPct } = error.details ?? {};
    return [maxLeverage, maxLtvPct];
  };

  test('behavior: offers a target only where it is above the position both as an LTV and as a leverage', async () => {
    // At 75.004 %, that is 4.0006x, 5.4828 more lead to 75.02 %, that is 4.0032x: its 4.00x are 75.00 %.
    expect(await refused('6420.3424', '5.4828')).toEqual([undefined, undefined]);
    // 100 more lead to 75.29 %, that is 4.04x.
    expect(await refused('6420.3424', '100')).toEqual(['4.04', '75.29']);
  });
});

test('a removal from a position above the safe LTV: nothing can be taken', async () => {
  // The safe LTV is 90.5 %: 8,000 at 1.07 carry 7,746.8.
  const removal = (debt: number) => {
    const scene: Scene = { market, before: { ...before, loop: { ...before.loop, debt: whole(debt, loan) } } };
    return refusal(manageIn(scene, { action: 'remove_collateral', amount: d(1) }));
  };
  expect(await removal(7_747)).toMatchObject({ details: { limit: { maxAmount: '0', maxLtvPct: '90.5' } } });
  expect(await removal(7_740)).not.toBeInstanceOf(Error);
});

test('a part of a position that is worth exactly its debt: closing it as a whole is no way out', async () => {
  const part = (debt: string) => {
    const loop = { ...before.loop, debt: whole(debt, loan) };
    // A market that was touched just now: no interest has run.
    const scene: Scene = { market, before: { ...before, loop }, answers: { market: lending(1_000_000, 600_000) } };
    return refusal(manageIn(scene, { action: 'close', amount: d(1) }));
  };
  expect(await part('8560')).toMatchObject({ message: expect.stringMatching(/held\. Repay some debt or add/) });
});

test('a minimum of an action without a swap: the refusal names the token that is paid', async () => {
  const adding = { action: 'add_collateral', amount: d(1), payToken: collateral.address, minAmountOut: d(1) } as const;
  const repaying = { action: 'repay', amount: d(1), payToken: loan.address, minAmountOut: d(1) } as const;
  expect(await refusal(manageIn({ market, before }, adding))).toMatchObject({
    message: expect.stringContaining(collateral.symbol),
  });
  expect(await refusal(manageIn({ market, before }, repaying))).toMatchObject({
    message: expect.stringContaining(loan.symbol),
  });
});

test('a payment with a token without code is refused', async () => {
  const { address } = tokenOn(1, 'USDC');
  const scene: Scene = {
    market,
    before,
    facts: (facts) => withItem(facts, 'tokenContract', address, { value: { hasCode: false } }),
  };
  const error = await refusal(manageIn(scene, { action: 'repay', amount: d(1), payToken: address }));
  expect(error).toMatchObject({ details: { reason: 'catalog_mismatch' } });
});

test('requireAgreement: quotes long values by their first 80 characters', () => {
  const quoted = (symbols: number) => {
    const value = { isSupported: true, isCorrelated: true, params: null };
    const named = { ...market, id: 'x'.repeat(symbols) as typeof market.id };
    const given = withItem(completeFacts(chain), 'marketSupport', named.id, { value });
    const error = refused(() =>
      requireAgreement({ ...chain, markets: [named] }, given, [named], { addsRisk: false }),
    ) as NotEligibleError;
    return /not_created: (\S+) in the catalog/.exec(error.message)?.[1];
  };
  expect([quoted(80), quoted(81)]).toEqual(['x'.repeat(80), `${'x'.repeat(80)}...`]);
});

test('requestQuote: the referral fee is asked for with its receiver, from one basis point on', async () => {
  const RECEIVER: Address = '0x00000000000000000000000000000000000000fe';
  const feeOf = (feeBps: number, feeReceiver: Address | undefined) => {
    const deps = { quoter: { quote: async (request: unknown) => request }, feeReceiver };
    const bounds = { chain, slippage: { value: d('0.005') } };
    const wanted = {
      tokenIn: payTokenOf(loan),
      tokenOut: payTokenOf(collateral),
      amountIn: 1n,
      executor: USER,
      feeBps,
    };
    return requestQuote(deps as unknown as BuilderDeps, bounds as never, wanted) as unknown as Promise<object>;
  };
  expect(await feeOf(1, RECEIVER)).toMatchObject({ feeBps: 1, feeReceiver: RECEIVER, sender: USER, recipient: USER });
  for (const none of [await feeOf(0, RECEIVER), await feeOf(5, undefined)]) {
    expect(none).toMatchObject({ feeBps: 0 });
    expect(none).not.toHaveProperty('feeReceiver');
  }
});

test('the costs of an opening are measured by the value of the payment, before its own loss', async () => {
  const scene: Scene = { market, lieOf: losing(9_700n) };
  const input = { payToken: tokenOn(1, 'USDC').address, leverage: d(2) };
  const { swaps } = await openIn(scene, { ...input, maxSwapLossPct: d(10) });
  const inLoan = (units: bigint) => (units * PRICE) / 10n ** 36n;
  const lost = swaps.reduce((sum, { reference = 0n, expectedOut }) => sum + inLoan(reference - expectedOut), 0n);
  const [entry] = swaps;
  const equity = inLoan(entry?.reference ?? 0n);
  const pct = d(lost.toString()).times(100).div(equity.toString()).decimalPlaces(2, Decimal.ROUND_UP);
  expect(pct.gt(5)).toBe(true);
  expect((await openIn(scene, { ...input, maxSwapLossPct: pct })).path).toBe('swapAndLeverage');
  await expect(openIn(scene, { ...input, maxSwapLossPct: pct.minus('0.01') })).rejects.toMatchObject({
    details: { limit: { maxSwapLossPct: pct.toFixed() } },
  });
});

test('manage: on a chain without vaults the register of their loops is not asked', async () => {
  const scene: Scene = {
    market,
    before,
    deps: { vaultOf: async () => Promise.reject(new Error('the register was asked')) },
  };
  expect(chain.equityVaults).toEqual([]);
  expect((await manageIn(scene, { action: 'close' })).path).toBe('deleverage');
});

test('by the executor: a new position is read of the contract that the list of positions names last', async () => {
  const PROXY: Address = '0x00000000000000000000000000000000000000B1';
  const row = (userProxy: Address, basis: bigint) => ({
    open: true,
    marketId: market.id,
    userProxy,
    swapRouter: USER,
    amountDepositedInLoanToken: basis,
    amountReturnedInLoanToken: 0n,
  });
  const positions = encodeFunctionResult({
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePositions',
    result: [row(USER, 1n), row(PROXY, 42n)],
  } as never);
  const opened = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint128' }, { type: 'uint128' }], [0n, 7n, 9n]);
  const answers = [pad(USER), '0x', positions, word(PRICE), opened] as readonly Hex[];
  const eth_call = encodeFunctionResult({
    abi: walletExecutorAbi,
    functionName: 'run',
    result: [100n, answers.map((data) => ({ ok: true, data, gasUsed: 1n }))],
  } as never);
  const { simulator, asked } = simulatorOn({ simulateV1: 'missing', answers: { eth_call } });
  const watched = { chain, user: USER, places: [], repays: [], opens: market };
  const simulation = await simulator.simulate({ user: USER, calls: [call('0xaa')], nativeBalance: 0n, watched });
  expect(simulation).toMatchObject({
    movements: { fills: [], repaid: [], opened: { id: 1, borrowShares: 7n, collateral: 9n, basis: 42n } },
  });
  const [{ data }] = (asked[0]?.params ?? []) as unknown as readonly [{ data: Hex }];
  const { args } = decodeFunctionData({ abi: walletExecutorAbi, data });
  // Places count from 1: the treasury, the call, the positions, the price, the new position.
  expect(args[0].map(({ tailOf, tailWord }) => [tailOf, tailWord])).toEqual([...Array(4).fill([0n, 0n]), [3n, 3n]]);
});
