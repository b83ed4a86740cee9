import { describe, expect, test } from 'vitest';
import type { EquityVault } from '../../src/catalog/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import type { Timers } from '../../src/shared/timers.ts';
import { requireOpenVault } from '../../src/transactions/equity/eligibility.ts';
import {
  InsufficientLiquidityError,
  NoRouteError,
  NotSimulatedError,
  SimulationMismatchError,
  SimulationRevertedError,
  StaleDataError,
} from '../../src/transactions/errors.ts';
import { createQuoter } from '../../src/transactions/quote/quoter.ts';
import { createVenueStatistics } from '../../src/transactions/quote/statistics.ts';
import { NOW_MS } from '../domain/world.ts';
import { loopMarket, openIn, servedChain, tokenOn, whole } from './model/scene.ts';

/* Cases of openings, venues and errors that belong to no single action. */

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const { loan, collateral } = market;
const d = (value: string | number) => new Decimal(value);
const units = (amount: number | string) => whole(amount, loan);

test('an open that is swapped and needs liquidity of a vault pays for both in one call', async () => {
  const from = loopMarket(1, 'PT-sUSDe', 'USDC');
  const rows = (supplied: number, borrowed: number) => [
    ...[supplied, supplied * 1_000_000, borrowed, borrowed * 1_000_000].map(units),
    BigInt(NOW_MS / 1_000),
    0n,
  ];
  const isOf = ({ data }: { readonly data: string }) => data.includes(market.id.slice(2));
  const plan = await openIn(
    {
      market,
      usd: { ETH: '2500' },
      answers: {
        market: (call: { readonly data: string }) => (isOf(call) ? rows(3_000, 1_000) : rows(900_000, 100_000)),
        idToMarketParams: [from.loan.address, from.collateral.address, from.oracle, from.irm, from.lltv],
        position: [units(1_500) * 1_000_000n, 0n, 0n],
        flowCaps: (call: { readonly data: string }) => (isOf(call) ? [units(5_000), 0n] : [0n, units(1_000)]),
        fee: 3n * 10n ** 14n,
      },
      facts: (facts) => {
        const items = new Map(facts.groups.sharedLiquidity.items);
        const sources = [{ vault: `0x${'c1'.repeat(20)}` as const, withdrawMarketId: from.id, assets: 1n, feeWei: 0n }];
        items.set(market.id, { value: { sources }, asOfMs: NOW_MS, source: 'test' });
        return { ...facts, groups: { ...facts.groups, sharedLiquidity: { ...facts.groups.sharedLiquidity, items } } };
      },
    },
    { payToken: tokenOn(1, 'USDC').address, amount: d(1_100) },
  );
  expect([plan.path, plan.tx.value, plan.swaps.length]).toEqual(['reallocateSwapAndLeverage', 3n * 10n ** 14n, 2]);
  expect(plan.moved).toBe((plan.amountFlashLoan ?? 0n) - units(2_000) + (plan.amountFlashLoan ?? 0n) / 100n);
});

test('error: NotEligible for a vault whose deployed contracts would revert', () => {
  const [vault] = servedChain(4663).equityVaults as [EquityVault];
  for (const name of ['venue_not_allowed', 'operator_not_approved']) {
    const checks = [{ name, passed: false, value: 'none', threshold: null }];
    const composed = { strategies: [{ id: vault.id, visibility: { checks } }] } as never;
    expect(() => requireOpenVault(vault, composed, 0)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ reason: name }) }),
    );
  }
});

test('a quoter waits five seconds for all venues, and one and a half more once one has answered', async () => {
  const waits: (number | 'cleared')[] = [];
  const timers: Timers = {
    setTimeout: (_act, ms) => waits.push(ms),
    clearTimeout: () => void waits.push('cleared'),
  };
  const chain = servedChain(1);
  const router = chain.swapRouters.AggregatorOne?.[0];
  const quote = {
    source: 'AggregatorOne',
    router,
    amountIn: 1n,
    amountOut: 1n,
    feeBps: 0,
    calldata: '0x12345678',
    value: 0n,
    expiresAtMs: 0,
  };
  const venue = { source: 'AggregatorOne', serves: () => true, quote: async () => quote } as never;
  const { quote: ask, capped } = createQuoter({ venues: [venue], timers, statistics: createVenueStatistics() });
  await ask({ chain, tokenIn: loan.address, tokenOut: collateral.address, amountIn: 1n } as never);
  expect([waits, capped]).toEqual([[5_000, 1_500, 'cleared', 'cleared'], true]);
  const limited = {
    source: 'AggregatorOne',
    serves: () => true,
    quote: async () => Promise.reject(new UpstreamUnavailableError('x', 'made up' as never)),
  };
  const refusing = createQuoter({ venues: [limited as never], timers, statistics: createVenueStatistics() });
  await expect(
    refusing.quote({ chain, tokenIn: loan.address, tokenOut: collateral.address, amountIn: 1n } as never),
  ).rejects.toMatchObject({
    details: { reason: 'server_error' },
  });
});

