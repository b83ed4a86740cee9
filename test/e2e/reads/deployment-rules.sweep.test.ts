import { type Hex, numberToHex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { answering } from '../../support/answering.ts';
import { equityChain } from '../../support/equity.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, tokenOf } from '../leverage/support.ts';

const [vault] = equityChain().equityVaults;
const [account] = untouchedAccounts;
if (!vault || !account) throw new Error('the local world has vaults and untouched accounts');
const user = account.address;
const looper = seededWallet('looper').account.address;
const MARKETS = { 1: marketOf(1, 'sUSDe/PYUSD 91.5'), 4663: vault.yieldMarket } as const;
type ServedId = keyof typeof MARKETS;
const CHAINS: readonly ServedId[] = [1, 4663];

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const states: { chainId: number; id: Hex }[] = [];
beforeEach(async () => {
  for (const { chainId, id } of states.splice(0)) await service.world.chains.on(chainId).revert(id);
  for (const chainId of CHAINS) {
    states.push({ chainId, id: await service.world.chains.on(chainId).snapshot() });
    await service.refresh(`deployment:${chainId}`);
  }
});

const on = (chainId: number) => service.world.chains.on(chainId);
const own = async (chainId: number, functionName: string, args: readonly unknown[] = []): Promise<void> => {
  await on(chainId).call(OWNER, on(chainId).chain.contracts.flashLeverage, 'FlashLeverage', functionName, args);
  await service.refresh(`deployment:${chainId}`);
};
/** Remove views, so that their calls revert. */
async function silence(chainId: number, views: readonly string[]): Promise<void> {
  const { client, chain } = on(chainId);
  const address = chain.contracts.flashLeverage;
  let code = (await client.getCode({ address })) ?? '0x';
  for (const view of views) {
    code = code.replace(`63${toFunctionSelector(`function ${view}`).slice(2)}14`, '63deadbeef14') as Hex;
  }
  await client.setCode({ address, bytecode: code });
  await service.refresh(`deployment:${chainId}`);
}

const STRATEGY = `query($id: StrategyId!) { strategy(id: $id) {
  visibility { visible: listed checks { name: rule passed value threshold source note freshness { asOf staleAfterSec } } }
  deployment { paused supported correlated liquidationBufferPct source freshness { asOf } gaps { field reason message } }
  gaps { field reason message } ltvPct: ltvLimits { max: maxPct safe: safePct }
} }`;
const strategyOf = async (id: string): Promise<Json> => {
  const { body } = await service.graphql(STRATEGY, { id });
  expect(body.errors).toBeUndefined();
  return body.data.strategy;
};
const checkOf = (strategy: Json, rule: string): Json =>
  strategy.visibility.checks
    .map((check: Json) => ({ ...check, name: check.name.toLowerCase() }))
    .find(({ name }: Json) => name === rule);
const refused = async (path: string, body: Json): Promise<Json> => {
  const { status, body: answer } = await service.post(`/v1/partner/${path}`, body, PARTNER);
  return [status, answer.error?.details?.reason, answer.error?.details?.rule];
};
const open = (chainId: ServedId) => ({
  chainId,
  strategyId: MARKETS[chainId].id,
  payToken: MARKETS[chainId].collateral.address,
  amount: '100',
  leverage: 3,
});
const deposit = { chainId: 4663, strategyId: vault.id, amount: '100' };

interface Closing {
  readonly rule: string;
  readonly close: (chainId: ServedId) => Promise<void>;
  readonly values: readonly [before: RegExp, after: string];
  readonly reason: string;
}

const venueRouters = (chainId: ServedId) => new Set(Object.values(on(chainId).chain.swapRouters).flat());
const CLOSINGS: readonly Closing[] = [
  { rule: 'paused', close: (id) => own(id, 'pause'), values: [/^open$/, 'paused'], reason: 'market_closed' },
  {
    rule: 'unsupported',
    close: (id) => own(id, 'setMarketEnabled', [MARKETS[id].id, false]),
    values: [/^supported$/, 'unsupported'],
    reason: 'market_closed',
  },
  {
    rule: 'venue_not_allowed',
    close: async (id) => {
      for (const router of venueRouters(id)) await own(id, 'setSwapRouter', [router, false]);
    },
    values: [/^AggregatorOne/, 'none'],
    reason: 'venue_not_allowed',
  },
  {
    rule: 'catalog_mismatch',
    close: async (id) => {
      await answering(on(id), MARKETS[id].collateral.address, { 'decimals()': numberToHex(255, { size: 32 }) });
      await service.refresh(`deployment:${id}`);
    },
    values: [/^none$/, 'decimals'],
    reason: 'catalog_mismatch',
  },
];

describe.each(CHAINS)('on chain %i', (chainId) => {
  const { id } = MARKETS[chainId];

  it.each(CLOSINGS)('error: $rule is reported, unlisted, and not opened', async (closing) => {
    const { rule, close, values, reason } = closing;
    const before = checkOf(await strategyOf(id), rule);
    expect(before).toMatchObject({ passed: true, source: 'chain', note: null, threshold: null });
    expect(before.value).toMatch(values[0]);
    await close(chainId);
    const strategy = await strategyOf(id);
    const { timestamp } = await on(chainId).client.getBlock();
    expect(checkOf(strategy, rule)).toEqual({
      name: rule,
      passed: false,
      value: values[1],
      threshold: null,
      source: 'chain',
      note: null,
      freshness: { asOf: expect.any(String), staleAfterSec: 900 },
    });
    expect(new Date(checkOf(strategy, rule).freshness.asOf).getTime()).toBeLessThanOrEqual(Number(timestamp) * 1_000);
    expect(strategy.visibility.visible).toBe(false);
    const { body } = await service.get(`/v1/strategies/${id}`);
    expect([body.listed, body.notListedBecause]).toEqual([false, [rule]]);
    const listed = (await service.get(`/v1/strategies?chainId=${chainId}`)).body.strategies;
    expect(listed.some((one: Json) => one.id === id)).toBe(false);
    for (const [path, wallet] of [
      ['leverage/simulate', {}],
      ['leverage/build', { userAddress: user }],
    ] as const) {
      expect(await refused(path, { ...open(chainId), ...wallet })).toEqual([400, reason, rule]);
    }
    if (chainId === 4663) {
      expect(await refused('equity/simulate', deposit)).toEqual([400, reason, rule]);
      expect(checkOf(await strategyOf(vault.id), rule).passed).toBe(false);
    }
  });

  it('behavior: an unreadable term passes with its default and the reason', async () => {
    await silence(chainId, [
      'paused()',
      'isSupportedMarket(bytes32)',
      'isValidSwapRouter(address)',
      's_isCorrelated(bytes32)',
      'LIQUIDATION_BUFFER()',
      's_yieldFee()',
      's_depositFee()',
    ]);
    const strategy = await strategyOf(id);
    for (const rule of ['paused', 'unsupported', 'venue_not_allowed']) {
      expect(checkOf(strategy, rule)).toMatchObject({
        passed: true,
        value: null,
        note: expect.stringMatching(/counts? as (not paused|supported|allowed): .* The contract does not return it\.$/),
      });
      const gap = strategy.gaps.find(({ field }: Json) => field === `visibility.checks.${rule.toUpperCase()}`);
      expect(gap).toMatchObject({ reason: 'NOT_MEASURED', message: checkOf(strategy, rule).note });
    }
    expect(strategy.visibility.visible).toBe(true);
    expect(strategy.deployment).toMatchObject({
      paused: null,
      supported: null,
      liquidationBufferPct: null,
      source: 'chain',
    });
    const fields = ['paused', 'liquidationBufferPct', 'supported', 'correlated'];
    expect(strategy.deployment.gaps.map(({ field }: Json) => field)).toEqual(fields);
    const { body } = await service.get(`/v1/strategies/${id}`);
    expect(body.deployment).toEqual({ source: 'chain', freshness: expect.any(Object) });
    expect(body.gaps.map(({ field }: Json) => field)).toEqual(
      expect.arrayContaining(['ltvPct.max', 'maxLeverage', 'listed']),
    );
  });

  it.each([
    ['200 %', 2n * 10n ** 18n],
    ['all there is', 2n ** 256n - 1n],
  ])('behavior: rejects a buffer and fees of %s', async (_name, value) => {
    const word = numberToHex(value, { size: 32 });
    await answering(on(chainId), on(chainId).chain.contracts.flashLeverage, {
      'LIQUIDATION_BUFFER()': word,
      's_yieldFee()': word,
      's_depositFee()': word,
      'paused()': word,
    });
    await service.refresh(`deployment:${chainId}`);
    const strategy = await strategyOf(id);
    const max = Number(MARKETS[chainId].lltv) / 1e16 - 0.25;
    expect(strategy.ltvPct).toEqual({ max: max.toFixed(2), safe: (max - 0.75).toFixed(2) });
    expect(strategy.gaps.find(({ field }: Json) => field === 'ltvLimits.maxPct').reason).toBe('IMPLAUSIBLE');
    expect(strategy.deployment.gaps.map(({ reason }: Json) => reason)).toEqual(['IMPLAUSIBLE', 'IMPLAUSIBLE']);
    const fee = strategy.gaps.find(({ field }: Json) => /^fees\.(yield|deposit)FeePct$/.test(field));
    expect(fee.reason).toBe('IMPLAUSIBLE');
    expect(checkOf(strategy, 'paused')).toMatchObject({ passed: true, value: null });
  });

  it('behavior: a buffer above the liquidation LTV prevents opening', async () => {
    await answering(on(chainId), on(chainId).chain.contracts.flashLeverage, {
      'LIQUIDATION_BUFFER()': numberToHex(99n * 10n ** 16n, { size: 32 }),
    });
    await service.refresh(`deployment:${chainId}`);
    expect((await strategyOf(id)).ltvPct).toEqual({ max: '0.00', safe: '0.00' });
    const { status, body } = await service.post('/v1/partner/leverage/simulate', open(chainId), PARTNER);
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
  });
});

describe('routers of the product', () => {
  it('error: an unapproved one is avoided, or its actions are refused', async () => {
    const { flashLeverageRouter } = on(1).chain.contracts;
    await own(1, 'setApprovedOperator', [flashLeverageRouter, false]);
    const direct = await service.post('/v1/partner/leverage/simulate', open(1), PARTNER);
    expect([direct.status, direct.body.path]).toEqual([200, 'leverage']);
    const swapped = { ...open(1), payToken: tokenOf(1, 'USDC').address };
    expect(await refused('leverage/simulate', swapped)).toEqual([
      400,
      'operator_not_approved',
      'operator_not_approved',
    ]);
    const added = { chainId: 1, userAddress: looper, id: 0, action: 'add_collateral', amount: '10' };
    const payToken = tokenOf(1, 'USDC').address;
    expect((await refused('manage/build', { ...added, payToken }))[1]).toBe('operator_not_approved');
    const query =
      '{ chain(chainId: 1) { deployment { paused source freshness { status } operators { name allowed } swapRouters { name allowed } gaps { field } } } }';
    const { data } = (await service.graphql(query)).body;
    expect(data.chain.deployment).toMatchObject({
      paused: false,
      source: 'chain',
      freshness: { status: 'FRESH' },
      operators: [{ name: 'flashLeverageRouter', allowed: false }],
      gaps: [],
    });
    expect(data.chain.deployment.swapRouters.every(({ allowed }: Json) => allowed)).toBe(true);
  });

  it('error: a vault whose router is not approved refuses deposits', async () => {
    await own(4663, 'setApprovedOperator', [on(4663).chain.contracts.equityRouter, false]);
    expect(checkOf(await strategyOf(vault.id), 'operator_not_approved')).toMatchObject({
      passed: false,
      value: 'not approved',
      source: 'chain',
    });
    expect(await refused('equity/simulate', deposit)).toEqual([400, 'operator_not_approved', 'operator_not_approved']);
  });

  it('behavior: does not ask a venue with a refused router while another one is allowed', async () => {
    const [router] = on(1).chain.swapRouters.AggregatorOne ?? [];
    await own(1, 'setSwapRouter', [router, false]);
    expect(checkOf(await strategyOf(MARKETS[1].id), 'venue_not_allowed').value).toBe('AggregatorTwo');
    for (const amount of ['100', '200000']) {
      const { body } = await service.post('/v1/partner/leverage/simulate', { ...open(1), amount }, PARTNER);
      expect(body.positionPreview.swapSource).toBe('AggregatorTwo');
    }
  });
});

describe('positions with catalog disagreements', () => {
  const close = { chainId: 1, userAddress: looper, id: 0, action: 'close' };
  const flashLeverage = () => on(1).chain.contracts.flashLeverage;

  it('error: nothing is built while decimals or the protocol differ', async () => {
    await answering(on(1), flashLeverage(), { 'i_morpho()': numberToHex(1n, { size: 32 }) });
    await service.refresh('deployment:1');
    expect(await refused('manage/build', close)).toEqual([400, 'catalog_mismatch', 'catalog_mismatch']);
  });

  it('error: reports a contract without code as such, not as a missing position', async () => {
    await on(1).client.setCode({ address: flashLeverage(), bytecode: '0x' });
    await service.refresh('deployment:1');
    expect(await refused('manage/build', close)).toEqual([400, 'catalog_mismatch', 'catalog_mismatch']);
  });

  it('behavior: with another kind of market, actions that lower risk continue, and those that add risk are refused', async () => {
    await answering(on(1), flashLeverage(), { 's_isCorrelated(bytes32)': numberToHex(0n, { size: 32 }) });
    await service.refresh('deployment:1');
    const { status, body } = await service.post('/v1/partner/manage/build', close, PARTNER);
    expect([status, body.action]).toEqual([200, 'close']);
    const more = { ...close, action: 'borrow', amount: '1' };
    expect(await refused('manage/build', more)).toEqual([400, 'catalog_mismatch', 'catalog_mismatch']);
  });
});
