import { decodeFunctionData, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { marketKey } from '../../../devnet/seed/markets.ts';
import { feedsOf } from '../../../devnet/seed/oracles.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { equityRouterAbi } from '../../../src/abi/equity-router.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { equityVerbs } from '../../support/equity.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';

const looper = seededWallet('looper').account.address;
/** Friday evening to Monday morning. */
const WEEKEND_SEC = 62 * 3_600;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const post = (path: string, body: object) => service.post(`/v1/partner/${path}`, body, PARTNER);
const chain = (chainId: number) => service.world.chains.on(chainId);
const market = (chainId: number, key: string) => marketByKey(chain(chainId).chain, key);
/** The first market of a collateral, by the name that tests use. */
const keyOf = (symbol: string) => {
  const found = chain(1).chain.markets.find(({ collateral }) => collateral.symbol === symbol);
  if (!found) throw new Error(`no market of ${symbol}`);
  return marketKey(found);
};
/** Let time pass on the chains and here. */
const advance = async (seconds: number) => {
  for (const chainId of [1, 4663]) await chain(chainId).increaseTime(seconds);
  service.clock.advance(seconds * 1_000);
  await service.refresh('lending-state:1', 'lending-state:4663');
};
/** The same, and refresh everything: only the frozen values age. */
const pass = async (seconds: number) => {
  await advance(seconds);
  await service.refresh('prices');
};

describe('a stock feed that pauses over a weekend', () => {
  const user = seededWallet('shareholder').account.address;
  const deposit = (path: string) => {
    const { id } = equityVerbs(service).vault('SPY');
    return post(path, { strategyId: id, amount: '1000', userAddress: path.includes('build') ? user : undefined });
  };

  test('refuses deposits exactly from the end of its budget; exits continue with a note', async () => {
    const { stockMarket } = equityVerbs(service).vault('SPY');
    expect(await deposit('equity/simulate')).toMatchObject({ status: 200 });
    await chain(4663).freezeFeed(stockMarket);
    await pass(20 * 3_600);
    expect((await deposit('equity/simulate')).status).toBe(200);
    await pass(WEEKEND_SEC - 20 * 3_600);
    for (const path of ['equity/simulate', 'equity/deposit/build']) {
      const { status, body } = await deposit(path);
      expect([path, status, body.error?.code]).toEqual([path, 503, 'stale_data']);
      expect(body.error.details).toMatchObject({
        group: 'oracle',
        staleAfterSec: 90_000,
        feed: feedsOf(stockMarket).base,
        reference: expect.stringContaining(stockMarket.oracle),
      });
      expect(body.error.details.staleForSec).toBeGreaterThan(WEEKEND_SEC - 90_000 - 60);
      expect(body.error.message).toContain('last updated at');
    }
    const exit = await post('equity/exit/build', {
      strategyId: equityVerbs(service).vault('SPY').id,
      userAddress: user,
    });
    expect(exit.status).toBe(200);
    expect(exit.body.meta.instructions).toContain('is old: the feed behind it was last updated at');
    await chain(4663).unfreezeFeed(stockMarket);
    expect((await deposit('equity/simulate')).status).toBe(200);
  });

  test('refuses opens paid with the stock, whose USD price depends on that feed; adding and repaying continue', async () => {
    const { stockMarket, stock } = equityVerbs(service).vault('SPY');
    const loop = market(4663, 'syrupUSDG/USDG 91.5');
    const open = { chainId: 4663, strategyId: loop.id, payToken: stock.address, amount: '2', leverage: 2 };
    const manage = (action: string) =>
      post('manage/build', { chainId: 4663, userAddress: looper, id: 0, action, payToken: stock.address, amount: '1' });
    await pass(0);
    expect((await post('leverage/simulate', open)).status).toBe(200);
    await chain(4663).freezeFeed(stockMarket);
    await pass(WEEKEND_SEC);
    for (const path of ['leverage/simulate', 'leverage/build']) {
      const { status, body } = await post(path, path.endsWith('build') ? { ...open, userAddress: looper } : open);
      expect([path, status, body.error?.code]).toEqual([path, 503, 'stale_data']);
      expect(body.error.details).toMatchObject({
        group: 'oracle',
        feed: feedsOf(stockMarket).base,
        reference: expect.stringContaining(stockMarket.oracle),
      });
      expect(body.error.details.staleForSec).toBeGreaterThan(WEEKEND_SEC - 90_000 - 60);
    }
    for (const action of ['repay', 'add_collateral']) {
      const { status, body, text } = await manage(action);
      expect([action, status], text).toEqual([action, 200]);
      expect(body.meta.instructions).toContain(`The price of SPY, which follows from the oracle ${stockMarket.oracle}`);
      expect(body.meta.instructions).toContain('is old: the feed behind it was last updated at');
    }
    // A date in the future is no date: the age of the price is unknown, and no other source prices the stock.
    await chain(4663).dateFeed(stockMarket, 99_999_999_999n);
    await pass(0);
    const undated = await post('leverage/simulate', open);
    expect(undated.status, undated.text).toBe(200);
    expect(undated.body.note).toContain('has an unknown age, and no second source prices');
    expect((await manage('repay')).body.meta.instructions).toContain('has an unknown age');
    await chain(4663).unfreezeFeed(stockMarket);
    await pass(0);
    const dated = await post('leverage/simulate', open);
    expect([dated.status, dated.body.note.includes('unknown age')]).toEqual([200, false]);
  });
});

describe('a token whose USD price follows from an oracle that names no feeds', () => {
  test('is accepted with a note about its unknown age', async () => {
    const { address } = market(4663, 'wsNET/USDG 62.5 Longbow').collateral;
    const open = { chainId: 4663, strategyId: market(4663, 'syrupUSDG/USDG 91.5').id, payToken: address };
    const { status, body, text } = await post('leverage/simulate', { ...open, amount: '10', leverage: 2 });
    expect(status, text).toBe(200);
    expect(body.note).toContain('The price of wsNET, which follows from the oracle');
    expect(body.note).toContain('has an unknown age, and no second source prices');
  });
});

describe('a loop whose feed is past its heartbeat', () => {
  const user = looper;
  const token = (symbol: string) => {
    const found = chain(1).chain.tokens.find((candidate) => candidate.symbol === symbol);
    if (!found) throw new Error(`no ${symbol}`);
    return found;
  };
  const manage = (action: string, fields: object = {}): Promise<Json> =>
    post('manage/build', { chainId: 1, userAddress: user, id: 0, action, ...fields });

  test('takes no new risk; actions that lower risk continue with the age', async () => {
    const found = market(1, 'sUSDe/PYUSD 91.5');
    await chain(1).freezeFeed(found);
    await pass(86_400 + 601);
    const open = { chainId: 1, strategyId: found.id, payToken: found.collateral.address, amount: '1000', leverage: 3 };
    for (const answer of [
      await post('leverage/simulate', open),
      await post('leverage/build', { ...open, userAddress: user }),
      await manage('increase_leverage', { leverage: 6 }),
      await manage('borrow', { amount: '10' }),
      await manage('remove_collateral', { amount: '10' }),
    ]) {
      expect([answer.status, answer.body.error?.code]).toEqual([503, 'stale_data']);
      expect(answer.body.error.details.feed).toBe(feedsOf(found).base);
    }
    for (const answer of [
      await manage('close'),
      await manage('repay', { amount: '10', payToken: found.loan.address }),
      await manage('add_collateral', { amount: '10', payToken: found.collateral.address }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.body.meta.instructions).toContain('is old: the feed behind it was last updated at');
    }
    for (const [answer, path] of [
      [await manage('repay', { amount: '10', payToken: token('USDT').address }), 'swapAndRepay'],
      [await manage('repay', { amount: '0.01', payToken: zeroAddress }), 'swapAndRepay'],
      [await manage('add_collateral', { amount: '10', payToken: token('USDT').address }), 'swapAndSupplyCollateral'],
      [await manage('add_collateral', { amount: '0.01', payToken: zeroAddress }), 'swapAndSupplyCollateral'],
    ]) {
      expect([answer.status, answer.body.path]).toEqual([200, path]);
      const { instructions, positionPreview } = answer.body.meta;
      const { readAt, oraclePriceAsOf } = positionPreview;
      expect(instructions).toContain(`is old: the feed behind it was last updated at ${oraclePriceAsOf}`);
      expect(Date.parse(readAt.blockTime) - Date.parse(oraclePriceAsOf)).toBeGreaterThanOrEqual((86_400 + 600) * 1_000);
    }
    await chain(1).unfreezeFeed(found);
    expect((await post('leverage/simulate', open)).status).toBe(200);
  });
});

describe('an oracle that names no feeds', () => {
  test('takes new risk only while fresh USD prices agree within 1 %', async () => {
    const found = market(1, 'reUSD/USDC 91.5');
    const open = () =>
      post('leverage/simulate', {
        chainId: 1,
        strategyId: found.id,
        payToken: found.collateral.address,
        amount: '1000',
        leverage: 3,
      });
    const before = await open();
    expect(before.status).toBe(200);
    await chain(1).moveOracle(found, '-0.5');
    expect((await open()).status).toBe(200);
    await chain(1).moveOracle(found, '-1');
    const { status, body } = await open();
    expect([status, body.error?.code]).toEqual([503, 'stale_data']);
    expect(Number(body.error.details.deviationPct)).toBeGreaterThan(1);
    // Prices that are old referee nothing.
    await advance(901);
    const unjudged = await open();
    expect([unjudged.status, unjudged.body.error?.code]).toEqual([200, undefined]);
  });
});

describe('collateral of another market without a price', () => {
  test('is valued by its oracle and its loan token while both are fresh, for every payment', async () => {
    const { id } = market(1, 'sUSDe/PYUSD 91.5');
    await service.refresh('prices', 'lending-state:1');
    const paid = ['wsrUSD/USDC 94.5', ...['sDOLA', 'stUSDS'].map(keyOf)].map((key) => market(1, key).collateral);
    const open = (payToken: string) =>
      post('leverage/simulate', { chainId: 1, strategyId: id, payToken, amount: '1000', leverage: 2 });
    for (const { address, symbol } of paid) {
      const { status, body, text } = await open(address);
      expect([symbol, status], text).toEqual([symbol, 200]);
      expect(Number(body.positionPreview.totalSwapCostPctOfEquity)).toBeLessThan(1);
    }
    await advance(901);
    for (const { address, symbol } of paid) {
      const { status, body } = await open(address);
      expect([symbol, status, body.error?.details?.field]).toEqual([symbol, 400, 'body.minAmountOut']);
    }
    await service.refresh('prices');
  });
});

describe('minAmountOut', () => {
  const eth = { chainId: 4663, payToken: zeroAddress, amount: '0.3', leverage: 3 };
  const open = (more: object = {}) =>
    post('leverage/simulate', { ...eth, strategyId: market(4663, 'syrupUSDG/USDG 91.5').id, ...more });
  const close = (more: object = {}) =>
    post('manage/build', {
      chainId: 4663,
      userAddress: looper,
      id: 0,
      action: 'close',
      ...more,
    });

  test('is optional while a fresh USD price of the token limits its swap', async () => {
    await service.refresh('prices');
    const prices = await service.get('/v1/prices?chainId=4663');
    expect(Object.keys(prices.body.prices)).toContain(zeroAddress);
    const { status, body } = await open();
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.positionPreview.costs.map(({ kind }: Json) => kind)).toContain('ENTRY_SWAP');
    expect(body.note).not.toContain('no price of ETH');
  });

  test('is required without a price of the pair, and the refusal names the offer', async () => {
    // Prices that are old price nothing.
    await advance(901);
    const { status, body } = await open();
    expect([status, body.error?.code]).toEqual([400, 'bad_request']);
    expect(body.error.details).toMatchObject({ field: 'body.minAmountOut', limit: { required: true } });
    const { offered } = body.error.details.limit;
    expect((await open({ minAmountOut: new Decimal(offered).times('0.99').toFixed(6) })).status).toBe(200);
    const above = await open({ minAmountOut: new Decimal(offered).times('1.01').toFixed(6) });
    expect([above.status, above.body.error?.details?.field]).toEqual([400, 'body.minAmountOut']);
  });

  test('limits the minimum in the calldata', async () => {
    const usual = await close();
    expect(usual.status).toBe(200);
    const least = new Decimal(usual.body.meta.minTokenOut);
    const floor = least.times('1.002').toFixed(6);
    const raised = await close({ minAmountOut: floor });
    expect(raised.status).toBe(200);
    expect(new Decimal(raised.body.meta.minTokenOut).gte(floor)).toBe(true);
    const low = await close({ minAmountOut: '1' });
    expect(new Decimal(low.body.meta.minTokenOut).gte(least.times('0.9999'))).toBe(true);
    expect((await close({ minAmountOut: least.times(2).toFixed(6) })).body.error?.details?.field).toBe(
      'body.minAmountOut',
    );
  });

  test('of an exit covers all sales together', async () => {
    const exit = (more: object = {}) =>
      post('equity/exit/build', {
        strategyId: equityVerbs(service).vault('NVDA').id,
        userAddress: seededWallet('stacker').account.address,
        ...more,
      });
    const minimumOf = (calls: Json[]): bigint =>
      calls.reduce((sum, { data }) => {
        const call = decodeFunctionData({ abi: [...flashLeverageAbi, ...equityRouterAbi, ...morphoBlueAbi], data });
        const args: Json = call.args;
        if (call.functionName === 'deleverage') return sum + args.at(-1);
        return call.functionName === 'equityExit' ? sum + args[0].minLoanOut : sum;
      }, 0n);
    const usual = await exit();
    expect(usual.status).toBe(200);
    const floor = (minimumOf(usual.body.calls) * 1002n) / 1000n;
    const raised = await exit({ minAmountOut: new Decimal(floor.toString()).shiftedBy(-6).toFixed() });
    expect(raised.status).toBe(200);
    expect(minimumOf(raised.body.calls)).toBeGreaterThanOrEqual(floor);
  });

  test('is refused without a swap', async () => {
    const found = market(4663, 'syrupUSDG/USDG 91.5');
    const answers = [
      await open({ payToken: found.collateral.address, amount: '100', minAmountOut: '1' }),
      await close({ action: 'add_collateral', amount: '1', payToken: found.collateral.address, minAmountOut: '1' }),
      await close({ action: 'borrow', amount: '1', minAmountOut: '1' }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.error?.details?.field]).toEqual([400, 'body.minAmountOut']);
    }
  });
});
