import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { LoopMatch } from '../../src/domain/equity/loops.ts';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { REST_NAMES, spell } from '../../src/shared/names.ts';
import type { DepositRequest } from '../../src/transactions/equity/deposit.ts';
import type { ExitRequest, VaultWallet } from '../../src/transactions/equity/exit.ts';
import { buildVaultDeposit, buildVaultExit, previewVaultDeposit } from '../../src/transactions/equity/index.ts';
import { StaleDataError } from '../../src/transactions/errors.ts';
import { intentOf } from '../../src/transactions/intent.ts';
import { NOW_MS, withItem } from '../domain/world.ts';
import { depsOf, type Scene, servedChain, tableOf, USER, whole } from './model/scene.ts';

/* Deposits into a vault and exits from it on the model, as the person who signs them sees them. */

const chain = servedChain(4663);
const [vault] = chain.equityVaults;
if (!vault) throw new Error('chain 4663 has vaults');
const { stock, stockMarket, yieldMarket, depositToken } = vault;
const loopToken = yieldMarket.collateral;
const d = (value: string | number) => new Decimal(value);
const usd = { [stock.symbol]: '500', [loopToken.symbol]: '1.07' };
const stockAt = (facts: ChainFacts) =>
  withItem(facts, 'oracle', stockMarket.oracle, {
    value: {
      price: BigInt(
        d(500)
          .shiftedBy(36 + depositToken.decimals - stock.decimals)
          .toFixed(0),
      ),
      blockNumber: 100n,
      feeds: [],
    },
  });
const ON: Scene = { market: yieldMarket, vault, usd, facts: stockAt };
const held = {
  loop: { collateral: whole(1_500, loopToken), debt: whole(1_200, depositToken) },
  basis: whole(300, depositToken),
  stock: { collateral: whole(4, stock), debt: whole(400, depositToken) },
};
const HELD: Scene = { ...ON, before: held };
const PROXY = '0x00000000000000000000000000000000000000b1' as const;

interface Match {
  readonly match?: LoopMatch['match'];
  readonly manualMode?: boolean;
  readonly stock?: bigint;
  /** Debts of the loop and of the stock, loan base units. */
  readonly debts?: readonly [loop: bigint, stock: bigint];
  /** Ids of the wallet's loops. */
  readonly ids?: readonly number[];
  /** Those that belong to another vault. */
  readonly elsewhere?: readonly number[];
}

/** A wallet with the vault, and loops that belong to it. */
function walletOf({
  match = 'tagged',
  manualMode,
  stock: left = held.stock.collateral,
  debts: [loopDebt, stockDebt] = [held.loop.debt, held.stock.debt],
  ids = [0],
  elsewhere = [],
}: Match): VaultWallet {
  const free = ids.filter((id) => !elsewhere.includes(id));
  return {
    holdings: {
      wallet: USER,
      positions: ids.map((id) => ({
        id,
        marketId: yieldMarket.id,
        proxy: PROXY,
        open: true,
        depositedAssets: held.basis,
        returnedAssets: 0n,
        collateral: held.loop.collateral,
        borrowShares: loopDebt * 1_000_000n,
        manualMode,
      })),
      stocks: [{ marketId: stockMarket.id, collateral: left, borrowShares: stockDebt * 1_000_000n }],
    },
    composed: {
      positions: match === 'none' ? free.map((id) => ({ id, open: true })) : [],
      equityPositions: [
        {
          strategyId: vault?.id,
          yieldLoopMatch: match,
          yieldLoops: match === 'none' || match === 'ambiguous' ? [] : ids.map((id) => ({ id, open: true })),
          ambiguousYieldLoopIds: match === 'ambiguous' ? ids : undefined,
        },
      ],
    },
  } as unknown as VaultWallet;
}

type Deposit = readonly [scene: Scene, request: Partial<DepositRequest>];
const losing =
  (share: bigint): NonNullable<Scene['lieOf']> =>
  () => {
    const of = (fair: bigint) => (fair * share) / 10_000n;
    return { quoted: of, simulated: of, onChain: of };
  };
const fees = { feeReceiver: '0x00000000000000000000000000000000000000fE', appUrl: 'https://app.example' } as const;
const market = (supplied: number, borrowed: number) => [
  whole(supplied, depositToken),
  whole(supplied, depositToken) * 1_000_000n,
  whole(borrowed, depositToken),
  whole(borrowed, depositToken) * 1_000_000n,
  BigInt(NOW_MS / 1_000),
  0n,
];
const without = (group: 'lendingState' | 'oracle', key: string) => (facts: ChainFacts) =>
  withItem(stockAt(facts), group, key, {});
const aged = (group: 'lendingState' | 'oracle', key: string, ageSec: number) => (all: ChainFacts) => {
  const facts = stockAt(all);
  const value = facts.groups[group].items.get(key)?.value as never;
  return withItem(facts, group, key, { value, asOfMs: NOW_MS - ageSec * 1_000 });
};

/** The wallet has less than it deposits; the protocol has enough. */
const shortWallet = ({ data }: { readonly data: string }) =>
  data.includes(USER.slice(2).toLowerCase()) ? whole(2_999, depositToken) : 10n ** 30n;

