import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accounts, OWNER } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Market } from '../../../src/catalog/types.ts';
import { fromUnits } from '../../../src/shared/decimal.ts';
import type { Address, Hex } from '../../../src/shared/ids.ts';
import { CHAIN_ID, type EquityVerbs, equityChain, equityVerbs, passing } from '../../support/equity.ts';
import { type Answer, type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';

const SIMULATE = '/v1/partner/equity/simulate';
const DEPOSIT = '/v1/partner/equity/deposit/build';
const EXIT = '/v1/partner/equity/exit/build';
const chain = equityChain();
const user = accounts[7]?.address as Address;
let service: TestService;
let verbs: EquityVerbs;
let snapshot: Hex;

beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
  verbs = equityVerbs(service, chain);
});
afterAll(() => service.stop());
beforeEach(async () => {
  snapshot = await verbs.local.snapshot();
});
afterEach(async () => {
  service.world.upstreams.faults.clear();
  await verbs.local.revert(snapshot);
});

const body = (change: object = {}) => ({ strategyId: verbs.vault('SPY').id, amount: '1000', ...change });

/** The same refusal from the preview and from the build. */
async function refused(change: object, status: number, code: string): Promise<Json> {
  const simulated = expectEnvelope(await verbs.post(SIMULATE, body(change)), status, code);
  const built = expectEnvelope(await verbs.post(DEPOSIT, body({ ...change, userAddress: user })), status, code);
  expect(built.details).toEqual(simulated.details);
  return simulated.details;
}

describe('stockLtvPct', () => {
  test('behavior: accepts the cap', async () => {
    const answer = await verbs.post(SIMULATE, body({ stockLtvPct: '55' }));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.preview.stock).toMatchObject({ requestedLtvPct: '55.00', maxLtvPct: '55.00' });
  });

  test('error: refuses a hundredth above the cap with both numbers', async () => {
    expect(await refused({ stockLtvPct: '55.01' }, 400, 'bad_request')).toEqual({
      field: 'body.stockLtvPct',
      value: '55.01',
      limit: { maxStockLtvPct: '55.00' },
    });
    expect(await verbs.preview(body({ stockLtvPct: '55.01' }))).toMatchObject({
      __typename: 'LimitExceededRefusal',
      value: '55.01',
      field: 'input.equityDeposit.stockLtvPct',
      limits: [{ name: 'maxStockLtvPct', value: '55.00' }],
      code: 'LIMIT_EXCEEDED',
      retryable: false,
    });
  });

  test('error: refuses a zero loan', async () => {
    await refused({ stockLtvPct: '0' }, 400, 'bad_request');
  });
});

describe('slippage', () => {
  test('default: 0.01, which holds within the limit of the contracts', async () => {
    for (const symbol of ['SPY', 'NVDA', 'TSLA']) {
      const { preview, issues } = (await verbs.post(SIMULATE, body({ strategyId: verbs.vault(symbol).id }))).body;
      expect([symbol, preview.slippage, issues]).toEqual([symbol, 0.01, []]);
    }
    const small = (await verbs.post(SIMULATE, body({ slippage: 0.002 }))).body;
    expect(small.preview.slippage).toBe(0.002);
    expect(small.note).not.toContain('holds');
  });

  test('behavior: a value above the cap is capped, and the answer has the effective value', async () => {
    const simulated = await verbs.post(SIMULATE, body({ slippage: 0.05 }));
    const { preview, note, issues } = simulated.body;
    expect([preview.slippage, issues]).toMatchObject([0.01, [{ kind: 'slippage_capped', requestedSlippage: 0.05 }]]);
    expect(note).toContain(issues[0].message);
    const built = await verbs.post(DEPOSIT, body({ slippage: 0.05, userAddress: user }));
    expect(built.body.meta.slippage).toBe(0.01);
    expect(built.body.meta.instructions).toContain('Of the slippage 0.05 only 0.01 counts');
  });

  test.each([0, -0.01])('error: %s is refused', async (slippage) => {
    await refused({ slippage }, 400, 'bad_request');
  });
});

