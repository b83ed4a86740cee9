import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import type { EquityVault } from '../../src/catalog/types.ts';
import { createDatabase } from '../../src/database/client.ts';
import { equityBatch, equitySimulation } from '../../src/rest/schemas/equity.ts';
import { Decimal, fromUnits } from '../../src/shared/decimal.ts';
import type { Hex } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { type Json, PARTNER, startService, type TestService } from '../support/service.ts';
import { CHAIN_ID, type EquityVerbs, equityVerbs, passing, type SentCall } from './equity-support.ts';

const START_MS = 120_000;
const FLOW_MS = 60_000;
let service: TestService;
let verbs: EquityVerbs;
let snapshot: Hex;

beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
  verbs = equityVerbs(service);
}, START_MS);
afterAll(() => service.stop());
beforeEach(async () => {
  snapshot = await verbs.local.snapshot();
});
afterEach(() => verbs.local.revert(snapshot));

/** An account that the seeding leaves alone. */
const account = accounts[7] as (typeof accounts)[number];
const user = account.address;

type Send = (calls: readonly SentCall[]) => Promise<void>;
const WAYS: readonly (readonly [string, Send])[] = [
  ['the whole batch atomically', (calls) => verbs.sendAtomically(user, calls)],
  [
    'call by call in order',
    async (calls) => expect(await verbs.sendInOrder(account, calls)).toEqual(calls.map(() => true)),
  ],
];

async function build(path: 'deposit' | 'exit', body: object): Promise<Json> {
  const answer = await verbs.post(`/v1/partner/equity/${path}/build`, body);
  expect(answer.status, answer.text).toBe(200);
  expect(equityBatch.parse(answer.body)).toEqual(answer.body);
  return answer.body;
}

const atomically: Send = (calls) => verbs.sendAtomically(user, calls);

async function deposit(vault: EquityVault, amount: string, send: Send = atomically, extra: object = {}) {
  await verbs.fund(user, vault, BigInt(amount) * 10n ** BigInt(vault.depositToken.decimals));
  const built = await build('deposit', { strategyId: vault.id, amount, userAddress: user, ...extra });
  await send(built.calls);
  return built;
}

async function vaultPosition(vault: EquityVault, of = user): Promise<Json> {
  const { equityPositions } = await verbs.positions(of);
  return equityPositions.find(({ strategyId }: Json) => strategyId === vault.id);
}

/** One basis point: a hundredth of a percentage point, or of a percent of an amount. */
function expectPoints(actual: string, expected: string, what: string): void {
  expect(new Decimal(actual).minus(expected).abs().lte('0.01'), `${what}: ${actual} is not ${expected}`).toBe(true);
}
function expectNear(actual: string, expected: string, what: string): void {
  const off = new Decimal(actual).div(expected).minus(1).abs();
  expect(off.lte('0.0001'), `${what}: ${actual} is not ${expected}`).toBe(true);
}

