import { encodeFunctionData, maxUint256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { mainVenue } from '../../../devnet/chain/swaps.ts';
import { OWNER } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { seedRegistrations } from '../../../devnet/seed-database.ts';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import type { EquityVault } from '../../../src/catalog/types.ts';
import { createDatabase } from '../../../src/database/client.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { refusal } from '../../contracts/world.ts';
import { CHAIN_ID, EXIT_QUERY } from '../../support/equity.ts';
import { account, user, useVaults } from '../../support/vaults.ts';
import { expectEnvelope } from '../known.ts';

const vaults = useVaults();
const { build, deposit, positionIn } = vaults;

describe('exit', () => {
  const owner = (name: string) => seededWallet(name).account.address;
  const openIds = async (name: string) =>
    (await vaults.verbs.loops(owner(name))).flatMap(({ open }, id) => (open ? [id] : []));

  test('behavior: shows its costs and its minimum payout on both surfaces', async () => {
    const vault = vaults.verbs.vault('SPY');
    const body = { strategyId: vault.id, userAddress: owner('shareholder') };
    const { meta, calls } = await build('exit', body);
    expect(meta.costs.map(({ kind }: { kind: string }) => kind)).toEqual(['EXIT_SWAP', 'STOCK_SWAP']);
    expect(Number(meta.totalSwapCostPctOfEquity)).toBeGreaterThan(0);
    const shown = await vaults.verbs.ask(EXIT_QUERY, body);
    expect(shown.costs).toHaveLength(2);
    expect(shown.worstCase.ltvPct).toBeNull();
    const { equity } = meta.worstCase;
    expect(meta.worstCase).toEqual({ equity: expect.stringMatching(/^\d+(\.\d+)?$/), paidOut: equity });
    const before = await vaults.verbs.balance(vault.depositToken.address, body.userAddress);
    await vaults.verbs.sendAtomically(body.userAddress, calls);
    const gained = (await vaults.verbs.balance(vault.depositToken.address, body.userAddress)) - before;
    const least = new Decimal(meta.worstCase.equity).shiftedBy(vault.depositToken.decimals);
    expect(least.lte(gained.toString())).toBe(true);
    expect(least.gt(new Decimal(gained.toString()).times('0.9'))).toBe(true);
  });

  test('behavior: a basis match closes its loop', async () => {
    const vault = vaults.verbs.vault('SPY');
    const exit = await vaults.verbs.exit({ strategyId: vault.id, userAddress: owner('shareholder') });
    expect(exit).toMatchObject({
      __typename: 'EquityExitPlan',
      yieldPositionIds: [0],
      position: { yieldLoopMatch: 'BASIS' },
    });
    await vaults.verbs.sendAtomically(owner('shareholder'), exit.calls);
    expect(await openIds('shareholder')).toEqual([]);
    expect(await vaults.verbs.stockLeg(vault, owner('shareholder'))).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  test('behavior: stacked deposits match together; a separate plain loop stays open', async () => {
    const vault = vaults.verbs.vault('NVDA');
    const body = { strategyId: vault.id, userAddress: owner('stacker') };
    const exit = await build('exit', body);
    expect(exit.meta.position).toMatchObject({ yieldLoopMatch: 'basis' });
    expect(exit.calls).toHaveLength(5);
    await vaults.verbs.sendAtomically(owner('stacker'), exit.calls);
    expect(await openIds('stacker')).toEqual([2]);
  });

  test('behavior: an exit without a known loop names the open loops that it leaves, on both surfaces', async () => {
    const vault = vaults.verbs.vault('NVDA');
    const body = { strategyId: vault.id, userAddress: owner('stacker') };
    const { calls, meta } = await build('exit', body);
    expect(meta.issues).toEqual([]);
    // The first loop is closed by itself, and the basis of the other does not fit the debt.
    await vaults.verbs.sendAtomically(owner('stacker'), calls.slice(0, 1));
    const rest = await build('exit', body);
    expect([rest.meta.position.yieldLoopMatch, rest.calls.length]).toEqual(['none', 3]);
    const issue = { kind: 'loops_stay_open', message: expect.stringMatching(/leaves the open position 1 on/) };
    expect(rest.meta.issues).toEqual([issue]);
    const { issues } = await vaults.verbs.exit(body);
    expect(issues).toEqual([expect.objectContaining({ ...issue, kind: 'LOOPS_STAY_OPEN' })]);
    const named = await build('exit', { ...body, yieldPositionIds: [1] });
    expect([named.calls.length, named.meta.issues]).toEqual([4, []]);
    await vaults.verbs.sendAtomically(owner('stacker'), named.calls);
    expect(await openIds('stacker')).toEqual([2]);
    expect((await vaults.verbs.stockLeg(vault, owner('stacker'))).collateral).toBe(0n);
  });

  test('behavior: a loop under water, which no sale can close, does not hold up the exit and is named', async () => {
    const vault = vaults.verbs.vault('SPY');
    await deposit(vault, '5000');
    await vaults.verbs.local.moveOracle(vault.yieldMarket, '-12');
    const body = { strategyId: vault.id, userAddress: user };
    const exit = await build('exit', body);
    const issue = {
      kind: 'loops_stay_open',
      message: expect.stringMatching(/leaves the open position 0 on .*under water/),
    };
    expect([exit.calls.length, exit.meta.issues]).toEqual([3, [issue]]);
    expect((await vaults.verbs.exit(body)).issues).toEqual([
      expect.objectContaining({ ...issue, kind: 'LOOPS_STAY_OPEN' }),
    ]);
    const named = await vaults.verbs.post('/v1/partner/equity/exit/build', { ...body, yieldPositionIds: [0] });
    expect(named.status).toBe(400);
    await vaults.atomically(exit.calls);
    expect(await vaults.verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
    expect((await vaults.verbs.loops(user)).map(({ open }) => open)).toEqual([true]);
  });

  test('behavior: a list closes only its loops', async () => {
    const vault = vaults.verbs.vault('NVDA');
    const body = { strategyId: vault.id, userAddress: owner('stacker'), yieldPositionIds: [1] };
    const exit = await build('exit', body);
    expect(exit.calls).toHaveLength(4);
    await vaults.verbs.sendAtomically(owner('stacker'), exit.calls);
    expect(await openIds('stacker')).toEqual([0, 2]);
  });

  test('error: an ambiguous match is refused with its candidates, and then closes only the named one', async () => {
    const vault = vaults.verbs.vault('TSLA');
    const body = { strategyId: vault.id, userAddress: owner('ambiguous') };
    const position = await positionIn(vault, owner('ambiguous'));
    expect(position).toMatchObject({ yieldLoopMatch: 'ambiguous', ambiguousYieldLoopIds: [0, 1], yieldLoops: [] });
    const refused = await vaults.verbs.post('/v1/partner/equity/exit/build', body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: 'bad_request',
      details: { field: 'body.yieldPositionIds', vaultId: vault.id, yieldPositionIds: [0, 1] },
    });
    expect(await vaults.verbs.exit(body)).toMatchObject({
      __typename: 'AmbiguousYieldLoopsRefusal',
      code: 'AMBIGUOUS_YIELD_LOOPS',
      field: 'input.yieldPositionIds',
      retryable: false,
      yieldPositionIds: [0, 1],
    });
    const exit = await build('exit', { ...body, yieldPositionIds: [0] });
    await vaults.verbs.sendAtomically(owner('ambiguous'), exit.calls);
    expect(await openIds('ambiguous')).toEqual([1]);
  });

  test('behavior: a registered loop decides', async () => {
    const vault = vaults.verbs.vault('TSLA');
    const wallet = owner('ambiguous');
    await register(wallet, vault, 1);
    const position = await positionIn(vault, wallet);
    expect(position).toMatchObject({ yieldLoopMatch: 'tagged', yieldLoops: [{ id: 1 }] });
    const exit = await vaults.verbs.exit({ strategyId: vault.id, userAddress: wallet });
    expect(exit).toMatchObject({ yieldPositionIds: [1], position: { yieldLoopMatch: 'TAGGED' } });
    const refused = await vaults.verbs.post('/v1/partner/equity/exit/build', {
      strategyId: vault.id,
      userAddress: wallet,
      yieldPositionIds: [0],
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details).toMatchObject({ limit: { oneOf: [1] } });
    await unregister(wallet);
  });

  test('behavior: a registered loop of dust, which anybody may supply after its liquidation, does not hold up the exit', async () => {
    const vault = vaults.verbs.vault('SPY');
    const wallet = owner('shareholder');
    await register(wallet, vault, 0);
    await leaveOneUnit(vault, wallet, 0);
    const exit = await vaults.verbs.exit({ strategyId: vault.id, userAddress: wallet });
    expect(exit).toMatchObject({ __typename: 'EquityExitPlan', yieldPositionIds: [] });
    await vaults.verbs.sendAtomically(wallet, exit.calls);
    expect(await vaults.verbs.stockLeg(vault, wallet)).toEqual({ borrowShares: 0n, collateral: 0n });
    await unregister(wallet);
  });

  test('error: managing a single loop of a vault is refused with a pointer to the exit', async () => {
    const answer = await vaults.verbs.post('/v1/partner/manage/build', {
      userAddress: owner('shareholder'),
      id: 0,
      action: 'close',
      chainId: CHAIN_ID,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual({
      reason: 'equity_vault',
      pointer: '/v1/partner/equity/exit/build',
    });
  });
});

/** The fee of the chain's venue, basis points: it moves no oracle. */
async function setVenueFee(feeBps: bigint): Promise<void> {
  const { local } = vaults.verbs;
  await local.call(OWNER, mainVenue(local.chain), 'SwapVenue', 'setFee', [feeBps]);
}

/** A loop's sale may lose at most 1 % against the oracle: the contracts enforce it for every signed minimum. */
describe('the oracle cap on the sale of a loop', () => {
  const WITHIN = 90n;
  /** Less than a percent below the first quote, more than a percent below the oracle. */
  const BEYOND = 102n;
  /** Below the minimum of the exits, which is 1 % under their quote. */
  const BELOW_MINIMUM = 150n;

  test('error: LimitExceeded for a venue that pays too little names the loop and the limit', async () => {
    const vault = vaults.verbs.vault('SPY');
    await deposit(vault, '5000');
    const body = { strategyId: vault.id, userAddress: user };
    await setVenueFee(BEYOND);
    const refused = expectEnvelope(await vaults.verbs.post('/v1/partner/equity/exit/build', body), 400, 'bad_request');
    expect(refused.details).toEqual({
      field: 'body.yieldPositionIds',
      value: '0',
      limit: {
        maxPriceImpactPct: '1',
        maxSwapLossPct: expect.stringMatching(/^\d\.\d{1,2}$/),
        costUsd: expect.stringMatching(/^\d+\.\d\d$/),
      },
    });
    expect(await vaults.verbs.exit(body)).toMatchObject({
      __typename: 'LimitExceededRefusal',
      field: 'input.yieldPositionIds',
      limits: [
        { name: 'maxPriceImpactPct', value: '1' },
        { name: 'maxSwapLossPct', value: expect.stringMatching(/^\d\.\d{1,2}$/) },
        { name: 'costUsd', value: expect.stringMatching(/^\d+\.\d\d$/) },
      ],
      retryable: false,
    });
    await setVenueFee(WITHIN);
    // Each sale is within its bound, and all together are not.
    const together = await vaults.verbs.post('/v1/partner/equity/exit/build', body);
    expect(together.body.error.details.limit).toMatchObject({ maxTotalLossPct: '5' });
    const maxSwapLossPct = Number(together.body.error.details.limit.maxSwapLossPct);
    const built = await build('exit', { ...body, maxSwapLossPct });
    expect(built.meta.issues.map(({ kind }: { kind: string }) => kind)).toContain('high_cost');
    await vaults.atomically(built.calls);
    expect((await vaults.verbs.loops(user)).map(({ open }) => open)).toEqual([false]);
  });

  test('behavior: a batch with a swap below its minimum reverts without changes', async () => {
    const vault = vaults.verbs.vault('SPY');
    await deposit(vault, '5000');
    const { calls } = await build('exit', { strategyId: vault.id, userAddress: user });
    const [before, leg] = [await vaults.verbs.loops(user), await vaults.verbs.stockLeg(vault, user)];
    await setVenueFee(BELOW_MINIMUM);
    const [{ to, data }] = calls;
    const closing = await refusal(vaults.verbs.local.client.call({ account: user, to, data }));
    expect(closing?.name).toBe('FlashLeverage__SwapRouterCallFailed');
    await expect(vaults.atomically(calls)).rejects.toThrow();
    expect(await vaults.verbs.loops(user)).toEqual(before);
    expect(await vaults.verbs.stockLeg(vault, user)).toEqual(leg);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
  });

  test('behavior: sent as single calls, the failing loop stays open and can be closed later', async () => {
    const vault = vaults.verbs.vault('SPY');
    await deposit(vault, '5000');
    const { calls } = await build('exit', { strategyId: vault.id, userAddress: user });
    // Its venue follows the oracle: the sale of the loop falls below its minimum, that of the stock does not.
    await vaults.verbs.local.moveOracle(vault.yieldMarket, '-1.5');
    const [first, ...others] = await vaults.verbs.sendInOrder(account, calls);
    expect(first).toBe(false);
    expect(others.at(-1)).toBe(true);
    expect((await vaults.verbs.loops(user)).map(({ open }) => open)).toEqual([true]);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    const close = { userAddress: user, id: 0, action: 'close', chainId: CHAIN_ID };
    const left = await vaults.verbs.post('/v1/partner/manage/build', close);
    expect(left.status, left.text).toBe(200);
    expect(await vaults.verbs.sendInOrder(account, [left.body.tx])).toEqual([true]);
    expect((await vaults.verbs.loops(user)).map(({ open }) => open)).toEqual([false]);
  });
});

async function withDatabase(work: (db: ReturnType<typeof createDatabase>) => Promise<unknown>): Promise<void> {
  const url = vaults.service.world.overrides.env.DATABASE_URL ?? '';
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: 5_000 }, { logger: silentLogger });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

function register(wallet: `0x${string}`, vault: EquityVault, positionIndex: number): Promise<void> {
  const zero = new Decimal(0);
  const atMs = vaults.service.clock.now();
  return withDatabase((db) =>
    seedRegistrations(db, [
      {
        wallet,
        chainId: CHAIN_ID,
        marketId: vault.yieldMarket.id,
        positionIndex,
        isOpen: true,
        depositedUsd: zero,
        addedUsd: zero,
        removedUsd: zero,
        returnedUsd: zero,
        collateralApyPctAtOpen: null,
        borrowApyPctAtOpen: null,
        leverageApyPctAtOpen: null,
        desiredLtvPct: null,
        entryPrice: null,
        exitPrice: null,
        equityVaultId: vault.id,
        createdAtMs: atMs,
        updatedAtMs: atMs,
        closedAtMs: null,
      },
    ]),
  );
}

/** Repay a loop and withdraw all of its collateral but one unit: what is left of a liquidated one that was given dust. */
async function leaveOneUnit({ yieldMarket }: EquityVault, wallet: Address, index: number): Promise<void> {
  const { local, loops } = vaults.verbs;
  const { flashLeverage, morphoBlue } = local.chain.contracts;
  const account = (await loops(wallet))[index]?.userProxy ?? wallet;
  const [, , collateral] = await local.client.readContract({
    address: morphoBlue,
    abi: morphoBlueAbi,
    functionName: 'position',
    args: [yieldMarket.id, account],
  });
  const paid = 10n ** BigInt(yieldMarket.loan.decimals + 6);
  await local.mint(yieldMarket.loan, wallet, paid);
  const calls = [
    {
      to: yieldMarket.loan.address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [flashLeverage, paid] }),
    },
    ...[
      encodeFunctionData({
        abi: flashLeverageAbi,
        functionName: 'repay',
        args: [wallet, BigInt(index), paid, maxUint256],
      }),
      encodeFunctionData({
        abi: flashLeverageAbi,
        functionName: 'withdrawCollateral',
        args: [BigInt(index), collateral - 1n],
      }),
    ].map((data) => ({ to: flashLeverage, data })),
  ];
  for (const call of calls) await local.send({ from: wallet, ...call });
}

function unregister(wallet: string): Promise<void> {
  return withDatabase((db) =>
    db.deleteFrom('position_registrations').where('wallet', '=', wallet.toLowerCase()).execute(),
  );
}