describe('which vault', () => {
  test.each([1, 10])('error: chain %s has none', async (chainId) => {
    await refused({ chainId }, 400, 'bad_request');
    const { body: answer } = await service.graphql(
      'query($chainId: ChainId, $input: EquityDepositInput!) { preview(chainId: $chainId, input: { equityDeposit: $input }) { __typename } }',
      { chainId, input: body() },
      PARTNER,
    );
    expect(answer.errors?.[0].extensions).toMatchObject({
      code: 'bad_request',
      details: { field: 'chainId', limit: { oneOf: chainId === 1 ? [CHAIN_ID] : [1, CHAIN_ID] } },
    });
  });

  test('behavior: accepts its own chain', async () => {
    expect((await verbs.post(SIMULATE, body({ chainId: CHAIN_ID }))).status).toBe(200);
  });

  test('error: unknown vault', async () => {
    await refused({ strategyId: `equity-0x${'ab'.repeat(32)}` }, 400, 'bad_request');
    const exit = { strategyId: `equity-0x${'ab'.repeat(32)}`, userAddress: user };
    expectEnvelope(await verbs.post(EXIT, exit), 400, 'bad_request');
  });

  test('error: the id of a loop is refused with a pointer to the loop builder', async () => {
    const strategyId = verbs.vault('SPY').yieldMarket.id;
    const details = { reason: 'not_equity_vault', pointer: '/v1/partner/leverage/simulate' };
    expect(await refused({ strategyId }, 400, 'bad_request')).toEqual(details);
    const exit = expectEnvelope(await verbs.post(EXIT, { strategyId, userAddress: user }), 400, 'bad_request');
    expect(exit.details).toEqual(details);
  });

  test.each(['equity-0x12', 'SPY', ''])('error: "%s" is not an id', async (strategyId) => {
    await refused({ strategyId }, 400, 'bad_request');
  });
});

describe('amount', () => {
  test.each(['0', '1.0000001', '-5', '1e3', '', '0.000001'])('error: "%s" is refused', async (amount) => {
    await refused({ amount }, 400, 'bad_request');
  });
});

describe('liquidity', () => {
  /** Let another wallet borrow nearly all liquidity of a market. */
  async function drain(market: Market): Promise<void> {
    const borrower = accounts[8]?.address as Address;
    const [supplied, , borrowed] = await verbs.totals(market);
    const free = supplied - borrowed;
    const price = await verbs.local.oraclePrice(market);
    const collateral = (free * 4n * 10n ** 36n) / price;
    await verbs.local.openMorphoPosition(market, { account: borrower, collateral, borrowed: free - 1_000_000n });
  }

  test.each(['stockMarket', 'yieldMarket'] as const)('error: the %s cannot lend the needed amount', async (leg) => {
    const market = verbs.vault('SPY')[leg];
    await drain(market);
    const details = await refused({}, 503, 'insufficient_liquidity');
    expect(details).toMatchObject({ symbol: 'USDG', marketId: market.id });
    expect(Number(details.needed)).toBeGreaterThan(400);
    expect(Number(details.available)).toBeLessThan(2);
    expect(await verbs.preview(body())).toMatchObject({
      __typename: 'InsufficientLiquidityRefusal',
      retryable: true,
      retryAfterSec: 5,
      code: 'INSUFFICIENT_LIQUIDITY',
      marketId: market.id,
    });
  });

  test('error: a flash-loan swap with a larger loss than the contracts accept', async () => {
    const { yieldMarket } = verbs.vault('SPY');
    // Only the venue's depth bounds it now.
    await verbs.local.supply(yieldMarket, 20_000_000_000_000n);
    const details = await refused({ amount: '1500000' }, 400, 'bad_request');
    expect(details).toEqual({
      field: 'body.amount',
      value: '1500000',
      limit: { maxPriceImpactPct: '1', maxSwapLossPct: expect.stringMatching(/^\d\.\d{1,2}$/) },
    });
  });

  test('error: no venue swaps a size beyond its depth', async () => {
    const details = await refused({ amount: '400000000' }, 503, 'no_route');
    expect(details).toMatchObject({ tokenIn: verbs.vault('SPY').depositToken.address, amountIn: '400000000000000' });
  });
});

describe('sources', () => {
  test('error: stale data stops builds, and reads continue', async () => {
    service.clock.advance(310_000);
    try {
      const details = await refused({}, 503, 'stale_data');
      expect(details).toMatchObject({ group: 'lendingState', staleAfterSec: 300 });
      const wallet = seededWallet('shareholder').account.address;
      const exit = await verbs.post(EXIT, { strategyId: verbs.vault('SPY').id, userAddress: wallet });
      expectEnvelope(exit, 503, 'stale_data');
      expect(exit.headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await service.get(`/v1/strategies?chainId=${CHAIN_ID}`)).status).toBe(200);
      expect((await verbs.positions(wallet)).equityPositions).toHaveLength(1);
    } finally {
      service.clock.advance(-310_000);
    }
  });

  test('error: the venue is down', async () => {
    service.world.upstreams.faults.set('kyberswap', { kind: 'status', status: 500 });
    await refused({}, 503, 'upstream_unavailable');
  });

  test('error: rejects an absurd quote', async () => {
    service.world.upstreams.faults.set('kyberswap', { kind: 'absurd' });
    await refused({}, 503, 'upstream_unavailable');
  });
});