describe.each(WAYS)('deposit and exit, %s', (_way, send) => {
  test.each([
    ['SPY', '20000', undefined],
    ['NVDA', '3500', '55'],
    ['TSLA', '1000', '12.5'],
  ] as const)(
    '%s',
    async (symbol, amount, stockLtvPct) => {
      const vault = verbs.vault(symbol);
      const input = { strategyId: vault.id, amount, ...(stockLtvPct === undefined ? {} : { stockLtvPct }) };
      const before = await verbs.balance(vault.depositToken.address, user);
      const stockBefore = await verbs.balance(vault.stock.address, user);
      const simulated = await verbs.post('/v1/partner/equity/simulate', input);
      expect(simulated.status, simulated.text).toBe(200);
      expect(equitySimulation.parse(simulated.body)).toEqual(simulated.body);
      const { preview } = simulated.body;

      const built = await deposit(vault, amount, send, input);
      expect(built).toMatchObject({ chainId: CHAIN_ID, action: 'equity_deposit', strategyId: vault.id, atomic: true });
      expect(built.meta.preview).toEqual(preview);
      expect(await verbs.isAuthorized(user)).toBe(false);

      const position = await vaultPosition(vault);
      expectPoints(position.stock.ltvPct, preview.stock.ltvPct, 'LTV');
      expectNear(position.stock.liquidationPriceUsd, preview.stock.liquidationPriceUsd, 'liquidation price');
      expectPoints(position.stock.priceDropToLiquidationPct, preview.stock.priceDropToLiquidationPct, 'price drop');
      expectNear(position.stock.debtUsdg, preview.stock.borrowUsdg, 'borrow');
      expectPoints(position.currentNetApyPct, preview.netApyPct, 'net APY');
      expect(position).toMatchObject({
        yieldLoopMatch: 'basis',
        stock: { collateral: preview.stock.expectedReceived },
      });
      const [loop] = position.yieldLoops;
      expectPoints(loop.ltvPct, preview.yieldLeg.ltvPct, 'LTV of the loop');
      expectPoints(loop.currentLeverageApyPct, preview.yieldLeg.leverageApyPct, 'APY of the loop');
      expectNear(loop.amountLoan, preview.yieldLeg.amountFlashLoan, 'debt of the loop');
      expect((await verbs.positions(user)).positions).toEqual([]);

      const exit = await build('exit', { strategyId: vault.id, userAddress: user });
      expect(exit).toMatchObject({ action: 'equity_exit', meta: { position: { strategyId: vault.id } } });
      await send(exit.calls);
      expect(await verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
      expect((await verbs.loops(user)).map(({ open }) => open)).toEqual([false]);
      expect(await verbs.isAuthorized(user)).toBe(false);
      expect((await verbs.positions(user)).equityPositions).toEqual([]);
      const back = fromUnits(
        (await verbs.balance(vault.depositToken.address, user)) - before,
        vault.depositToken.decimals,
      );
      // What the vault was worth comes back, less what the swaps out lose: nothing of it is anywhere else.
      const worth = new Decimal(position.netValueUsd);
      expect(back.gt(worth.times('0.99')) && back.lt(worth.times('1.001')), `${back} of ${worth}`).toBe(true);
      expect(await verbs.balance(vault.stock.address, user)).toBe(stockBefore);
      expect(await verbs.balance(vault.stock.address, verbs.router)).toBe(0n);
      expect(await verbs.balance(vault.depositToken.address, verbs.router)).toBe(0n);
    },
    FLOW_MS,
  );
});

/** LTV of a deposit by itself, and the wallet's whole stock leg after it. */
async function combinedPreview(input: object): Promise<[string, Json]> {
  const { body } = await service.graphql(
    `query($input: DepositEquityInput!) { depositEquity(input: $input) { ... on EquityDeposit { preview { stock {
      ltvPct combined { collateral debtUsdg ltvPct liquidationPriceUsd priceDropToLiquidationPct } } } } } }`,
    { input },
    PARTNER,
  );
  const { ltvPct, combined } = body.data.depositEquity.preview.stock;
  return [ltvPct, combined];
}

/** Within one basis point. */
function near(actual: string, expected: string): boolean {
  return new Decimal(actual).minus(expected).abs().lte(new Decimal(expected).times('0.0001'));
}

describe('deposit', () => {
  test('behavior: a second one stacks, and one exit closes both loops', async () => {
    const vault = verbs.vault('SPY');
    await deposit(vault, '8000');
    const next = { strategyId: vault.id, amount: '5000', stockLtvPct: '40' };
    const [own, combined] = await combinedPreview({ ...next, userAddress: user });
    await deposit(vault, '5000', undefined, { stockLtvPct: '40' });
    const position = await vaultPosition(vault);
    expectPoints(position.stock.ltvPct, combined.ltvPct, 'LTV of both together');
    expectPoints(position.stock.priceDropToLiquidationPct, combined.priceDropToLiquidationPct, 'drop');
    expect(near(position.stock.liquidationPriceUsd, combined.liquidationPriceUsd)).toBe(true);
    expect(near(position.stock.debtUsdg, combined.debtUsdg)).toBe(true);
    expect(near(position.stock.collateral, combined.collateral)).toBe(true);
    expect(new Decimal(own).lt(combined.ltvPct)).toBe(true);
    expect(position.yieldLoops.map(({ id }: Json) => id)).toEqual([1, 0]);
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(exit.calls).toHaveLength(5);
    await verbs.sendAtomically(user, exit.calls);
    expect(await verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
    expect((await verbs.loops(user)).some(({ open }) => open)).toBe(false);
  });

  test('behavior: a chain whose clock runs ahead of this machine is built on all the same', async () => {
    await verbs.local.increaseTime(120);
    const body = { strategyId: verbs.vault('SPY').id, amount: '1000', userAddress: user };
    expect((await build('deposit', body)).calls).toHaveLength(4);
  });

  test('behavior: its own borrowing moves the rates, and the preview says how far', async () => {
    const vault = verbs.vault('NVDA');
    const { meta } = await deposit(vault, '20000');
    const { preview } = meta;
    expect(new Decimal(preview.netApyAfterPct).lt(preview.netApyPct)).toBe(true);
    await service.refresh(`lending-state:${CHAIN_ID}`);
    const position = await vaultPosition(vault);
    expectPoints(position.stock.borrowApyPct, preview.stock.borrowApyAfterPct, 'borrow APY');
    expectPoints(position.yieldLoops[0].currentLeverageApyPct, preview.yieldLeg.leverageApyAfterPct, 'APY of the loop');
    expectPoints(position.currentNetApyPct, preview.netApyAfterPct, 'net APY');
  });

  test('behavior: an allowance that suffices is not asked for again', async () => {
    const vault = verbs.vault('SPY');
    await verbs.fund(user, vault, 1_000_000_000n);
    const body = { strategyId: vault.id, amount: '1000', userAddress: user };
    const first = await build('deposit', body);
    expect(first.calls).toHaveLength(4);
    await verbs.sendInOrder(account, first.calls.slice(0, 1));
    const second = await build('deposit', body);
    expect(second.calls).toHaveLength(3);
    await verbs.sendAtomically(user, second.calls);
    expect((await vaultPosition(vault)).stock.collateral).toBe(second.meta.preview.stock.expectedReceived);
  });

  test('behavior: an authorization that a broken-off batch left is taken back first', async () => {
    const vault = verbs.vault('NVDA');
    await verbs.authorize(user, true);
    await deposit(vault, '1000');
    expect(await verbs.isAuthorized(user)).toBe(false);
    await verbs.authorize(user, true);
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(await verbs.sendInOrder(account, exit.calls)).toEqual([true, true, true, true, true]);
    expect(await verbs.isAuthorized(user)).toBe(false);
    expect((await verbs.stockLeg(vault, user)).collateral).toBe(0n);
  });

  test('behavior: both surfaces hand out the same calls, over GraphQL also as wallet_sendCalls and in words', async () => {
    const vault = verbs.vault('SPY');
    const input = { strategyId: vault.id, amount: '1500', userAddress: user };
    const [rest, graphql] = [await build('deposit', input), await verbs.deposit(input)];
    expect(graphql).toMatchObject({ __typename: 'EquityDeposit', atomic: true, action: 'equity_deposit' });
    expect(graphql.calls.map(({ to, data }: Json) => ({ to, data }))).toEqual(rest.calls);
    expect(graphql.sendCalls).toEqual({
      version: '2.0.0',
      chainId: '0x1237',
      from: user,
      atomicRequired: true,
      calls: rest.calls.map((call: Json) => ({ ...call, value: '0x0' })),
    });
    expect(graphql.calls.map(({ intent }: Json) => intent.method)).toEqual([
      'approve',
      'setAuthorization',
      'equityEntry',
      'setAuthorization',
    ]);
    const argumentsOf = (index: number) =>
      Object.fromEntries(graphql.calls[index].intent.arguments.map(({ name, value }: Json) => [name, value]));
    expect(argumentsOf(0)).toEqual({ spender: verbs.router, amount: '1500000000' });
    expect(argumentsOf(1)).toEqual({ authorized: verbs.router, newIsAuthorized: 'true' });
    expect(argumentsOf(2)).toMatchObject({
      'params.depositToken': vault.depositToken.address,
      'params.amountIn': '1500000000',
      'params.stockMarketId': vault.stockMarket.id,
      'params.leverageParams.marketId': vault.yieldMarket.id,
      'params.leverageParams.amountCollateral': '0',
    });
    expect(argumentsOf(3)).toEqual({ authorized: verbs.router, newIsAuthorized: 'false' });
    expect(Date.parse(rest.meta.expiresAt) - service.clock.now()).toBeLessThanOrEqual(60_000);
  });

  test('behavior: a wallet with nothing gets its batch and is told', async () => {
    const vault = verbs.vault('SPY');
    const input = { strategyId: vault.id, amount: '1234.5', userAddress: user };
    const spent = await verbs.balance(vault.depositToken.address, user);
    await verbs.local.send({ from: user, to: vault.depositToken.address, data: transferAll(spent) });
    const { calls, meta } = await build('deposit', input);
    expect(calls).toHaveLength(4);
    expect(meta.instructions).toContain('1234.5 USDG');
    const { issues, simulatedGas } = await verbs.deposit(input);
    expect(issues).toMatchObject([{ kind: 'INSUFFICIENT_BALANCE', required: '1234.5', available: '0' }]);
    expect(BigInt(simulatedGas)).toBeGreaterThan(0n);
  });
});

describe('with a receiver of fees and an app', () => {
  const receiver = '0x00000000000000000000000000000000000FEE00';
  beforeAll(() => service.restart({ FEE_RECEIVER: receiver, APP_URL: 'https://app.example/' }), START_MS);
  afterAll(() => service.restart(), START_MS);

  test('behavior: the previewed fees arrive, 25 bps of the stock leg and 5 of the yield leg, and none on the way out', async () => {
    const vault = verbs.vault('SPY');
    const received = () => verbs.balance(vault.depositToken.address, receiver);
    const { meta } = await deposit(vault, '10000');
    const { fees, stock, yieldLeg, depositToken } = meta.preview;
    expect(fees).toMatchObject({ stockLegBps: 25, yieldLegBps: 5 });
    const legs = new Decimal(stock.borrowUsdg).plus(yieldLeg.amountFlashLoan).times('0.0005');
    const taken = fromUnits(await received(), depositToken.decimals);
    expectNear(taken.toFixed(), legs.plus(25).toFixed(), 'fees');
    // In USD: the token itself is worth a little less than a dollar.
    expect(taken.minus(fees.estimatedFeeUsd).abs().lt('0.05')).toBe(true);
    const position = await vaultPosition(vault);
    expectPoints(position.stock.ltvPct, stock.ltvPct, 'LTV');
    expectPoints(position.currentNetApyPct, meta.preview.netApyPct, 'net APY');
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    const before = await received();
    await verbs.sendAtomically(user, exit.calls);
    expect(await received()).toBe(before);
  });

  test('behavior: the link carries the request, not the calls', async () => {
    const vault = verbs.vault('SPY');
    const { meta } = await build('deposit', { strategyId: vault.id, amount: '10', userAddress: user });
    const link = new URL(meta.signingUrl);
    expect(`${link.origin}${link.pathname}`).toBe('https://app.example/sign');
    expect(Object.fromEntries(link.searchParams)).toEqual({
      chainId: '4663',
      action: 'equity_deposit',
      userAddress: user,
      strategyId: vault.id,
      amount: '10',
      stockLtvPct: '50',
      slippage: '0.01',
    });
  });
});

describe('when a call in the middle fails', () => {
  test('behavior: in order, the last call of a deposit still revokes and nothing was deposited', async () => {
    const vault = verbs.vault('TSLA');
    await verbs.fund(user, vault, 2_000_000_000n);
    const before = await verbs.balance(vault.depositToken.address, user);
    const { calls } = await build('deposit', { strategyId: vault.id, amount: '2000', userAddress: user });
    await verbs.local.moveOracle(vault.stockMarket, '5');
    expect(await verbs.sendInOrder(account, calls)).toEqual([true, true, false, true]);
    expect(await verbs.isAuthorized(user)).toBe(false);
    expect(await verbs.balance(vault.depositToken.address, user)).toBe(before);
    expect(await verbs.loops(user)).toEqual([]);
    expect((await verbs.stockLeg(vault, user)).collateral).toBe(0n);
  });

  test('behavior: in order, the last call of an exit still revokes and the stock leg stays', async () => {
    const vault = verbs.vault('TSLA');
    await deposit(vault, '2000');
    const { calls } = await build('exit', { strategyId: vault.id, userAddress: user });
    await verbs.local.moveOracle(vault.stockMarket, '-5');
    expect(await verbs.sendInOrder(account, calls)).toEqual([true, true, false, true]);
    expect(await verbs.isAuthorized(user)).toBe(false);
    expect((await verbs.stockLeg(vault, user)).collateral).toBeGreaterThan(0n);
    // The loop is closed; what is left can be left by another build.
    const rest = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(await verbs.sendInOrder(account, rest.calls)).toEqual([true, true, true]);
    expect(await verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  test('behavior: atomically, nothing happens at all', async () => {
    const vault = verbs.vault('TSLA');
    await verbs.fund(user, vault, 2_000_000_000n);
    const { calls } = await build('deposit', { strategyId: vault.id, amount: '2000', userAddress: user });
    await verbs.local.moveOracle(vault.stockMarket, '5');
    await expect(verbs.sendAtomically(user, calls)).rejects.toThrow();
    expect(await verbs.isAuthorized(user)).toBe(false);
    expect(await verbs.loops(user)).toEqual([]);
  });
});

describe('exit', () => {
  const owner = (name: string) => seededWallet(name).account.address;
  const openIds = async (name: string) =>
    (await verbs.loops(owner(name))).flatMap(({ open }, id) => (open ? [id] : []));

  test('behavior: a basis match closes its loop', async () => {
    const vault = verbs.vault('SPY');
    const exit = await verbs.exit({ strategyId: vault.id, userAddress: owner('shareholder') });
    expect(exit).toMatchObject({ __typename: 'EquityExit', closes: [0], position: { yieldLoopMatch: 'basis' } });
    await verbs.sendAtomically(owner('shareholder'), exit.calls);
    expect(await openIds('shareholder')).toEqual([]);
    expect(await verbs.stockLeg(vault, owner('shareholder'))).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  test('behavior: stacked deposits match together; the plain loop beside them stays', async () => {
    const vault = verbs.vault('NVDA');
    const body = { strategyId: vault.id, userAddress: owner('stacker') };
    const exit = await build('exit', body);
    expect(exit.meta.position).toMatchObject({ yieldLoopMatch: 'basis' });
    expect(exit.calls).toHaveLength(5);
    await verbs.sendAtomically(owner('stacker'), exit.calls);
    expect(await openIds('stacker')).toEqual([2]);
  });

  test('behavior: a list closes what it names and leaves the other loop open', async () => {
    const vault = verbs.vault('NVDA');
    const body = { strategyId: vault.id, userAddress: owner('stacker'), yieldPositionIds: [1] };
    const exit = await build('exit', body);
    expect(exit.calls).toHaveLength(4);
    await verbs.sendAtomically(owner('stacker'), exit.calls);
    expect(await openIds('stacker')).toEqual([0, 2]);
  });

  test('error: an ambiguous match is refused with its candidates, and closes the named one alone', async () => {
    const vault = verbs.vault('TSLA');
    const body = { strategyId: vault.id, userAddress: owner('ambiguous') };
    const position = await vaultPosition(vault, owner('ambiguous'));
    expect(position).toMatchObject({ yieldLoopMatch: 'ambiguous', ambiguousYieldLoopIds: [0, 1], yieldLoops: [] });
    const refused = await verbs.post('/v1/partner/equity/exit/build', body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: 'bad_request',
      details: { field: 'body.yieldPositionIds', vaultId: vault.id, candidates: [0, 1] },
    });
    expect(await verbs.exit(body)).toMatchObject({
      __typename: 'AmbiguousYieldLoopsRefusal',
      retryable: false,
      candidates: [0, 1],
    });
    const exit = await build('exit', { ...body, yieldPositionIds: [0] });
    await verbs.sendAtomically(owner('ambiguous'), exit.calls);
    expect(await openIds('ambiguous')).toEqual([1]);
  });

  test('behavior: a registered loop decides', async () => {
    const vault = verbs.vault('TSLA');
    const wallet = owner('ambiguous');
    await register(wallet, vault, 1);
    const position = await vaultPosition(vault, wallet);
    expect(position).toMatchObject({ yieldLoopMatch: 'tagged', yieldLoops: [{ id: 1 }] });
    const exit = await verbs.exit({ strategyId: vault.id, userAddress: wallet });
    expect(exit).toMatchObject({ closes: [1], position: { yieldLoopMatch: 'tagged' } });
    const refused = await verbs.post('/v1/partner/equity/exit/build', {
      strategyId: vault.id,
      userAddress: wallet,
      yieldPositionIds: [0],
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details).toMatchObject({ limit: { candidates: [1] } });
    await unregister(wallet);
  });

  test('error: managing a loop of a vault alone is refused with the way out', async () => {
    const answer = await verbs.post('/v1/partner/manage/build', {
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

function transferAll(amount: bigint): Hex {
  const to = '000000000000000000000000000000000000000000000000000000000000dead';
  return `0xa9059cbb${to}${amount.toString(16).padStart(64, '0')}`;
}

async function withDatabase(work: (db: ReturnType<typeof createDatabase>) => Promise<unknown>): Promise<void> {
  const url = service.world.overrides.env.DATABASE_URL ?? '';
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: 5_000 }, { logger: silentLogger });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

function register(wallet: `0x${string}`, vault: EquityVault, positionIndex: number): Promise<void> {
  const zero = new Decimal(0);
  const atMs = Date.now();
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

function unregister(wallet: string): Promise<void> {
  return withDatabase((db) =>
    db.deleteFrom('position_registrations').where('wallet', '=', wallet.toLowerCase()).execute(),
  );
}
