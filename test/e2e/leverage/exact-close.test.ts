import { toFunctionSelector } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { marketParams, tokenContract } from '../../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { prove } from '../../../packages/client/src/index.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import type { Market } from '../../../src/catalog/types.ts';
import type { Address, Hex } from '../../../src/shared/ids.ts';
import { equityVerbs, passing } from '../../support/equity.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { marketOf, type Partner, partnerOn } from './support.ts';

/*
 * Anybody may supply collateral for a position at the lending protocol. A close of all collateral then sells more than its quote
 * and reverts; one that names the amount that was read does not.
 */

const MANAGE = '/v1/partner/manage/build';
/** Selector of FlashLeverage__PartialSwapNotAllowed(). */
const PARTIAL_SWAP = toFunctionSelector('FlashLeverage__PartialSwapNotAllowed()');
const CHAINS = [1, 4663] as const;
const STRANGER: Address = untouchedAccounts[0]?.address ?? '0x';
let service: TestService;

beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
}, 120_000);
afterAll(() => service?.stop());
let states: readonly Hex[];
beforeEach(async () => {
  states = await Promise.all(CHAINS.map((chainId) => service.world.chains.on(chainId).snapshot()));
});
afterEach(async () => {
  await Promise.all(CHAINS.map((chainId, i) => service.world.chains.on(chainId).revert(states[i] ?? '0x')));
});

/** Supply collateral for an account, as anybody can at the lending protocol. */
async function supplyFor(market: Market, holder: Address, amount: bigint): Promise<void> {
  const local = service.world.chains.on(market.chainId);
  const { morphoBlue } = local.chain.contracts;
  await local.mint(market.collateral, STRANGER, amount);
  const token = tokenContract(local.chain, market.collateral);
  await local.call(STRANGER, market.collateral.address, token, 'approve', [morphoBlue, amount]);
  await local.call(STRANGER, morphoBlue, 'Morpho', 'supplyCollateral', [marketParams(market), amount, holder, '0x']);
}

async function proxyOf(chainId: number, id: number): Promise<Address> {
  const { chain, client } = service.world.chains.on(chainId);
  const { userProxy } = await client.readContract({
    address: chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePosition',
    args: [user, BigInt(id)],
  });
  return userProxy;
}

const proven = (chainId: number, row: string, body: Json, plan: Json) => {
  const { client } = service.world.chains.on(chainId);
  const node = { request: (request: object) => client.request(request as never) };
  const request = { row, input: { chainId, userAddress: user, ...body } } as never;
  return prove(plan as never, node as never, { account: user, request });
};

describe.each([
  [1, marketOf(1, 'sUSDe/PYUSD 91.5')],
  [4663, marketOf(4663, 'syrupUSDG/USDG 91.5')],
])('a close on chain %i', (chainId, market) => {
  let partner: Partner;
  beforeAll(() => {
    partner = partnerOn(service, chainId, account);
  });

  async function opened(leverage: number): Promise<number> {
    const id = await partner.nextId();
    await service.world.chains.on(chainId).mint(market.collateral, user, 10n ** BigInt(market.collateral.decimals + 3));
    const body = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage };
    await partner.send(await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
    return id;
  }
  const build = (body: Json) => partner.build(MANAGE, { userAddress: user, action: 'close', ...body });

  it('behavior: one unit of a stranger blocks a close of everything, and no exact one', async () => {
    const id = await opened(9);
    const proxy = await proxyOf(chainId, id);
    const blocked = await build({ id });
    await supplyFor(market, proxy, 1n);
    await expect(partner.send(blocked)).rejects.toThrow(PARTIAL_SWAP);
    const body = { id, action: 'close', exact: true };
    const exact = await build(body);
    expect(exact.meta.instructions).toContain('stays in the position');
    const proof = await proven(chainId, 'manageBuild', body, exact);
    expect(proof.sentences.join(' ')).toContain(`position ${id}`);
    const held = await partner.position(market, id);
    await supplyFor(market, proxy, 1n);
    const before = await partner.balance(market.loan);
    await partner.send(exact);
    expect((await partner.balance(market.loan)) > before).toBe(true);
    const after = await partner.position(market, id);
    expect(after.collateral * 10_000n < held.collateral, `${after.collateral} is left`).toBe(true);
    expect(after.debt * 10_000n <= held.debt, `${after.debt} is left`).toBe(true);
  });

  it.each([1n, 2n, 1_000n, 10n ** 6n, 10n ** 7n, 10n ** 10n, 10n ** 13n])(
    'behavior: nor do %s units',
    async (amount) => {
      const id = await opened(3);
      const exact = await build({ id, exact: true });
      const proxy = await proxyOf(chainId, id);
      await supplyFor(market, proxy, amount);
      await partner.send(exact);
      const { collateral, debt } = await partner.position(market, id);
      const price = await service.world.chains.on(chainId).oraclePrice(market);
      expect((collateral * price) / 10n ** 36n >= debt).toBe(true);
      expect(collateral < 2n * amount + 10n ** BigInt(market.collateral.decimals - 2)).toBe(true);
    },
  );

  it('behavior: undisturbed, it leaves at most what its debt is rounded by', async () => {
    const id = await opened(3);
    const { collateral } = await partner.position(market, id);
    await partner.send(await build({ id, exact: true }));
    const after = await partner.position(market, id);
    expect(after.collateral * 100_000n < collateral).toBe(true);
  });

  it('behavior: above its liquidation LTV it is built too, and says what can still make it revert', async () => {
    const local = service.world.chains.on(chainId);
    const id = await opened(9);
    await local.moveOracle(market, '-4');
    const exact = await build({ id, exact: true, maxSwapLossPct: 100 });
    await partner.send(exact);
    expect(await partner.position(market, id)).toMatchObject({ open: false, collateral: 0n });
  });
});

describe('an exit of a vault', () => {
  it('behavior: one unit for each leg blocks it, and no exact one', async () => {
    const verbs = equityVerbs(service);
    const spy = verbs.vault('SPY');
    await verbs.fund(user, spy, 5_000n * 10n ** BigInt(spy.depositToken.decimals));
    const deposit = { strategyId: spy.id, amount: '3000', userAddress: user };
    const { body: entered } = await service.post('/v1/partner/equity/deposit/build', deposit, PARTNER);
    await verbs.sendAtomically(user, entered.calls);
    const body = { strategyId: spy.id, userAddress: user };
    const path = '/v1/partner/equity/exit/build';
    const blocked = await service.post(path, body, PARTNER);
    const loopId = (await verbs.loops(user)).length - 1;
    const attack = async () => {
      await supplyFor(spy.yieldMarket, await proxyOf(4663, loopId), 1n);
      await supplyFor(spy.stockMarket, user, 1n);
    };
    await attack();
    await expect(verbs.sendAtomically(user, blocked.body.calls)).rejects.toThrow();
    const exact = await service.post(path, { ...body, exact: true }, PARTNER);
    expect(exact.status, exact.text).toBe(200);
    await proven(4663, 'equityExitBuild', { strategyId: spy.id, exact: true }, exact.body);
    await attack();
    const before = await verbs.balance(spy.depositToken.address, user);
    await verbs.sendAtomically(user, exact.body.calls);
    expect((await verbs.balance(spy.depositToken.address, user)) > before).toBe(true);
    expect((await verbs.stockLeg(spy, user)).borrowShares).toBe(0n);
  }, 60_000);
});
