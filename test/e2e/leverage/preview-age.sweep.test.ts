import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { feedsOf } from '../../../devnet/seed/oracles.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { aggregatorAbi } from '../../../src/abi/feeds.ts';
import { equityVerbs } from '../../support/equity.ts';
import { openVariables } from '../../support/partner-inputs.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const post = (path: string, body: object) => service.post(`/v1/partner/${path}`, body, PARTNER);
const chain = (chainId: number) => service.world.chains.on(chainId);
const market = (chainId: number, key: string) => marketByKey(chain(chainId).chain, key);
const newest = async (chainId: number) => {
  const { number, timestamp } = await chain(chainId).client.getBlock();
  return { blockNumber: number.toString(), blockTime: new Date(Number(timestamp) * 1_000).toISOString() };
};
/** Time of the oldest feed update of a market on the chain. */
const feedDate = async (chainId: number, { base, quote }: { base: `0x${string}`; quote?: `0x${string}` }) => {
  const addresses = quote ? [base, quote] : [base];
  const rounds = await Promise.all(
    addresses.map((address) =>
      chain(chainId).client.readContract({ address, abi: aggregatorAbi, functionName: 'latestRoundData' }),
    ),
  );
  return new Date(Math.min(...rounds.map(([, , , updatedAt]) => Number(updatedAt))) * 1_000).toISOString();
};
const looper = seededWallet('looper').account.address;

describe.each([
  [1, 'sUSDe/PYUSD 91.5', 'feed'],
  [1, 'sUSDS/USDT 96.5', 'rate'],
  [1, 'reUSD/USDC 91.5', 'opaque'],
  [4663, 'syrupUSDG/USDG 91.5', 'feed'],
] as const)('opening on chain %i, %s', (chainId, key, kind) => {
  const ageOf = async () => (kind === 'feed' ? feedDate(chainId, { base: feedsOf(market(chainId, key)).base }) : null);
  const input = () => {
    const { id, collateral } = market(chainId, key);
    return { chainId, strategyId: id, payToken: collateral.address, amount: '1000', leverage: 3 };
  };

  test('preview and plan have the block of their prices and the age of the oracle price', async () => {
    const [readAt, oraclePriceAsOf] = [await newest(chainId), await ageOf()];
    const preview = await post('leverage/simulate', input());
    const plan = await post('leverage/build', { ...input(), userAddress: looper });
    expect([preview.status, plan.status]).toEqual([200, 200]);
    expect(bodyViolation('leverageSimulate', preview.body)).toBeNull();
    expect(bodyViolation('leverageBuild', plan.body)).toBeNull();
    for (const shown of [preview.body.positionPreview, plan.body.meta.positionPreview]) {
      expect(shown.readAt).toEqual(readAt);
      if (kind === 'opaque') expect(shown).not.toHaveProperty('oraclePriceAsOf');
      else expect(shown.oraclePriceAsOf).toBe(oraclePriceAsOf);
    }
    const requested = { ...input(), leverage: '3' };
    const fields =
      'readAt { blockNumber blockTime: blockAt } oraclePriceAsOf gaps(fields: ["oraclePriceAsOf"]) { reason }';
    const { body } = await service.graphql(
      `query($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { ... on Estimate { ${fields} } } }`,
      { ...openVariables(requested) },
      PARTNER,
    );
    expect(body.data.preview).toEqual({
      readAt,
      oraclePriceAsOf,
      gaps: { feed: [], rate: [{ reason: 'NOT_APPLICABLE' }], opaque: [{ reason: 'NOT_MEASURED' }] }[kind],
    });
  });
});

describe('an equity vault', () => {
  const vaults = () => equityVerbs(service);

  test('deposit and exit have them for the stock and for the yield leg', async () => {
    const vault = vaults().vault('SPY');
    const readAt = await newest(4663);
    const stock = await feedDate(4663, { base: feedsOf(vault.stockMarket).base });
    const leg = await feedDate(4663, { base: feedsOf(vault.yieldMarket).base });
    const request = { strategyId: vault.id, amount: '1000' };
    const preview = await post('equity/simulate', request);
    const deposit = await post('equity/deposit/build', { ...request, userAddress: looper });
    expect([preview.status, deposit.status]).toEqual([200, 200]);
    expect(bodyViolation('equitySimulate', preview.body)).toBeNull();
    for (const shown of [preview.body.preview, deposit.body.meta.preview]) {
      expect(shown).toMatchObject({ readAt, oraclePriceAsOf: stock, yieldLeg: { oraclePriceAsOf: leg } });
    }
    const userAddress = seededWallet('shareholder').account.address;
    const exit = await post('equity/exit/build', { strategyId: vault.id, userAddress });
    expect(exit.status).toBe(200);
    expect(bodyViolation('equityExitBuild', exit.body)).toBeNull();
    expect(exit.body.meta).toMatchObject({ readAt, oraclePriceAsOf: stock, position: { readAt } });
  });

  test('marks an unknown age', async () => {
    const vault = vaults().vault('SPY');
    await chain(4663).dateFeed(vault.stockMarket.id, 0n);
    const userAddress = seededWallet('shareholder').account.address;
    const { status, body } = await post('equity/exit/build', { strategyId: vault.id, userAddress });
    expect(status).toBe(200);
    expect(body.meta).not.toHaveProperty('oraclePriceAsOf');
    const answer = await service.graphql(
      'mutation($wallet: Address!, $input: EquityExitInput!) { equityExitPlan(wallet: $wallet, input: $input) { ... on Estimate { readAt { blockNumber } oraclePriceAsOf gaps(fields: ["oraclePriceAsOf"]) { reason } } } }',
      { wallet: userAddress, input: { strategyId: vault.id } },
      PARTNER,
    );
    expect(answer.body.data.equityExitPlan).toMatchObject({
      oraclePriceAsOf: null,
      gaps: [{ reason: 'NOT_MEASURED' }],
    });
    await chain(4663).unfreezeFeed(vault.stockMarket.id);
  });
});

describe('managing', () => {
  const manage = (action: string, fields: object = {}): Promise<Json> =>
    post('manage/build', { chainId: 1, userAddress: looper, id: 0, action, ...fields });

  test('a close, a partial close and a repayment have them at the block of their read', async () => {
    const found = market(1, 'sUSDe/PYUSD 91.5');
    await chain(1).freezeFeed(found);
    await chain(1).increaseTime(600);
    service.clock.advance(600_000);
    await service.refresh('lending-state:1');
    const [readAt, oraclePriceAsOf] = [await newest(1), await feedDate(1, { base: feedsOf(found).base })];
    expect(oraclePriceAsOf < readAt.blockTime).toBe(true);
    for (const answer of [
      await manage('close'),
      await manage('close', { amount: '100' }),
      await manage('repay', { amount: '10', payToken: found.loan.address }),
    ]) {
      expect(answer.status).toBe(200);
      expect(bodyViolation('leverageBuild', answer.body)).toBeNull();
      expect(answer.body.meta.positionPreview).toMatchObject({ readAt, oraclePriceAsOf });
    }
    await chain(1).unfreezeFeed(found);
  });
});
