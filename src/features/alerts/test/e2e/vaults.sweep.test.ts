import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketParams, tokenContract } from '../../../../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../../../devnet/seed/wallets.ts';
import { type Json, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { morphoBlueAbi } from '../../../../abi/morpho-blue.ts';
import type { Address, Hex } from '../../../../shared/ids.ts';

const CHAIN_ID = 4663;
const HOLDER = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
const LIQUIDATOR = untouchedAccounts[0]?.address ?? HOLDER;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const register = async (body: object) =>
  service.post(
    '/v1/partner/alerts',
    { chainId: CHAIN_ID, webhookUrl: `${service.world.receiver.url}/hook`, ...body },
    PARTNER,
  );
const alertOf = async (id: string): Promise<Json> =>
  (await service.get(`/v1/partner/alerts/${id}`, PARTNER)).body.alert;
const vaultsOf = async (): Promise<Json[]> =>
  (await service.get(`/v1/partner/positions/${HOLDER}?chainId=${CHAIN_ID}`, PARTNER)).body.equityPositions;
const firstVault = async (): Promise<Json> => {
  const [vault] = await vaultsOf();
  if (!vault) throw new Error('the holder has no vault');
  return vault;
};
const bodiesOf = (id: string): Json[] =>
  service.world.receiver
    .received()
    .filter(({ headers }) => headers['x-spiral-alert-id'] === id)
    .map(({ body }) => JSON.parse(body));
const evaluate = () =>
  service.refresh(`lending-state:${CHAIN_ID}`, `position-history:${CHAIN_ID}`, 'alerts', 'alert-deliveries');

describe('an alert on an equity vault', () => {
  test('default: is about the vault of the wallet, and its headroom is the least of its parts', async () => {
    const { strategyId, stock, yieldLoops } = await firstVault();
    const { status, body } = await register({
      wallet: HOLDER,
      strategyId,
      condition: 'headroom_below',
      threshold: '100',
    });
    expect(status).toBe(200);
    const about = { subject: 'vault', wallet: HOLDER, strategyId, positionIndex: null };
    expect(body.alert).toMatchObject(about);
    await evaluate();
    const headrooms = [stock, ...yieldLoops].map(({ ltvHeadroomPct }: Json) => Number(ltvHeadroomPct));
    const alert = await alertOf(body.alert.id);
    expect([alert.status, Number(alert.value)]).toEqual(['firing', Math.min(...headrooms)]);
    expect(bodiesOf(alert.id)).toMatchObject([{ type: 'alert.fired', alert: about }]);
    const listed = async (subject: string) =>
      (await service.get(`/v1/partner/alerts?subject=${subject}`, PARTNER)).body.alerts.map(({ id }: Json) => id);
    expect(await listed('vault')).toEqual([alert.id]);
    expect(await listed('strategy')).not.toContain(alert.id);
  });

  test('behavior: a vault that the wallet does not hold is not applicable, and is watched', async () => {
    const held = (await vaultsOf()).map(({ strategyId }) => strategyId);
    const { body } = await service.get(`/v1/strategies?chainId=${CHAIN_ID}&limit=500`);
    const other = body.strategies.find(({ id }: Json) => id.startsWith('equity-') && !held.includes(id));
    const stranger = seededWallet('looper').account.address;
    const on =
      other === undefined ? { wallet: stranger, strategyId: held[0] } : { wallet: HOLDER, strategyId: other.id };
    const ids: string[] = [];
    for (const condition of ['headroom_below', 'apy_below', 'liquidity_below'])
      ids.push((await register({ ...on, condition, threshold: '1' })).body.alert.id);
    for (const condition of ['stale', 'paused', 'liquidated'])
      ids.push((await register({ ...on, condition })).body.alert.id);
    await evaluate();
    const states = await Promise.all(ids.map(async (id) => (await alertOf(id)).status));
    expect(states).toEqual(['not_applicable', 'not_applicable', 'not_applicable', 'armed', 'armed', 'armed']);
  });

  test('behavior: each liquidation of the stock leg is reported once, of the wallet too, and its end is no recovery', async () => {
    const { strategyId } = await firstVault();
    const chain = service.world.chains.on(CHAIN_ID);
    const row = chain.chain.equityVaults.find(({ id }) => id === strategyId);
    const market = row?.stockMarket;
    if (!market) throw new Error('the vault has no market');
    const on = { wallet: HOLDER, strategyId };
    const ofVault = (await register({ ...on, condition: 'liquidated' })).body.alert.id;
    const ofWallet = (await register({ wallet: HOLDER, condition: 'liquidated' })).body.alert.id;
    const headroom = (await register({ ...on, condition: 'headroom_below', threshold: '100' })).body.alert.id;
    await evaluate();
    expect((await alertOf(ofVault)).status).toBe('armed');

    const { morphoBlue } = chain.chain.contracts;
    await chain.mint(market.loan, LIQUIDATOR, 10n ** 30n);
    const token = tokenContract(chain.chain, market.loan);
    await chain.call(LIQUIDATOR, market.loan.address, token, 'approve', [morphoBlue, 10n ** 30n]);
    const collateralOf = async () => {
      const read = { address: morphoBlue as Address, abi: morphoBlueAbi, functionName: 'position' } as const;
      return (await chain.client.readContract({ ...read, args: [market.id as Hex, HOLDER] }))[2];
    };
    const liquidate = async (movePercent: string, divisor: bigint) => {
      await chain.moveOracle(market, movePercent);
      const seized = (await collateralOf()) / divisor;
      await chain.call(LIQUIDATOR, morphoBlue, 'Morpho', 'liquidate', [marketParams(market), HOLDER, seized, 0n, '0x']);
      service.clock.advance(1_000);
      await evaluate();
    };
    await liquidate('-35', 4n);
    const fired = { type: 'alert.fired', liquidation: { positionIndex: null, strategyId, basis: 'event' } };
    for (const id of [ofVault, ofWallet]) expect(bodiesOf(id)).toMatchObject([fired]);
    await liquidate('-60', 1n);
    expect((await vaultsOf()).some((vault) => vault.strategyId === strategyId)).toBe(false);
    for (const id of [ofVault, ofWallet]) {
      expect(bodiesOf(id)).toMatchObject([fired, { ...fired, value: '2' }]);
      expect((await alertOf(id)).status).toBe('firing');
    }
    // Its loops are open, and are followed without it.
    expect((await alertOf(headroom)).status).toBe('firing');
    expect(bodiesOf(headroom).map(({ type }) => type)).toEqual(['alert.fired']);
    const path = `/v1/partner/positions/${HOLDER}/vaults/${strategyId}/history`;
    const { body } = await service.get(path, PARTNER);
    const seizures = body.events.filter(({ kind }: Json) => kind === 'liquidated').map(({ txHash }: Json) => txHash);
    expect(bodiesOf(ofVault).map(({ liquidation }) => liquidation.txHash)).toEqual(seizures);
    // A further evaluation reports nothing again.
    await evaluate();
    expect(bodiesOf(ofVault)).toHaveLength(2);
  });
});