const DEPOSITS: Readonly<Record<string, Deposit>> = {
  default: [ON, {}],
  'with fees, a link and bounds': [
    { ...ON, deps: fees },
    { stockLtvPct: d(40), slippage: d('0.004'), maxSwapLossPct: d(5) },
  ],
  'on top of a stock leg, with a leftover authorization': [{ ...HELD, answers: { isAuthorized: true } }, {}],
  'without an allowance': [{ ...ON, answers: { allowance: 1n } }, {}],
  'without funds': [{ ...ON, answers: { balanceOf: shortWallet } }, {}],
  'without an LTV that leaves something to borrow': [ON, { stockLtvPct: d('0.000001') }],
  'above the cap of the stock leg': [ON, { stockLtvPct: d(90) }],
  'a small amount': [ON, { amount: d('0.0001') }],
  'a paused contract': [{ ...ON, answers: { paused: true } }, {}],
  'a closed market': [{ ...ON, answers: { isSupportedMarket: false } }, {}],
  'markets that lend too little': [{ ...ON, answers: { market: market(3_000, 2_000) } }, {}],
  'swaps that lose too much': [{ ...ON, lieOf: losing(9_890n) }, {}],
  'swaps that lose more together than is accepted': [{ ...ON, lieOf: losing(9_930n) }, {}],
  'a stock market that was never measured': [{ ...ON, facts: without('lendingState', stockMarket.id) }, {}],
  'a yield market that was never measured': [{ ...ON, facts: without('oracle', yieldMarket.oracle) }, {}],
  'an old stock market': [{ ...ON, facts: aged('lendingState', stockMarket.id, 301) }, {}],
  'an old oracle of the yield market': [{ ...ON, facts: aged('oracle', yieldMarket.oracle, 901) }, {}],
  'not simulated': [{ ...ON, unsimulated: 'token' }, {}],
  'no node that can simulate': [{ ...ON, unsimulated: 'node' }, {}],
};

type Exit = readonly [scene: Scene, request: ExitRequest, wallet?: Match | undefined];
const EXITS: Readonly<Record<string, Exit>> = {
  default: [HELD, {}],
  'with a link, bounds and a leftover authorization': [
    { ...HELD, deps: fees, answers: { isAuthorized: true } },
    { slippage: d('0.004'), maxSwapLossPct: d(30), minAmountOut: d(3_590), yieldPositionIds: [0] },
  ],
  'without a loop': [HELD, {}, { match: 'none' }],
  'with a loop of no vault, by its id': [HELD, { yieldPositionIds: [0] }, { match: 'none' }],
  'of ambiguous loops': [HELD, {}, { match: 'ambiguous', ids: [0, 1] }],
  'with a loop in manual mode': [HELD, {}, { manualMode: true }],
  'without a position': [HELD, {}, { stock: 0n }],
  'a paused contract': [{ ...HELD, answers: { paused: true } }, {}],
  'a paused contract, without a loop': [{ ...HELD, answers: { paused: true } }, {}, { match: 'none' }],
  'a minimum above the offers': [HELD, { minAmountOut: d(3_700) }],
  'sales that lose too much': [{ ...HELD, lieOf: losing(9_890n) }, {}],
  'sales that lose too much, accepted': [{ ...HELD, lieOf: losing(9_890n) }, { maxSwapLossPct: d(5) }],
  'a sale near its debt': [
    { ...HELD, before: { ...held, stock: { ...held.stock, debt: whole(1_990, depositToken) } } },
    {},
  ],
  'a sale below its debt': [{ ...HELD, lieOf: losing(7_000n) }, { maxSwapLossPct: d(50) }],
  'a protocol that holds too little': [
    {
      ...HELD,
      answers: {
        market: market(3_000, 2_000),
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(chain.contracts.morphoBlue.slice(2).toLowerCase()) ? whole(1_000, depositToken) : 10n ** 30n,
      },
    },
    {},
  ],
  'not simulated': [{ ...HELD, unsimulated: 'node' }, {}],
  'not simulated, accepted': [{ ...HELD, unsimulated: 'node' }, { allowUnsimulated: true }],
};

const id = { strategyId: vault.id };
const deposit = ([scene, request]: Deposit) =>
  buildVaultDeposit(depsOf(scene).deps, { ...id, amount: d(3_000), stockLtvPct: d(30), ...request }, USER);
const exit = ([scene, request, match = {}]: Exit) =>
  buildVaultExit({ ...depsOf(scene).deps, readWallet: async () => walletOf(match) }, { ...id, ...request }, USER);
const callsOf = (calls: Awaited<ReturnType<typeof exit>>['calls']) =>
  calls.map((call) => ({ to: call.to, value: call.value, ...intentOf(call, USER) }));
const swapsOf = (swaps: Awaited<ReturnType<typeof exit>>['swaps']) =>
  swaps.map(({ quote, tokenIn, tokenOut, expectedOut, minOut, reference, lossPct, feeBps }) => ({
    swap: `${quote.amountIn} ${tokenIn.symbol} into ${expectedOut} ${tokenOut.symbol}`,
    minOut,
    reference,
    lossPct,
    feeBps,
  }));
