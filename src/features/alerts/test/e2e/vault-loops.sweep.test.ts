import { afterAll, beforeAll, expect, test } from 'vitest';
import { marketParams, tokenContract } from '../../../../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../../../../devnet/seed/accounts.ts';
import { type Json, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { morphoBlueAbi } from '../../../../abi/morpho-blue.ts';
import type { Address, Hex } from '../../../../shared/ids.ts';

const CHAIN_ID = 4663;
/** Its vault has two loops, which are matched by their basis. */
const HOLDER = '0x976EA74026E726554dB657fA54763abd0C3a0aa9';
const LIQUIDATOR = untouchedAccounts[0]?.address ?? HOLDER;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const register = async (body: object): Promise<string> =>
  (
    await service.post(
      '/v1/partner/alerts',
      { chainId: CHAIN_ID, wallet: HOLDER, webhookUrl: `${service.world.receiver.url}/hook`, ...body },
      PARTNER,
    )
  ).body.alert.id;
const alertOf = async (id: string): Promise<Json> =>
  (await service.get(`/v1/partner/alerts/${id}`, PARTNER)).body.alert;
const walletOf = async (): Promise<Json> =>
  (await service.get(`/v1/partner/positions/${HOLDER}?chainId=${CHAIN_ID}`, PARTNER)).body;
const bodiesOf = (id: string): Json[] =>
  service.world.receiver
    .received()
    .filter(({ headers }) => headers['x-spiral-alert-id'] === id)
    .map(({ body }) => JSON.parse(body));
const evaluate = () =>
  service.refresh(`lending-state:${CHAIN_ID}`, `position-history:${CHAIN_ID}`, 'alerts', 'alert-deliveries');

test('behavior: a vault keeps its loops when one of them is liquidated and no basis fits any more', async () => {
  const [vault] = (await walletOf()).equityPositions;
  const { strategyId, yieldLoopMatch, yieldLoops } = vault;
  expect([yieldLoopMatch, yieldLoops.length]).toEqual(['basis', 2]);
  const liquidated = await register({ strategyId, condition: 'liquidated' });
  const headroom = await register({ strategyId, condition: 'headroom_below', threshold: '0.5' });
  await evaluate();
  expect(await alertOf(headroom)).toMatchObject({ status: 'armed' });

  const [loop, other] = yieldLoops;
  const chain = service.world.chains.on(CHAIN_ID);
  const market = chain.chain.markets.find(({ id }) => id === loop.strategyId);
  if (!market) throw new Error('the loop has no market');
  const { morphoBlue } = chain.chain.contracts;
  await chain.mint(market.loan, LIQUIDATOR, 10n ** 30n);
  const token = tokenContract(chain.chain, market.loan);
  await chain.call(LIQUIDATOR, market.loan.address, token, 'approve', [morphoBlue, 10n ** 30n]);
  await chain.moveOracle(market, '-9');
  service.clock.advance(1_000);
  await evaluate();
  expect(await alertOf(headroom)).toMatchObject({ status: 'firing' });

  const proxy = loop.explorerLinks.proxy.split('/').at(-1);
  const read = { address: morphoBlue as Address, abi: morphoBlueAbi, functionName: 'position' } as const;
  const [, , collateral] = await chain.client.readContract({ ...read, args: [market.id as Hex, proxy] });
  await chain.call(LIQUIDATOR, morphoBlue, 'Morpho', 'liquidate', [marketParams(market), proxy, collateral, 0n, '0x']);
  service.clock.advance(1_000);
  await evaluate();
  const now = await walletOf();
  expect(now.equityPositions).toMatchObject([{ strategyId, yieldLoopMatch: 'none', yieldLoops: [] }]);
  const left = now.positions.find(({ id }: Json) => id === other.id);
  expect(Number(left.ltvHeadroomPct)).toBeLessThan(0.5);
  expect(bodiesOf(liquidated)).toMatchObject([
    { type: 'alert.fired', liquidation: { positionIndex: Number(loop.id), strategyId: null, basis: 'event' } },
  ]);
  expect(await alertOf(headroom)).toMatchObject({ status: 'firing' });
  expect(bodiesOf(headroom).map(({ type }) => type)).toEqual(['alert.fired']);

  // An alert that is registered now knows the loops from the others on the same vault.
  const late = await register({ strategyId, condition: 'headroom_below', threshold: '0.5' });
  await evaluate();
  expect(await alertOf(late)).toMatchObject({ status: 'firing' });

  await chain.moveOracle(market, '40');
  service.clock.advance(1_000);
  await evaluate();
  expect(bodiesOf(headroom).map(({ type }) => type)).toEqual(['alert.fired', 'alert.cleared']);
  expect(bodiesOf(liquidated)).toHaveLength(1);
});
