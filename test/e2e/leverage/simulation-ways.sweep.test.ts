import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accounts, labelAddress, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Market } from '../../../src/catalog/types.ts';
import { formatUnitsPlain } from '../../../src/shared/decimal.ts';
import type { Hex } from '../../../src/shared/ids.ts';
import { type AdversarialVenues, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { equityChain, equityVerbs, passing } from '../../support/equity.ts';
import { manageVariables } from '../../support/partner-inputs.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import type { Lacks } from '../../support/process/rpc-relay.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const CHAIN_IDS = [1, 4663] as const;
type ChainId = (typeof CHAIN_IDS)[number];
const [account] = untouchedAccounts;
const depositor = accounts[7];
if (!account || !depositor) throw new Error('the local world has accounts');
const user = account.address;
const MARKETS: Readonly<Record<ChainId, Market>> = {
  1: marketOf(1, 'sUSDe/PYUSD 91.5'),
  4663: marketOf(4663, 'syrupUSDG/USDG 91.5'),
};
/** Paid with a token that is neither loan nor collateral where there is one: an open has two swaps then. */
const PAY: Readonly<Record<ChainId, string>> = { 1: 'USDC', 4663: 'USDG' };
const [vault] = equityChain().equityVaults;
if (!vault) throw new Error('the local world has vaults');

let service: TestService;
let venues: AdversarialVenues;
const proxies = new Map<number, RpcProxy>();
const partners = new Map<number, Partner>();
const before = new Map<number, Hex>();

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      for (const chainId of CHAIN_IDS) proxies.set(chainId, await startRpcProxy(world.chains.on(chainId).rpcUrl));
      return {
        ...venues.env,
        ...Object.fromEntries([...proxies].map(([chainId, { url }]) => [`RPC_URL_${chainId}`, url])),
      };
    },
  });
  for (const chainId of CHAIN_IDS) {
    partners.set(chainId, partnerOn(service, chainId, account));
    const { collateral } = MARKETS[chainId];
    for (const token of [collateral, tokenOf(chainId, PAY[chainId])]) {
      await chain(chainId).mint(token, user, units('100000', token));
    }
  }
});
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
  for (const proxy of proxies.values()) await proxy.stop();
});
beforeEach(async () => {
  for (const chainId of CHAIN_IDS) before.set(chainId, await chain(chainId).snapshot());
});
afterEach(async () => {
  venues.clear();
  for (const chainId of CHAIN_IDS) await chain(chainId).revert(before.get(chainId) as Hex);
});

const chain = (chainId: number) => service.world.chains.on(chainId);
const partner = (chainId: number) => partners.get(chainId) as Partner;

/** Restart the service with nodes that lack capabilities, which are probed at the start. */
async function restartBefore(lacks: Lacks): Promise<void> {
  for (const proxy of proxies.values()) proxy.set({ kind: 'lacks', ...lacks });
  await service.restart();
  service.clock.hold();
}

async function capabilities(chainId: number): Promise<Json> {
  const { body } = await service.get('/health');
  const found = body.chains.find((one: Json) => one.chainId === chainId);
  return found.nodes[0].capabilities;
}

const kindsOf = ({ issues }: Json): readonly string[] => issues.map(({ kind }: Json) => kind);

/** An open of which both swaps have the collateral as output. */
const opening = (chainId: ChainId, over: Json = {}) => ({
  strategyId: MARKETS[chainId].id,
  payToken: tokenOf(chainId, PAY[chainId]).address,
  amount: '1000',
  leverage: 4,
  slippage: 0.01,
  userAddress: user,
  ...over,
});

/** Sign and send, and compare the bundle with the chain, to the unit. */
async function execute(chainId: ChainId, id: number, bundle: Json): Promise<void> {
  await partner(chainId).send(bundle);
  const market = MARKETS[chainId];
  const held = await partner(chainId).position(market, id);
  const shown = bundle.meta.positionPreview;
  if (shown.effectiveLtv === undefined) {
    expect([held.open, held.debt]).toEqual([false, 0n]);
    return;
  }
  expect(formatUnitsPlain(held.collateral, market.collateral.decimals)).toBe(shown.amountLeveragedCollateral);
  expect(held.ltvPct.minus(shown.effectiveLtv).abs().lte('0.006'), String(held.ltvPct)).toBe(true);
}

async function open(chainId: ChainId): Promise<number> {
  const id = await partner(chainId).nextId();
  await execute(chainId, id, await partner(chainId).build(BUILD, opening(chainId)));
  return id;
}

const managing = (chainId: ChainId): readonly Json[] => {
  const pay = tokenOf(chainId, PAY[chainId]);
  return [
    { action: 'increase_leverage', leverage: 5 },
    { action: 'add_collateral', payToken: pay.address, amount: '100' },
    { action: 'repay', payToken: pay.address, amount: '100' },
    { action: 'borrow', amount: '10' },
    { action: 'remove_collateral', amount: '10' },
    { action: 'close', amount: '50' },
    { action: 'close' },
  ];
};

