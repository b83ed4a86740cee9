import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { complete, type Draft, positiveAmounts } from '../../src/transactions/complete.ts';
import type { BuilderDeps } from '../../src/transactions/deps.ts';
import { NotSimulatedError, SimulationMismatchError } from '../../src/transactions/errors.ts';
import { payTokenOf } from '../../src/transactions/read/tokens.ts';
import type { Simulation } from '../../src/transactions/simulate/simulate.ts';
import type { BuiltCall, PlannedSwap } from '../../src/transactions/types.ts';
import { chain, swapOf, user, vaultOf } from './equity-world.ts';

const NOW_MS = 1_000_000;
const { depositToken, stock } = vaultOf('SPY');
const swap: PlannedSwap = { ...swapOf(depositToken, stock, 100n, 100n, new Decimal('0.01')) };
const call = (value: bigint): BuiltCall => ({ to: user, data: '0x', value, action: { type: 'x', args: {} } });
const simulated: Simulation = {
  simulated: true,
  way: 'simulate_v1',
  gasUsed: 7n,
  timestamp: 1n,
  answers: [],
  movements: { fills: [{ swap, received: 99n }], repaid: [] },
};

const depsWith = (simulation: Simulation) =>
  ({
    clock: { now: () => NOW_MS },
    appUrl: 'https://app.example/',
    node: () => ({ simulator: { simulate: async () => simulation } }),
  }) as unknown as BuilderDeps;

type TestDraft = Draft<{ readonly fills: PlannedFills }, { readonly notes: readonly string[]; readonly left: string }>;
type PlannedFills = Extract<Simulation, { simulated: true }>['movements']['fills'];

const draft = (over: Partial<TestDraft>): TestDraft => ({
  chain,
  user,
  action: 'equity_exit',
  what: 'batch',
  approvals: [],
  calls: [call(0n)],
  nativeBalance: 0n,
  swaps: [swap],
  slippage: { value: new Decimal('0.01') },
  issues: [],
  lowersRisk: false,
  link: {},
  bounds: {},
  observed: {
    observations: [],
    watched: { chain, user, places: [], repays: [] },
    fold: ({ movements }) => movements,
  },
  shortfall: () => undefined,
  conclude: (outcome) => ({ notes: ['A note.'], left: outcome ? 'simulated' : 'planned' }),
  ...over,
});

describe.each(['transaction', 'batch'] as const)('complete, of one %s', (what) => {
  const bounds = { maxSwapLossPct: new Decimal(3), minAmountOut: new Decimal('12.5') };

  it('behavior: the signing link has the slippage and every bound that the caller set', async () => {
    const slippage = { value: new Decimal('0.004'), tightenedFrom: new Decimal('0.008') };
    const { signingUrl } = await complete(depsWith(simulated), draft({ what, slippage, bounds, link: { id: '3' } }));
    expect(Object.fromEntries(new URL(signingUrl ?? '').searchParams)).toEqual({
      chainId: String(chain.chainId),
      action: 'equity_exit',
      userAddress: user,
      id: '3',
      slippage: '0.008',
      maxSwapLossPct: '3',
      minAmountOut: '12.5',
    });
  });

  it('behavior: checks funds and approvals first, then the plan, with gas for native tokens', async () => {
    const pays = { token: payTokenOf(depositToken), amount: 10n, balance: 9n, allowance: 0n };
    const issues = [{ kind: 'REFERENCE_OLD' as const, message: 'Old.' }];
    const given = { what, pays, issues, approvals: [call(0n)], calls: [call(2n), call(3n)], nativeBalance: 4n };
    const { issues: all, instructions } = await complete(depsWith(simulated), draft(given));
    expect(all.map(({ kind }) => kind)).toEqual([
      'INSUFFICIENT_BALANCE',
      'INSUFFICIENT_BALANCE',
      'APPROVAL_NEEDED',
      'REFERENCE_OLD',
    ]);
    expect(all[1]).toMatchObject({ token: chain.native.address, message: expect.stringContaining('for gas') });
    expect(instructions).toMatch(/Old\. .*From .*A note\..*app\.example/);
  });

  it('behavior: swaps, gas and result are those of the simulation', async () => {
    const done = await complete(depsWith(simulated), draft({ what }));
    expect(done).toMatchObject({ gasUsed: 7n, left: 'simulated', swaps: [{ expectedOut: 99n }] });
  });

  it('behavior: the earliest quote decides when it expires, after 60 s at most', async () => {
    const quotedUntil = (expiresAtMs: number) => ({ ...swap, quote: { ...swap.quote, expiresAtMs } });
    const untried: Simulation = { simulated: false, lacking: 'token' };
    const expiry = async (...until: number[]) =>
      (await complete(depsWith(untried), draft({ what, swaps: until.map(quotedUntil) }))).expiresAtMs - NOW_MS;
    expect(await expiry(NOW_MS + 30_000, NOW_MS + 20_000)).toBe(20_000);
    expect(await expiry(NOW_MS + 90_000)).toBe(60_000);
  });

  it('error: SimulationMismatch for a shortfall', async () => {
    const shortfall = () => ({
      of: 'net_value' as const,
      expected: '2',
      simulated: '1',
      token: depositToken,
      tolerancePct: '0.10',
    });
    await expect(complete(depsWith(simulated), draft({ what, shortfall }))).rejects.toThrow(SimulationMismatchError);
  });

  it('error: NotSimulated, unless the action lowers risk and the caller allows it', async () => {
    const deps = depsWith({ simulated: false, lacking: 'node' });
    const attempt = (lowersRisk: boolean, allowUnsimulated?: boolean) =>
      complete(deps, draft({ what, lowersRisk, allowUnsimulated }));
    await expect(attempt(false, true)).rejects.toThrow(NotSimulatedError);
    await expect(attempt(true)).rejects.toThrow(NotSimulatedError);
    const done = await attempt(true, true);
    expect(done).toMatchObject({ left: 'planned', issues: [{ kind: 'NOT_SIMULATED' }] });
    expect(done.gasUsed).toBeUndefined();
  });
});

describe('positiveAmounts', () => {
  it('behavior: excludes the pay token and tokens without an increase', () => {
    const token = depositToken;
    expect(positiveAmounts([1n, 0n, -1n].map((amount) => ({ token, amount })))).toEqual([{ token, amount: 1n }]);
  });
});
