import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, units } from '../leverage/support.ts';

const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const open = {
  strategyId: market.id,
  payToken: market.collateral.address,
  amount: '100',
  leverage: 3,
  userAddress: user,
};
/** Longer than a node that failed is asked last. */
const REST_MS = 11_000;

const logs = captureLogs();
let service: TestService;
let partner: Partner;
let first: RpcProxy;
let second: RpcProxy;

beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    sleep: noSleep,
    logger: logs.logger,
    arrange: async (world) => {
      const { rpcUrl } = world.chains.on(1);
      [first, second] = [await startRpcProxy(rpcUrl), await startRpcProxy(rpcUrl)];
      return { RPC_URL_1: `${first.url}, ${second.url}` };
    },
  });
  partner = partnerOn(service, 1, account);
  await chain().mint(market.collateral, user, units('10000', market.collateral));
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([first?.stop(), second?.stop()]);
});
afterEach(() => {
  for (const proxy of [first, second]) proxy.set({ kind: 'pass' });
  service.clock.advance(REST_MS);
});

const chain = () => service.world.chains.on(1);
const nodes = async (): Promise<Json[]> => {
  const { body } = await service.get('/health');
  return body.chains.find(({ chainId }: Json) => chainId === 1).nodes;
};
const positions = async (): Promise<number> => {
  const { body } = await service.get(`/v1/partner/positions/${user}?chainId=1`, PARTNER);
  return body.positions.length;
};
/** Told by `/health` once the late answer of a reading has come too. */
const blocksBehind = (place: number) =>
  vi.waitFor(async () => {
    const node = (await nodes())[place - 1];
    expect(node.status).toBe('ok');
    return node.blocksBehind;
  });
/** Open, look at it, close: each reading goes to the node that is chosen for it. */
async function wholeFlow(): Promise<void> {
  const id = await partner.nextId();
  await partner.send(await partner.build(BUILD, open));
  expect(await positions()).toBe(id + 1);
  await partner.send(await partner.build(MANAGE, { userAddress: user, id, action: 'close' }));
  expect((await partner.position(market, id)).open).toBe(false);
}

describe('two nodes of one chain', () => {
  it('default: /health shows both by their places, without addresses', async () => {
    const { text } = await service.get('/health');
    for (const { url } of [first, second]) expect(text).not.toContain(new URL(url).port);
    expect((await nodes()).map(({ node, capabilities }: Json) => [node, capabilities.simulateV1])).toEqual([
      [1, 'works'],
      [2, 'works'],
    ]);
    await wholeFlow();
  });

  it.each([1, 2])('behavior: all values are of the newest blocks while node %i lags', async (place) => {
    const lagging = place === 1 ? first : second;
    const blockNumber = await chain().client.getBlockNumber();
    await chain().increaseTime(60);
    service.clock.advance(60_000);
    await chain().mine(10);
    lagging.set({ kind: 'lag', blockNumber });
    // The first answer is taken until both nodes have been seen.
    await positions();
    for (let i = 0; i < 3; i += 1) await wholeFlow();
    expect((await nodes())[place - 1]).toMatchObject({ status: 'behind' });
    expect(logs.take().join('\n')).toContain('node is behind the others');
    lagging.set({ kind: 'pass' });
    await positions();
    expect(await blocksBehind(place)).toBe(0);
  });

  it.each([1, 2])('behavior: no reading waits for the hanging node %i', async (place) => {
    (place === 1 ? first : second).set({ kind: 'hang' });
    await service.refresh('lending-state:1');
    await wholeFlow();
  });

  it.each([1, 2])('behavior: no reading mixes the forks of node %i and the other', async (place) => {
    (place === 1 ? first : second).set({ kind: 'fork' });
    await service.refresh('lending-state:1');
    for (let i = 0; i < 3; i += 1) await wholeFlow();
  });

  it('behavior: builds use the other node when one has no capabilities', async () => {
    first.set({ kind: 'lacks', simulate: 'missing', overrides: 'refused' });
    await service.restart();
    service.clock.hold();
    expect((await nodes())[0].capabilities).toMatchObject({ simulateV1: 'missing', stateOverrides: 'missing' });
    for (let i = 0; i < 3; i += 1) await wholeFlow();
  });

  it('error: UpstreamUnavailable when neither answers, with immediate recovery', async () => {
    for (const proxy of [first, second]) proxy.set({ kind: 'down' });
    const { status, body } = await service.post(BUILD, { chainId: 1, ...open }, PARTNER);
    expect([status, body.error.code]).toEqual([503, 'upstream_unavailable']);
    expect((await nodes()).map(({ status: state }: Json) => state)).toEqual(['failing', 'failing']);
    for (const proxy of [first, second]) proxy.set({ kind: 'pass' });
    await wholeFlow();
    expect((await nodes()).map(({ status: state }: Json) => state)).toContain('ok');
  });
});
