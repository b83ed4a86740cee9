import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Quoter } from '../../src/transactions/quote/quoter.ts';
import { createQuoteReuse } from '../../src/transactions/quote/reuse.ts';
import type { SwapQuote, SwapRequest } from '../../src/upstreams/types.ts';
import { chainOf } from '../domain/world.ts';

const TOKEN = `0x${'1'.repeat(40)}` as const;
const request: SwapRequest = {
  chain: chainOf(1),
  tokenIn: TOKEN,
  tokenOut: `0x${'2'.repeat(40)}`,
  amountIn: 1_000n,
  sender: TOKEN,
  recipient: TOKEN,
  slippage: new Decimal('0.005'),
  feeBps: 0,
};

function world({ lifeMs = 60_000 } = {}) {
  let nowMs = 1_000_000;
  let asked = 0;
  let failing = false;
  const rank: Quoter['rank'] = async ({ amountIn }) => {
    asked += 1;
    if (failing) throw new Error('no route');
    return [{ source: 'AggregatorOne', amountIn, amountOut: amountIn, expiresAtMs: nowMs + lifeMs } as SwapQuote];
  };
  const quoter: Quoter = { capped: true, rank, quote: async (wanted) => (await rank(wanted))[0] };
  const reuse = createQuoteReuse(quoter, { now: () => nowMs });
  return {
    ask: (maxAgeSec: number, change: Partial<SwapRequest> = {}, avoided?: readonly SwapQuote['source'][]) =>
      reuse(maxAgeSec).rank({ ...request, ...change }, avoided),
    reuse,
    asked: () => asked,
    pass: (ms: number) => {
      nowMs += ms;
    },
    fail: (is: boolean) => {
      failing = is;
    },
  };
}

describe(createQuoteReuse, () => {
  test('default: the same swap is asked once within the age, and marked with the time of its request', async () => {
    const { ask, asked, pass } = world();
    const [first] = await ask(5);
    pass(4_999);
    const [again] = await ask(5);
    expect([asked(), again]).toEqual([1, first]);
    expect(first.quotedAtMs).toBe(1_000_000);
    pass(1);
    const [later] = await ask(5);
    expect([asked(), later.quotedAtMs]).toEqual([2, 1_005_000]);
  });

  test.each([
    ['amount', { amountIn: 1_001n }],
    ['pay token', { tokenIn: `0x${'3'.repeat(40)}` as const }],
    ['output', { tokenOut: `0x${'3'.repeat(40)}` as const }],
    ['sender', { sender: `0x${'3'.repeat(40)}` as const }],
    ['recipient', { recipient: `0x${'3'.repeat(40)}` as const }],
    ['slippage', { slippage: new Decimal('0.006') }],
    ['fee', { feeBps: 5, feeReceiver: TOKEN }],
    ['chain', { chain: chainOf(4663) }],
  ] satisfies [string, Partial<SwapRequest>][])('behavior: another %s is another swap', async (_name, change) => {
    const { ask, asked } = world();
    await ask(5);
    await ask(5, change);
    expect(asked()).toBe(2);
  });

  test('behavior: avoided venues are another request, in any order', async () => {
    const { ask, asked } = world();
    await ask(5);
    await ask(5, {}, ['AggregatorOne', 'AggregatorTwo']);
    await ask(5, {}, ['AggregatorTwo', 'AggregatorOne']);
    expect(asked()).toBe(2);
  });

  test('behavior: an age of 0 asks anew, and the answer serves others', async () => {
    const { ask, asked } = world();
    await ask(0);
    await ask(0);
    await ask(5);
    expect(asked()).toBe(2);
  });

  test('behavior: requests at the same time share one', async () => {
    const { ask, asked } = world();
    await Promise.all([ask(5), ask(5), ask(5)]);
    expect(asked()).toBe(1);
  });

  test('behavior: an expired quote and a failure are not used again', async () => {
    const short = world({ lifeMs: 1_000 });
    await short.ask(5);
    short.pass(1_000);
    await short.ask(5);
    expect(short.asked()).toBe(2);
    const failing = world();
    failing.fail(true);
    await expect(failing.ask(5)).rejects.toThrow('no route');
    failing.fail(false);
    await failing.ask(5);
    expect(failing.asked()).toBe(2);
  });

  test('behavior: keeps 200 answers at most', async () => {
    const { ask, asked } = world();
    for (let i = 0n; i <= 200n; i += 1n) await ask(5, { amountIn: i + 1n });
    await ask(5, { amountIn: 201n });
    expect(asked()).toBe(201);
    await ask(5, { amountIn: 1n });
    expect(asked()).toBe(202);
  });

  test('behavior: a quote is the best answer, by the rule of its quoter', async () => {
    const { reuse } = world();
    expect((await reuse(5).quote(request)).amountOut).toBe(1_000n);
    expect(reuse(5).capped).toBe(true);
  });
});