describe('errors', () => {
  test('behavior: a revert names its cause and its next step where they are known', () => {
    const error = (details: object, curable: boolean) =>
      new SimulationRevertedError({ reason: 'R', args: [], callIndex: 0, ...details } as never, curable);
    expect(error({}, true)).toMatchObject({
      message: 'The transaction would revert with R. Build again for a fresh quote.',
      status: 503,
      retryable: true,
    });
    expect(error({}, false)).toMatchObject({
      message: 'The transaction would revert with R. Building it again will not help: change the request.',
      status: 400,
      retryable: false,
    });
    const args = [
      { name: 'a', value: '1' },
      { name: 'b', value: '2' },
    ];
    expect(error({ args, cause: 'Because.', nextStep: 'Do this.' }, true).message).toBe(
      'The transaction would revert with R (a 1, b 2). Because. Do this.',
    );
  });

  test('behavior: missing liquidity names the place, and the largest input that is of use', () => {
    const message = (more: object) =>
      new InsufficientLiquidityError({
        needed: '9',
        available: '5',
        loan: { symbol: 'X' },
        place: 'market',
        ...more,
      } as never).message;
    expect(message({})).toBe('The market can lend 5 X now and this needs 9. Try again later.');
    expect(message({ place: 'protocol' })).toMatch(/^The lending protocol holds 5 X now and this takes 9 out at once/);
    expect(message({ maxAmount: '0' })).toContain('Try again later.');
    expect(message({ maxAmount: '0.1' })).toContain('Send an amount of at most 0.1, or try again later.');
    expect(message({ maxLeverage: '3', maxLtvPct: '66' })).toContain('Ask for at most 3x, that is an LTV of 66 %');
  });

  test('behavior: NoRoute, StaleData and the like name their subject', () => {
    const route = { chainId: 1, tokenIn: loan.address, tokenOut: loan.address, amountIn: '5' };
    expect(new NoRouteError({ ...route, venues: [] }).message).toContain('(none serves the pair)');
    const venues = [{ source: 'AggregatorOne', reason: 'timeout' }] as const;
    expect(new NoRouteError({ ...route, venues }).message).toContain('(AggregatorOne: timeout)');
    expect(new NoRouteError({ ...route, venues }, 'own').message).toBe('own');
    const stale = { group: 'oracle', asOf: 'T', staleAfterSec: 9, staleForSec: 1 };
    expect([new StaleDataError(stale).message, new StaleDataError(stale, 'own').message]).toEqual([
      'Nothing is built on old numbers: oracle was last measured at T and may be 9 s old. Try again when it has been refreshed.',
      'own',
    ]);
    const short = {
      expected: '2',
      simulated: '1',
      token: { address: loan.address, symbol: 'X' },
      tolerancePct: '0.10',
    };
    const mismatch = (more: object) => new SimulationMismatchError({ ...short, ...more } as never, 1);
    expect(mismatch({ of: 'net_value' }).message).toContain('the position less its debt comes to 1 X instead of 2');
    expect(mismatch({ of: 'swap_output', source: 'V' }).message).toContain('the swap at V comes');
    expect(mismatch({ of: 'swap_output' }).message).toContain('the swap at the venue comes');
    const [back, adding] = [new NotSimulatedError(1, true), new NotSimulatedError(1, false)];
    expect([
      back.message.includes('or send allowUnsimulated: true'),
      adding.message.includes('Nothing that adds risk'),
    ]).toEqual([true, true]);
    expect([back.lowersRisk, adding.lowersRisk, (back as { retryAfterSec?: number }).retryAfterSec]).toEqual([
      true,
      false,
      60,
    ]);
  });
});
