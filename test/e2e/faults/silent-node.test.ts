import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { equityChain } from '../../support/equity.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';

const CHAIN_ID = 4663;
/** Builds give up after twice 4 s; whoever waited as reads may would wait four times this long and more. */
const PATIENCE_MS = 30_000;
const RPC_TIMEOUT_MS = '60000';

let service: TestService;
let node: RpcProxy;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    env: { RPC_TIMEOUT_MS },
    arrange: async (world) => {
      node = await startRpcProxy(world.chains.on(CHAIN_ID).rpcUrl);
      return { [`RPC_URL_${CHAIN_ID}`]: node.url };
    },
  });
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await node?.stop();
});

test(
  'error: UpstreamUnavailable for every build on a silent node, well before the timeout of a read',
  async () => {
    const [vault] = equityChain().equityVaults;
    const { address: userAddress } = seededWallet('shareholder').account;
    const loop = vault?.yieldMarket;
    const bodies: Readonly<Record<string, object>> = {
      'equity/exit/build': { strategyId: vault?.id, userAddress },
      'equity/deposit/build': { strategyId: vault?.id, amount: '100', userAddress },
      'equity/simulate': { strategyId: vault?.id, amount: '100' },
      // Whether the loop belongs to a vault is read as well.
      'manage/build': { userAddress, id: 0, action: 'close', chainId: CHAIN_ID },
      'leverage/build': {
        strategyId: loop?.id,
        payToken: loop?.collateral.address,
        amount: '1',
        leverage: 2,
        userAddress,
        chainId: CHAIN_ID,
      },
    };
    node.set({ kind: 'hang' });
    const answers = await Promise.all(
      Object.entries(bodies).map(([path, body]) => service.post(`/v1/partner/${path}`, body, PARTNER)),
    );
    node.set({ kind: 'pass' });
    for (const answer of answers) {
      expect(expectEnvelope(answer, 503, 'upstream_unavailable').details).toEqual({
        provider: 'chain',
        reason: 'timeout',
      });
    }
  },
  PATIENCE_MS,
);
