import { encodeDeployData, type Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileContracts } from '../../../devnet/chain/compile.ts';
import { sendMined } from '../../../devnet/chain/receipt.ts';
import { OWNER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import type { Market } from '../../../src/catalog/types.ts';
import { payTokenOf } from '../../../src/transactions/read/tokens.ts';
import { createBalanceSlots } from '../../../src/transactions/simulate/balance-slot.ts';
import { createSimulator } from '../../../src/transactions/simulate/simulate.ts';
import type { PayToken } from '../../../src/transactions/types.ts';
import { fixedNode } from '../../chain/fixed-node.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, units } from '../leverage/support.ts';

const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
/** Blocks behind the newest one that the local node calls final. */
const FINAL_BLOCKS = 64;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const [first, second] = [marketOf(1, 'sUSDe/PYUSD 91.5'), marketOf(1, 'PT-sUSDe/USDC 91.5')];
let service: TestService;
let partner: Partner;
let proxy: RpcProxy;

beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(1).rpcUrl);
      return { RPC_URL_1: proxy.url };
    },
  });
  partner = partnerOn(service, 1, account);
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});
let before: Hex;
const chain = () => service.world.chains.on(1);
beforeEach(async () => {
  before = await chain().snapshot();
});
const undo = () => chain().revert(before);

async function open(market: Market): Promise<number> {
  await chain().mint(market.collateral, user, units('100', market.collateral));
  const id = await partner.nextId();
  const body = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };
  await partner.send(await partner.build(BUILD, { ...body, userAddress: user }));
  return id;
}
const close = (id: number) => service.post(MANAGE, { chainId: 1, userAddress: user, id, action: 'close' }, PARTNER);

describe('a reorganization', () => {
  it.each([
    ['near the head', 0],
    ['of what was thought to be final', 2 * FINAL_BLOCKS],
  ])('behavior: %s with another position at the same id is not a liquidation', async (_name, blocks) => {
    const id = await open(first);
    if (blocks > 0) await chain().mine(blocks);
    expect((await close(id)).status).toBe(200);
    await undo();
    expect(await open(second)).toBe(id);
    const { status, body, text } = await close(id);
    expect(status, text).toBe(200);
    await partner.send(body);
    expect((await partner.position(second, id)).open).toBe(false);
  });

  it('behavior: removes a position that the reorganization removed', async () => {
    const id = await open(first);
    await chain().mine(2 * FINAL_BLOCKS);
    expect((await close(id)).status).toBe(200);
    await undo();
    const { status, body } = await close(id);
    expect([status, body.error.code, body.error.details.field]).toEqual([400, 'bad_request', 'body.id']);
  });

  it('behavior: reads market and proxy until their block is final, then uses memory', async () => {
    const id = await open(first);
    // Calls and not requests: how many calls share a request depends on the speed of the machine.
    const calls = async () => {
      proxy.calls();
      expect((await close(id)).status).toBe(200);
      return proxy.calls();
    };
    const near = await calls();
    expect(await calls()).toBe(near);
    await chain().mine(2 * FINAL_BLOCKS);
    expect(await calls()).toBe(near);
    expect(await calls()).toBeLessThan(near);
  });

  it('behavior: a replaced token at the same address has the new decimals', async () => {
    const deployed = async (decimals: number): Promise<string> => {
      const { TestToken } = await compileContracts();
      if (!TestToken) throw new Error('contracts/lending/TestToken.sol was not compiled');
      const args = ['Odd', 'ODD', decimals, OWNER];
      const data = encodeDeployData({ abi: TestToken.abi, bytecode: TestToken.bytecode, args });
      await chain().client.impersonateAccount({ address: OWNER });
      await chain().client.setBalance({ address: OWNER, value: 10n ** 20n });
      const { contractAddress } = await sendMined(chain().client, { from: OWNER, data });
      return contractAddress ?? '';
    };
    const amountIn = async (payToken: string) => {
      const body = { strategyId: first.id, payToken, amount: '1.5', leverage: 3 };
      const answer = await service.post('/v1/partner/leverage/simulate', body, PARTNER);
      return answer.body.error.details.amountIn;
    };
    const token = await deployed(4);
    expect(await amountIn(token)).toBe('15000');
    await undo();
    expect(await deployed(8)).toBe(token);
    expect(await amountIn(token)).toBe('150000000');
  });

  it('behavior: a token can be lent in simulation once it exists', async () => {
    const slots = createBalanceSlots();
    // A session stays at its block, so every reading opens a new one.
    const prepare = (token: PayToken) =>
      createSimulator(fixedNode({ rpcUrl: chain().rpcUrl, clock: service.clock }).session(), slots).prepare(token);
    const { collateral } = first;
    const code = await chain().client.getCode({ address: collateral.address });
    const token = payTokenOf(collateral);
    await chain().client.setCode({ address: collateral.address, bytecode: '0x' });
    expect(await prepare(token)).toBeUndefined();
    await chain().client.setCode({ address: collateral.address, bytecode: code ?? '0x' });
    expect(await prepare(token)).toBeDefined();
  });
});
