import { type Hex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { equityChain } from '../../support/equity.ts';
import { openVariables, vaultVariables } from '../../support/partner-inputs.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf } from '../leverage/support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
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
  it.each([...OPENING, ...LEAVING])('error: refuses %s with one reason', async (path, body) => {
    await call(body.chainId, 'pause', []);
    expect(await refusal(path, body)).toEqual([400, 'bad_request', 'market_closed']);
  });

  it('error: refuses previews in GraphQL too', async () => {
    await call(1, 'pause', []);
    const { chainId, ...input } = open;
    const query = `query($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { __typename ... on NotEligibleRefusal { ineligibility } } }`;
    const { body } = await service.graphql(query, { ...openVariables({ ...input, leverage: 3 }) }, PARTNER);
    expect(body.data.preview).toEqual({ __typename: 'NotEligibleRefusal', ineligibility: 'MARKET_CLOSED' });
    await call(4663, 'pause', []);
    const vaults = `query($input: EquityDepositInput!) { preview(input: { equityDeposit: $input }) { __typename ... on NotEligibleRefusal { ineligibility } } }`;
    const shown = (await service.graphql(vaults, { ...vaultVariables(deposit) }, PARTNER)).body;
    expect(shown.data.preview).toEqual({
      __typename: 'NotEligibleRefusal',
      ineligibility: 'MARKET_CLOSED',
    });
  });
});

describe('a market that the contract no longer supports', () => {
  it.each(OPENING)('error: refuses %s with one reason', async (path, body) => {
    const { id } = body.chainId === 1 ? market : vault.yieldMarket;
    await call(body.chainId, 'setMarketEnabled', [id, false]);
    expect(await refusal(path, body)).toEqual([400, 'bad_request', 'market_closed']);
  });

  it.each(LEAVING)('behavior: %s continues', async (path, body) => {
    const { id } = body.chainId === 1 ? market : vault.yieldMarket;
    await call(body.chainId, 'setMarketEnabled', [id, false]);
    expect(await refusal(path, body)).toEqual([200, undefined, undefined]);
  });
});

describe('a deployment that lacks views', () => {
  const STATE = ['paused', 'isSupportedMarket'] as const;
  const TERMS = ['LIQUIDATION_BUFFER', 's_yieldFee', 's_depositFee', 's_isCorrelated'] as const;
  /** Remove views from the deployed code, so that their calls revert. */
  async function without(chainId: number, views: readonly (typeof STATE | typeof TERMS)[number][]): Promise<void> {
    const { client, chain } = service.world.chains.on(chainId);
    const address = chain.contracts.flashLeverage;
    let code = (await client.getCode({ address })) ?? '0x';
    for (const view of views) {
      const [item] = flashLeverageAbi.filter((entry) => 'name' in entry && entry.name === view);
      if (item?.type !== 'function') throw new Error(`no view ${view}`);
      // PUSH4 of the selector and EQ: where the dispatcher compares it.
      const push = `63${toFunctionSelector(item).slice(2)}14`;
      expect(code.split(push).length, view).toBe(2);
      code = code.replace(push, '63deadbeef14') as Hex;
    }
    await client.setCode({ address, bytecode: code });
  }
  const output = ({ note, meta }: Json): string => note ?? meta.instructions;

  it.each([...OPENING, ...LEAVING])(
    'behavior: %s continues with the documented defaults and a note',
    async (path, body) => {
      await without(body.chainId, [...STATE, ...TERMS]);
      const answer = await service.post(`/v1/partner/${path}`, body, PARTNER);
      expect(answer.status, answer.text).toBe(200);
      expect(output(answer.body)).toContain(`The contract did not answer ${STATE.join(', ')}: it counts as open`);
      expect(output(answer.body)).toContain(
        `The contract did not answer ${TERMS.join(', ')}: documented defaults are used`,
      );
    },
  );

  it('behavior: one missing view affects no other', async () => {
    await without(1, ['s_yieldFee']);
    const answer = await service.post('/v1/partner/leverage/simulate', open, PARTNER);
    expect(answer.body.note).toContain('The contract did not answer s_yieldFee: documented defaults');
    expect(answer.body.note).not.toContain('taken as open');
    await call(1, 'pause', []);
    expect(await refusal('leverage/simulate', open)).toEqual([400, 'bad_request', 'market_closed']);
  });

  it('behavior: costs and note have the simulated yield fee of a close', async () => {
    await call(1, 'updateYieldFee', [10n ** 17n]);
    await without(1, ['s_yieldFee']);
    await service.world.chains.on(1).moveOracle(market, '5');
    const answer = await service.post('/v1/partner/manage/build', LEAVING[0]?.[1], PARTNER);
    expect(answer.status, answer.text).toBe(200);
    const { positionPreview, instructions } = answer.body.meta;
    const { amount, symbol } = positionPreview.costs.find(({ kind }: Json) => kind === 'YIELD_FEE');
    expect(instructions).toContain(`The contract keeps about ${amount} ${symbol} of the yield as its fee.`);
  });
});

describe('the borrow incentive of a market', () => {
  it('behavior: previews and bundles mention its unknown dilution', async () => {
    const sentence = 'A borrow incentive is counted as it is paid now: its dilution by the new debt is unknown.';
    const textOf = async (path: string, body: Json) => {
      const answer = await service.post(`/v1/partner/${path}`, body, PARTNER);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.note ?? answer.body.meta.instructions;
    };
    for (const [path, body] of OPENING) expect(await textOf(path, body), path).toContain(sentence);
    const unpaid = marketOf(1, 'WBTC/USDC 86');
    const other = {
      chainId: 1,
      strategyId: unpaid.id,
      payToken: unpaid.collateral.address,
      amount: '0.1',
      leverage: 2,
    };
    expect(await textOf('leverage/simulate', other)).not.toContain(sentence);
    expect(await textOf('leverage/build', { ...other, userAddress: looper })).not.toContain(sentence);
  });
});