const WAYS: readonly [string, Lacks, Json][] = [
  ['eth_simulateV1', {}, { simulateV1: 'works', stateOverrides: 'works', batchSize: 500, blockHash: 'works' }],
  ['the executor, eth_simulateV1 failing', { simulate: 'crashes' }, { simulateV1: 'broken', stateOverrides: 'works' }],
  [
    'the executor, on a node without batches and without blocks by hash',
    { simulate: 'no_push0', batch: 1, blockHash: 'refused' },
    { simulateV1: 'broken', batchSize: 1, blockHash: 'missing' },
  ],
];

describe.each(WAYS)('simulated by %s', (_name, lacks, can) => {
  // Of nodes that lack nothing the service knows it from its start.
  if (Object.keys(lacks).length > 0) beforeAll(() => restartBefore(lacks));

  it.each(CHAIN_IDS)('default: /health of chain %i shows the capabilities of its node', async (chainId) => {
    expect(await capabilities(chainId)).toMatchObject(can);
  });

  it.each(CHAIN_IDS)('behavior: on chain %i a position opens, is managed and closes as planned', async (chainId) => {
    const id = await open(chainId);
    for (const body of managing(chainId)) {
      const bundle = await partner(chainId).build(MANAGE, { userAddress: user, id, slippage: 0.01, ...body });
      expect(bundle.meta.instructions).not.toContain('NOT_SIMULATED');
      await execute(chainId, id, bundle);
    }
  });

  it('behavior: batches deposit into a vault and exit from it', async () => {
    const verbs = equityVerbs(service);
    const wallet = depositor.address;
    await verbs.fund(wallet, vault, 5_000n * 10n ** BigInt(vault.depositToken.decimals));
    const body = { strategyId: vault.id, userAddress: wallet };
    const deposit = await verbs.deposit({ ...body, amount: '5000' });
    expect(kindsOf(deposit)).not.toContain('NOT_SIMULATED');
    expect(BigInt(deposit.simulatedGas)).toBeGreaterThan(500_000n);
    await verbs.sendAtomically(wallet, deposit.calls);
    const { collateral } = await verbs.stockLeg(vault, wallet);
    expect(formatUnitsPlain(collateral, vault.stock.decimals)).toBe(deposit.deposit.stock.expectedReceived);
    await service.refresh('lending-state:4663');
    const exit = await verbs.exit(body);
    expect(kindsOf(exit)).not.toContain('NOT_SIMULATED');
    await verbs.sendAtomically(wallet, exit.calls);
    expect(await verbs.stockLeg(vault, wallet)).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  // How batches travel changes nothing of these.
  if (lacks.batch !== undefined) return;

  it.each(CHAIN_IDS)('error: simulation_mismatch on chain %i when a venue keeps a part of a fill', async (chainId) => {
    const id = await open(chainId);
    for (const provider of ['kyberswap', 'openocean'] as const) venues.lie(provider, { kind: 'skim', ppm: 7_200n });
    const manage = { userAddress: user, id, slippage: 0.01 };
    const bodies = [
      [BUILD, opening(chainId)],
      [BUILD, opening(chainId, { payToken: MARKETS[chainId].collateral.address })],
      [MANAGE, { ...manage, action: 'close' }],
    ] as const;
    for (const [path, body] of bodies) {
      const { body: answer } = await service.post(path, { chainId, ...body }, PARTNER);
      expect([answer.error?.code, answer.error?.details.of]).toEqual(['simulation_mismatch', 'swap_output']);
      const { expected, simulated } = answer.error.details;
      expect(Number(simulated) / Number(expected)).toBeCloseTo(1 - 0.0072, 4);
    }
  });

  it('behavior: lends missing funds to a wallet', async () => {
    const poor = labelAddress('a wallet without anything');
    const bundle = await partner(1).build(BUILD, opening(1, { userAddress: poor, amount: '5000' }));
    expect(bundle.meta.instructions).toContain('fund it first');
    expect(bundle.meta.instructions).not.toContain('NOT_SIMULATED');
  });

  // The last one here: the service is started anew before the next way.
  if (lacks.simulate !== undefined) return;
  it('behavior: a capability that fails after its probe passed is not used again, and the build continues', async () => {
    expect(await capabilities(1)).toMatchObject({ simulateV1: 'works' });
    proxies.get(1)?.set({ kind: 'lacks', simulate: 'crashes' });
    const bundle = await partner(1).build(BUILD, opening(1));
    expect(bundle.meta.instructions).not.toContain('NOT_SIMULATED');
    expect(await capabilities(1)).toMatchObject({ simulateV1: 'broken', stateOverrides: 'works' });
  });
});

describe('on nodes without simulation', () => {
  const ids = new Map<number, number>();
  beforeAll(async () => {
    // Until here the nodes lack nothing that keeps the service from opening positions.
    for (const chainId of CHAIN_IDS) ids.set(chainId, await open(chainId));
    await restartBefore({ simulate: 'missing', overrides: 'refused' });
  });

  const refused = async (path: string, body: Json): Promise<Json> => {
    const { status, body: answer } = await service.post(path, body, PARTNER);
    expect([status, answer.error?.code], JSON.stringify(answer)).toEqual([503, 'upstream_unavailable']);
    expect(answer.error.details).toEqual({ provider: 'chain', reason: 'not_simulated' });
    return answer.error.message;
  };

  it.each(CHAIN_IDS)(
    'error: NotSimulated on chain %i for actions that add risk, even with allowUnsimulated',
    async (chainId) => {
      const manage = { chainId, userAddress: user, id: ids.get(chainId), allowUnsimulated: true };
      expect(await refused(BUILD, { chainId, ...opening(chainId) })).toContain('Nothing that adds risk');
      for (const action of [
        { action: 'increase_leverage', leverage: 5 },
        { action: 'borrow', amount: '10' },
        { action: 'remove_collateral', amount: '10' },
      ]) {
        expect(await refused(MANAGE, { ...manage, ...action })).toContain('Nothing that adds risk');
      }
    },
  );

  it('error: NotSimulated for a deposit into a vault', async () => {
    const body = { strategyId: vault.id, userAddress: depositor.address, amount: '5000' };
    expect(await refused('/v1/partner/equity/deposit/build', body)).toContain('Nothing that adds risk');
  });

  it.each(CHAIN_IDS)(
    'behavior: on chain %i actions that lower risk are built when allowed, with a note',
    async (chainId) => {
      const id = ids.get(chainId) ?? 0;
      for (const body of managing(chainId).filter(({ action }) => REDUCING.includes(action))) {
        const manage = { chainId, userAddress: user, id, slippage: 0.01, ...body };
        expect(await refused(MANAGE, manage)).toContain('allowUnsimulated: true');
        const bundle = await partner(chainId).build(MANAGE, { ...manage, allowUnsimulated: true });
        expect(bundle.meta.instructions).toContain('NOT_SIMULATED');
        await partner(chainId).send(bundle);
      }
      expect((await partner(chainId).position(MARKETS[chainId], id)).open).toBe(false);
    },
  );

  it('behavior: the yield fee of a part is unknown, not zero', async () => {
    const body = { chainId: 1, userAddress: user, id: ids.get(1), action: 'close', amount: '100', slippage: 0.01 };
    const { meta } = await partner(1).build(MANAGE, { ...body, allowUnsimulated: true });
    expect(meta.positionPreview.costs.map(({ kind }: Json) => kind)).not.toContain('YIELD_FEE');
    expect(meta.instructions).toContain('So is the yield fee of a part: it is at most 5 % of the proceeds');
  });

  it('behavior: GraphQL has the flag and the typed issue, and the gas is unknown', async () => {
    const query = `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) { ... on LeveragePlan {
      simulatedGas issues { kind message } received { amount } } } }`;
    const input = { chainId: 1, userAddress: user, id: ids.get(1), action: 'close', allowUnsimulated: true };
    const { body } = await service.graphql(query, { ...manageVariables(input) }, PARTNER);
    const plan = body.data.manageLeveragePlan;
    expect(kindsOf(plan)).toContain('NOT_SIMULATED');
    expect([plan.simulatedGas, plan.received]).toEqual([null, null]);
  });

  it('behavior: builds a vault exit when the caller allows it', async () => {
    const verbs = equityVerbs(service);
    const wallet = seededWallet('shareholder').account.address;
    const body = { strategyId: verbs.vault('SPY').id, userAddress: wallet };
    expect(await refused('/v1/partner/equity/exit/build', body)).toContain('allowUnsimulated: true');
    const exit = await verbs.exit({ ...body, allowUnsimulated: true });
    expect([kindsOf(exit).includes('NOT_SIMULATED'), exit.simulatedGas]).toEqual([true, null]);
    await verbs.sendAtomically(wallet, exit.calls);
    expect(await verbs.stockLeg(verbs.vault('SPY'), wallet)).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  it('behavior: reads and previews continue', async () => {
    const { userAddress: _, ...preview } = opening(1);
    expect((await service.post('/v1/partner/leverage/simulate', { chainId: 1, ...preview }, PARTNER)).status).toBe(200);
    expect((await service.get(`/v1/partner/positions/${user}?chainId=1`, PARTNER)).status).toBe(200);
  });
});

const REDUCING: readonly string[] = ['add_collateral', 'repay', 'close'];