const whereOf = (name: string) => join(import.meta.dirname, 'plans', `${name}.txt`);

it('behavior: deposits', async () => {
  const text = await tableOf(DEPOSITS, async (one) => {
    const { calls, swaps, terms, user: _user, ...rest } = await deposit(one);
    const { vault: _vault, router: _router, swaps: _swaps, ...decided } = terms;
    return { calls: callsOf(calls), swaps: swapsOf(swaps), ...rest, terms: decided };
  });
  await expect(text).toMatchFileSnapshot(whereOf('vault-deposits'));
});

it('behavior: a preview is the deposit without a wallet', async () => {
  const preview = await previewVaultDeposit(depsOf(ON).deps, { ...id, amount: d(3_000), stockLtvPct: d(30) });
  const built = await deposit([ON, {}]);
  expect(preview.terms.preview).toEqual({
    ...built.terms.preview,
    stock: { ...built.terms.preview.stock, combined: undefined },
  });
  expect(spell([preview.note, preview.issues], REST_NAMES)).toEqual([
    expect.stringContaining('the LTV never ends above 30.00 %'),
    [],
  ]);
});

it('behavior: exits', async () => {
  const text = await tableOf(EXITS, async (one) => {
    const { calls, swaps, terms, position: _position, user: _user, received, ...rest } = await exit(one);
    return {
      calls: callsOf(calls),
      swaps: swapsOf(swaps),
      ...rest,
      received: received?.map(({ token, amount }) => `${amount} ${token.symbol}`),
      loops: terms.loops.map(({ positionId }) => positionId),
    };
  });
  await expect(text).toMatchFileSnapshot(whereOf('vault-exits'));
});

describe('freshness at an exit', () => {
  const age = { lendingState: 301, oracle: 901 } as const;
  const stale = (group: keyof typeof age, of: typeof yieldMarket, wallet?: Match) =>
    exit([{ ...HELD, facts: aged(group, group === 'oracle' ? of.oracle : of.id, age[group]) }, {}, wallet]);

  test.each(['lendingState', 'oracle'] as const)(
    'error: StaleDataError for an old %s of the yield market, whose loop is closed',
    async (group) => {
      await expect(stale(group, yieldMarket)).rejects.toMatchObject({ code: 'stale_data', details: { group } });
    },
  );

  test.each(['lendingState', 'oracle'] as const)(
    'error: StaleDataError for an old %s of the stock market, with and without a loop',
    async (group) => {
      await expect(stale(group, stockMarket)).rejects.toBeInstanceOf(StaleDataError);
      await expect(stale(group, stockMarket, { match: 'none' })).rejects.toBeInstanceOf(StaleDataError);
    },
  );

  test('behavior: the yield market may be old where no loop is closed', async () => {
    const built = await stale('lendingState', yieldMarket, { match: 'none' });
    expect(built.terms.loops).toEqual([]);
  });
});

test('behavior: an exit is not bounded by the costs of its swaps together', async () => {
  // The loop is worth 1,605 and owes 1,480, the stock 2,000 and 1,200: an equity of 925. Each sale loses 0.95 %, below the bound
  // of a swap; together that is 34, above 3 % of the equity.
  const debts = [whole(1_480, depositToken), whole(1_200, depositToken)] as const;
  const before = { ...held, loop: { ...held.loop, debt: debts[0] }, stock: { ...held.stock, debt: debts[1] } };
  const built = await exit([{ ...HELD, before, lieOf: losing(9_910n) }, {}, { debts }]);
  expect(built.totalSwapCostPctOfEquity?.gt(3)).toBe(true);
  expect(built.swaps.every(({ lossPct }) => lossPct?.lte(1))).toBe(true);
});

test('error: BadRequest for a loop that belongs to another vault', async () => {
  const wallet = { match: 'none', ids: [0, 1], elsewhere: [1] } as const;
  await expect(exit([HELD, { yieldPositionIds: [1] }, wallet])).rejects.toMatchObject({
    details: { field: 'yieldPositionIds', value: '1', limit: { oneOf: [0] } },
  });
  expect((await exit([HELD, { yieldPositionIds: [0] }, wallet])).terms.loops).toHaveLength(1);
});

test('behavior: an exit names the unanswered views of the contract only where it closes a loop', async () => {
  const scene: Scene = { ...HELD, answers: { paused: undefined } };
  const [withLoop, without] = [await exit([scene, {}]), await exit([scene, {}, { match: 'none' }])];
  expect(withLoop.instructions).toContain('did not answer paused');
  expect(without.instructions).not.toContain('did not answer');
});

test('error: BadRequest for a deposit on which not one unit is borrowed', async () => {
  // 0.000003 buy stock for some 0.000002, of which 30 % are less than one unit; of ten times as much they are some.
  await expect(deposit([ON, { amount: d('0.000003') }])).rejects.toMatchObject({
    details: { field: 'amount', value: '0.000003' },
    message: expect.stringContaining('not one unit would be borrowed'),
  });
});
