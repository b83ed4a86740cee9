import type { Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { equityChain } from '../support/equity.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../support/service.ts';
import { marketOf } from './leverage-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
}, 120_000);
afterAll(() => service?.stop());
const states: { chainId: number; id: Hex }[] = [];
beforeEach(async () => {
  for (const { chainId, id } of states.splice(0)) await service.world.chains.on(chainId).revert(id);
  for (const chainId of [1, 4663]) states.push({ chainId, id: await service.world.chains.on(chainId).snapshot() });
});

const [vault] = equityChain().equityVaults;
if (!vault) throw new Error('the local world has vaults');
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const looper = seededWallet('looper').account.address;
const shareholder = seededWallet('shareholder').account.address;
const open = { chainId: 1, strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };
const deposit = { chainId: 4663, strategyId: vault.id, amount: '100' };

const OPENING: readonly (readonly [string, Json])[] = [
  ['leverage/simulate', open],
  ['leverage/build', { ...open, userAddress: looper }],
  ['equity/simulate', deposit],
  ['equity/deposit/build', { ...deposit, userAddress: shareholder }],
];
const LEAVING: readonly (readonly [string, Json])[] = [
  ['manage/build', { chainId: 1, userAddress: looper, id: 0, action: 'close' }],
  ['equity/exit/build', { chainId: 4663, strategyId: vault.id, userAddress: shareholder }],
];
const refusal = async (path: string, body: Json) => {
  const answer = await service.post(`/v1/partner/${path}`, body, PARTNER);
  return [answer.status, answer.body.error?.code, answer.body.error?.details?.reason];
};
const call = (chainId: number, functionName: string, args: readonly unknown[]) => {
  const { chain } = service.world.chains.on(chainId);
  return service.world.chains
    .on(chainId)
    .call(OWNER, chain.contracts.flashLeverage, 'FlashLeverage', functionName, args);
};

describe('a paused contract', () => {
  it.each([...OPENING, ...LEAVING])('error: %s is refused for one reason', async (path, body) => {
    await call(body.chainId, 'pause', []);
    expect(await refusal(path, body)).toEqual([400, 'bad_request', 'market_closed']);
  });

  it('error: previews in GraphQL are refused as well', async () => {
    await call(1, 'pause', []);
    const { chainId, ...input } = open;
    const query = `query($input: LeveragePreviewInput!) { leveragePreview(input: $input) { __typename ... on NotEligibleRefusal { ineligibility } } }`;
    const { body } = await service.graphql(query, { input: { ...input, leverage: '3' } }, PARTNER);
    expect(body.data.leveragePreview).toEqual({ __typename: 'NotEligibleRefusal', ineligibility: 'market_closed' });
  });
});

describe('a market that the contract does not support any more', () => {
  it.each(OPENING)('error: %s is refused for one reason', async (path, body) => {
    const { id } = body.chainId === 1 ? market : vault.yieldMarket;
    await call(body.chainId, 'setMarketEnabled', [id, false]);
    expect(await refusal(path, body)).toEqual([400, 'bad_request', 'market_closed']);
  });

  it.each(LEAVING)('behavior: %s goes on', async (path, body) => {
    const { id } = body.chainId === 1 ? market : vault.yieldMarket;
    await call(body.chainId, 'setMarketEnabled', [id, false]);
    expect(await refusal(path, body)).toEqual([200, undefined, undefined]);
  });
});