describe('a closed market', () => {
  test('error: refuses deposits and exits while the contract is paused', async () => {
    await verbs.local.call(OWNER, chain.contracts.flashLeverage, 'FlashLeverage', 'pause', []);
    expect(await refused({}, 400, 'bad_request')).toEqual({ reason: 'market_closed', rule: 'paused' });
    const wallet = seededWallet('shareholder').account.address;
    const exit = await verbs.post(EXIT, { strategyId: verbs.vault('SPY').id, userAddress: wallet });
    expect(expectEnvelope(exit, 400, 'bad_request').details).toEqual({ reason: 'market_closed', rule: 'paused' });
  });

  test('error: refuses deposits into an unsupported market and allows exits', async () => {
    const { id } = verbs.vault('SPY').yieldMarket;
    await verbs.local.call(OWNER, chain.contracts.flashLeverage, 'FlashLeverage', 'setMarketEnabled', [id, false]);
    expect(await refused({}, 400, 'bad_request')).toEqual({
      reason: 'market_closed',
      rule: 'unsupported',
      pointer: EXIT,
    });
    const wallet = seededWallet('shareholder').account.address;
    const exit = await verbs.post(EXIT, { strategyId: verbs.vault('SPY').id, userAddress: wallet });
    expect(exit.status, exit.text).toBe(200);
    await verbs.sendAtomically(wallet, exit.body.calls);
    expect((await verbs.stockLeg(verbs.vault('SPY'), wallet)).collateral).toBe(0n);
  });
});

describe('a wallet', () => {
  test('error: refuses an exit from an empty vault', async () => {
    const answer = await verbs.post(EXIT, { strategyId: verbs.vault('SPY').id, userAddress: user });
    expect(expectEnvelope(answer, 400, 'bad_request').details).toMatchObject({ reason: 'nothing_to_do' });
    expect(await verbs.exit({ strategyId: verbs.vault('SPY').id, userAddress: user })).toMatchObject({
      __typename: 'NotEligibleRefusal',
      ineligibility: 'NOTHING_TO_DO',
      pointer: `wallet(address: "${user}", chainIds: [${CHAIN_ID}])`,
    });
  });

  test.each([
    ['a loop that is not its own', [2]],
    ['an id that does not exist', [77]],
    ['one id twice', [0, 0]],
    ['an empty list', []],
    ['a negative id', [-1]],
  ])('error: refuses to close %s', async (_what, yieldPositionIds) => {
    const { address } = seededWallet('stacker').account;
    const exit = { strategyId: verbs.vault('NVDA').id, userAddress: address, yieldPositionIds };
    expectEnvelope(await verbs.post(EXIT, exit), 400, 'bad_request');
  });

  test('error: refuses a sale below its debt with both numbers', async () => {
    const wallet = seededWallet('shareholder').account.address;
    const vault = verbs.vault('SPY');
    const exit = { strategyId: vault.id, userAddress: wallet };
    await verbs.local.moveOracle(vault.stockMarket, '-60');
    const stock = expectEnvelope(await verbs.post(EXIT, exit), 400, 'bad_request').details;
    expect(stock).toMatchObject({ field: 'body.strategyId', value: vault.id });
    expect(Number(stock.limit.proceeds)).toBeLessThan(Number(stock.limit.debt));
    await verbs.local.moveOracle(vault.yieldMarket, '-12');
    const named = { ...exit, yieldPositionIds: [0] };
    const loop = expectEnvelope(await verbs.post(EXIT, named), 400, 'bad_request').details;
    expect(loop).toMatchObject({ field: 'body.yieldPositionIds', value: '0' });
  });

  test('error: refuses an address that cannot sign', async () => {
    for (const userAddress of ['0x0000000000000000000000000000000000000000', verbs.router]) {
      for (const [path, sent] of [
        [DEPOSIT, body({ userAddress })],
        [EXIT, { strategyId: verbs.vault('SPY').id, userAddress }],
      ] as const) {
        const error = expectEnvelope(await verbs.post(path, sent), 400, 'bad_request');
        expect(error.details).toMatchObject({ field: 'body.userAddress' });
      }
    }
  });

  test('error: the simulation finds a stock leg above its liquidation LTV', async () => {
    const { stockMarket, depositToken } = verbs.vault('SPY');
    const collateral = 10n ** 19n;
    const value = (collateral * (await verbs.local.oraclePrice(stockMarket))) / 10n ** 36n;
    await verbs.local.openMorphoPosition(stockMarket, { account: user, collateral, borrowed: (value * 624n) / 1_000n });
    await verbs.local.moveOracle(stockMarket, '-1');
    const amount = fromUnits(1_000_000n, depositToken.decimals).toFixed();
    const error = expectEnvelope(
      await verbs.post(DEPOSIT, body({ amount, stockLtvPct: '55', userAddress: user })),
      400,
      'simulation_reverted',
    );
    expect(error.details).toMatchObject({ callIndex: 2, args: { message: 'insufficient collateral' } });
  });
});

describe('without a key', () => {
  test.each([SIMULATE, DEPOSIT, EXIT])('error: 401 for %s', async (path) => {
    const answer: Answer = await service.post(path, body({ userAddress: user }));
    expectEnvelope(answer, 401, 'unauthorized');
  });
});
