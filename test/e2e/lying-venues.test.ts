import { type Hex, zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import type { Market, Token } from '../../src/catalog/index.ts';
import type { Address } from '../../src/shared/ids.ts';
import { type EquityVerbs, EXIT_QUERY, equityVerbs, passing, REFUSED } from '../support/equity.ts';
import {
  type Lie,
  type LyingProvider,
  type LyingVenues,
  type Pair,
  startLyingVenues,
} from '../support/lying-venues.ts';
import { type Json, PARTNER, startService, type TestService } from '../support/service.ts';
import { account, user } from '../support/vaults.ts';
import { drain, localCatalog, marketOf, type Partner, partnerOn, tokenOf } from './leverage-support.ts';

/*
 * Every lie about every swap of every path: what is signed never leaves less than the worst case that was shown, an honest
 * venue beside a lying one gets the order, and a lie is no outage.
 */

const PLAN = /* GraphQL */ `
  approvals { to data value } tx { to data value } minTokenOut
  position { worstCaseLtv effectiveLtv requestedLtv }
`;
const OPEN = `query($input: OpenLeverageInput!) { plan: openLeverage(input: $input) { __typename ... on TransactionPlan { ${PLAN} } ${REFUSED} } }`;
const MANAGE = `query($input: ManagePositionInput!) { plan: managePosition(input: $input) { __typename ... on TransactionPlan { ${PLAN} } ${REFUSED} } }`;

const DEPOSIT = `query($input: DepositEquityInput!) { plan: depositEquity(input: $input) { __typename ... on EquityDeposit { calls { to data value } preview { stock { minReceived } worstCase { yieldLtv } } } ${REFUSED} } }`;

const LIES: readonly (readonly [string, Lie])[] = [
  ['low by 9.5 %', { kind: 'low', ppm: 95_000n }],
  ['low by 0.9 %, within the bound of a swap', { kind: 'low', ppm: 9_000n }],
  ['high', { kind: 'high', ppm: 50_000n }],
  ['a fee to a stranger', { kind: 'feeToStranger', bps: 30n }],
  ['the output elsewhere', { kind: 'outputElsewhere' }],
  ['a skim in the fill', { kind: 'skim', ppm: 4_000n }],
  ['dead', { kind: 'dead' }],
  ['honest when simulated', { kind: 'cheatOnChain', ppm: 4_000n }],
];

let service: TestService;
let venues: LyingVenues;
let vaults: EquityVerbs;
let partners: ReadonlyMap<number, Partner>;
let ids: ReadonlyMap<number, number>;
const snapshots = new Map<number, Hex>();
let refreshedMs = 0;

const local = (chainId: number) => service.world.chains.on(chainId);
const partner = (chainId: number) => partners.get(chainId) as Partner;
const susde = marketOf(1, 'sUSDe/PYUSD 91.5');
/** Lends less than its opens borrow. */
const dry = marketOf(1, 'wsrUSD/USDC 94.5');
const principal = marketOf(1, 'PT-sUSDe/USDC 91.5');
const usdg = marketOf(4663, 'syrupUSDG/USDG 91.5');
const spy = localCatalog.chain(4663)?.equityVaults.find(({ stock }) => stock.symbol === 'SPY');
if (!spy) throw new Error('no SPY vault');
const shareholder = seededWallet('shareholder').account.address;

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startLyingVenues(world);
      return venues.env;
    },
  });
  vaults = equityVerbs(service);
  partners = new Map([1, 4663].map((chainId) => [chainId, partnerOn(service, chainId, account)]));
  await drain(service, dry, '9000');
  await service.refresh('lending-state:1');
  const opened = new Map<number, number>();
  for (const market of [susde, usdg]) {
    const on = partner(market.chainId);
    opened.set(market.chainId, await on.nextId());
    const body = { strategyId: market.id, payToken: market.collateral.address, amount: '2000', leverage: 4 };
    await on.send(await on.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
  }
  ids = opened;
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});

beforeEach(async () => {
  // Nothing is left of the case before: no resting provider, no spent budget, and no number is old.
  service.clock.advance(11_000);
  if (service.clock.now() - refreshedMs > 120_000) {
    for (const chainId of [1, 4663]) {
      const { timestamp } = await local(chainId).client.getBlock();
      const behind = Math.floor(service.clock.now() / 1_000) - Number(timestamp);
      if (behind > 0) await local(chainId).increaseTime(behind);
    }
    await service.refresh('lending-state:1', 'lending-state:4663', 'prices');
    refreshedMs = service.clock.now();
  }
  for (const chainId of [1, 4663]) snapshots.set(chainId, await local(chainId).snapshot());
});
afterEach(async () => {
  venues.clear();
  mayRevert = false;
  for (const [chainId, snapshot] of snapshots) await local(chainId).revert(snapshot);
});

interface Flow {
  readonly name: string;
  readonly market: Market;
  readonly pairs: readonly Pair[];
  ask(): Promise<Json>;
  /** Sign and send; what is left is compared with the worst case. */
  execute(answer: Json): Promise<void>;
}

const pairOf = (tokenIn: Token, tokenOut: Token): Pair => ({ tokenIn: tokenIn.address, tokenOut: tokenOut.address });

async function ask(query: string, input: object): Promise<Json> {
  const { body } = await service.graphql(query, { input }, PARTNER);
  const [error] = body.errors ?? [];
  if (error) return { __typename: 'Error', code: error.extensions.code };
  return Object.values(body.data as object)[0];
}

/** Only a venue that cheats on the chain makes a transaction revert that was simulated: it takes nothing then. */
let mayRevert = false;

/** Send what was built; whether it went through. */
async function settled(sending: Promise<unknown>): Promise<boolean> {
  try {
    await sending;
    return true;
  } catch (error) {
    if (mayRevert) return false;
    throw error;
  }
}

const sent = (chainId: number, plan: Json) => settled(partner(chainId).send(plan));

async function expectWithinWorst(market: Market, id: number, plan: Json): Promise<void> {
  if (!(await sent(market.chainId, plan))) return;
  const { ltvPct, open } = await partner(market.chainId).position(market, id);
  expect(open).toBe(true);
  expect(ltvPct.lte(Number(plan.position.worstCaseLtv) + 0.011), `${ltvPct} above ${plan.position.worstCaseLtv}`).toBe(
    true,
  );
}

function openFlow(name: string, market: Market, pay: Token, amount: string): Flow {
  const isDirect = pay.address === market.collateral.address;
  const { chainId } = market;
  return {
    name,
    market,
    pairs: [...(isDirect ? [] : [pairOf(pay, market.collateral)]), pairOf(market.loan, market.collateral)],
    ask: () =>
      ask(OPEN, {
        chainId,
        strategyId: market.id,
        payToken: pay.address,
        amount,
        leverage: '2',
        userAddress: user,
      }),
    execute: async (plan) => expectWithinWorst(market, (await partner(chainId).nextId()) as number, plan),
  };
}

function manageFlow(name: string, market: Market, pair: Pair, input: object): Flow {
  const { chainId } = market;
  const id = () => ids.get(chainId) as number;
  return {
    name,
    market,
    pairs: [pair],
    ask: () => ask(MANAGE, { chainId, id: id(), userAddress: user, ...input }),
    async execute(plan) {
      if (plan.position) return expectWithinWorst(market, id(), plan);
      const on = partner(chainId);
      const [{ debt }, before] = [await on.position(market, id()), await on.balance(market.loan)];
      if (!(await sent(chainId, plan))) return;
      const least = BigInt(Math.floor(Number(plan.minTokenOut) * 10 ** market.loan.decimals)) - debt;
      const received = (await on.balance(market.loan)) - before;
      // A second of interest is repaid as well.
      expect(received * 1_000_000n >= least * 999_990n).toBe(true);
    },
  };
}

function manageFlows(market: Market, pay: Token, amount: string): Flow[] {
  const { loan, collateral } = market;
  return [
    manageFlow('increase', market, pairOf(loan, collateral), { action: 'increase_leverage', leverage: '5' }),
    manageFlow('close', market, pairOf(collateral, loan), { action: 'close' }),
    manageFlow('repay', market, pairOf(pay, loan), { action: 'repay', amount, payToken: pay.address }),
    manageFlow('add', market, pairOf(pay, collateral), {
      action: 'add_collateral',
      amount: '0.01',
      payToken: pay.address,
    }),
  ];
}

const depositFlow: Flow = {
  name: 'vault deposit',
  market: spy.yieldMarket,
  pairs: [pairOf(spy.depositToken, spy.stock), pairOf(spy.depositToken, spy.yieldMarket.collateral)],
  ask: () => ask(DEPOSIT, { strategyId: spy.id, amount: '3000', stockLtvPct: '20', userAddress: user }),
  async execute({ calls, preview }) {
    const id = await partner(4663).nextId();
    await vaults.fund(user, spy, 3_000n * 10n ** BigInt(spy.depositToken.decimals));
    if (!(await batch(user, calls))) return;
    const { collateral } = await vaults.stockLeg(spy, user);
    expect(Number(collateral) / 10 ** spy.stock.decimals).toBeGreaterThanOrEqual(
      Number(preview.stock.minReceived) * 0.999999,
    );
    const { ltvPct } = await partner(4663).position(spy.yieldMarket, id);
    const { yieldLtv } = preview.worstCase;
    expect(ltvPct.lte(Number(yieldLtv) + 0.011), `${ltvPct} above ${yieldLtv}`).toBe(true);
  },
};

const exitFlow: Flow = {
  name: 'vault exit',
  market: spy.yieldMarket,
  pairs: [pairOf(spy.stock, spy.depositToken), pairOf(spy.yieldMarket.collateral, spy.depositToken)],
  ask: () => ask(EXIT_QUERY, { strategyId: spy.id, userAddress: shareholder }),
  async execute({ calls }) {
    const before = await vaults.balance(spy.depositToken.address, shareholder);
    if (!(await batch(shareholder, calls))) return;
    const received = (await vaults.balance(spy.depositToken.address, shareholder)) - before;
    expect(received > 0n).toBe(true);
    expect((await vaults.stockLeg(spy, shareholder)).collateral).toBe(0n);
  },
};

const batch = (wallet: Address, calls: Json) => settled(vaults.sendAtomically(wallet, calls));

const isBuilt = ({ __typename }: Json) => /^(TransactionPlan|EquityDeposit|EquityExit)$/.test(__typename);
const dataOf = (answer: Json): string =>
  [...(answer.tx ? [answer.tx] : answer.calls)].map(({ data }: Json) => String(data).toLowerCase()).join();

/** What may be answered where every venue of a swap lies: a number that would pass, or that no fill can be trusted. */
function expectHonestRefusal(answer: Json): void {
  const names = (answer.limits ?? []).map(({ name }: Json) => name);
  if (answer.code === 'bad_request') {
    expect(
      names.some((name: string) => /^max(PriceImpact|TotalLoss|SwapLoss)Pct$|^maxLtvPct$|^debt$/.test(name)),
      JSON.stringify(answer),
    ).toBe(true);
  } else {
    expect(
      ['no_route', 'upstream_unavailable', 'simulation_reverted', 'simulation_mismatch'],
      JSON.stringify(answer),
    ).toContain(answer.code);
  }
}

const ethereum: readonly Flow[] = [
  openFlow('open', susde, susde.collateral, '1000'),
  openFlow('open with another token', susde, tokenOf(1, 'USDC'), '1000'),
  ...manageFlows(susde, tokenOf(1, 'ETH'), '0.01'),
  openFlow('open with liquidity brought in', dry, dry.collateral, '10000'),
  openFlow('open with another token and liquidity brought in', dry, tokenOf(1, 'USDT'), '10000'),
];
const robinhood: readonly Flow[] = [
  openFlow('open', usdg, usdg.collateral, '1000'),
  openFlow('open with another token', usdg, tokenOf(4663, 'USDe'), '1000'),
  ...manageFlows(usdg, tokenOf(4663, 'USDe'), '20'),
  depositFlow,
  exitFlow,
];
const AGGREGATORS: readonly (readonly [LyingProvider, 'AggregatorOne' | 'AggregatorTwo'])[] = [
  ['kyberswap', 'AggregatorOne'],
  ['openocean', 'AggregatorTwo'],
];

describe.each(LIES)('one of two venues is %s', (_name, lie) => {
  test.each(ethereum.map((flow, i) => [flow.name, flow, AGGREGATORS[i % 2]] as const))(
    'behavior: %s goes to the honest one',
    async (_flow, flow, aggregator) => {
      const [provider, source] = aggregator ?? ['kyberswap', 'AggregatorOne'];
      venues.lie(provider, lie);
      mayRevert = lie.kind === 'cheatOnChain';
      const answer = await flow.ask();
      expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
      // Nobody can tell a venue that lies on the chain alone: its worst case holds, no more.
      const router = localCatalog.chain(1)?.swapRouters[source]?.[0]?.slice(2).toLowerCase() ?? '';
      if (lie.kind !== 'cheatOnChain') expect(dataOf(answer)).not.toContain(router);
      await flow.execute(answer);
    },
  );
});

const swapsOf = (flows: readonly Flow[]) =>
  flows.flatMap((flow) => flow.pairs.map((pair, i) => [flow.name, i, flow, pair] as const));

/** All venues of a swap lie: it is built within its worst case, or refused for what it is. */
async function expectSafe(flow: Flow, pair: Pair, lie: Lie, providers: readonly LyingProvider[]): Promise<void> {
  for (const provider of providers) venues.lie(provider, lie, pair);
  mayRevert = lie.kind === 'cheatOnChain';
  const answer = await flow.ask();
  if (isBuilt(answer)) await flow.execute(answer);
  else expectHonestRefusal(answer);
  // A promise that is too high harms nobody when the fill is honest.
  if (lie.kind === 'high' || lie.kind === 'cheatOnChain') expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
  if (lie.kind === 'dead') expect(isBuilt(answer)).toBe(false);
}

describe.each(LIES)('the only venue is %s', (_name, lie) => {
  test.each(swapsOf(robinhood))('behavior: %s, swap %i', async (_flow, _i, flow, pair) => {
    await expectSafe(flow, pair, lie, ['kyberswap']);
  });

  test.each(swapsOf([openFlow('a principal token', principal, principal.collateral, '1000')]))(
    'behavior: %s, swap %i',
    async (_flow, _i, flow, pair) => {
      await expectSafe(flow, pair, lie, ['pendle']);
    },
  );
});

describe.each(LIES)('both venues are %s', (_name, lie) => {
  test.each(swapsOf(ethereum.slice(1, 2)))('behavior: %s, swap %i', async (_flow, _i, flow, pair) => {
    await expectSafe(flow, pair, lie, ['kyberswap', 'openocean']);
  });
});

/**
 * What the oracle says against what the venues pay, percent. Buying for more than it says is a loss beyond the bound; buying for
 * less is built, and shown at no more than it says.
 */
const REFERENCES: readonly (readonly [string, percent: string, isBuilt: boolean])[] = [
  ['above the market, as a redemption rate may be', '0.6', true],
  ['below the market', '-3', false],
  ['frozen while the market fell', '2.5', true],
  ['wrong, twice the market', '100', true],
  ['wrong, half the market', '-50', false],
];

describe.each(REFERENCES)('the oracle is %s (%s %%)', (_name, percent, passes) => {
  beforeEach(async () => {
    for (const market of [susde, usdg]) await freezeVenues(market);
    for (const market of [susde, usdg]) await local(market.chainId).moveOracle(market, percent);
  });

  test.each(
    [robinhood[0], robinhood[1], ethereum[0], ethereum[1]].map((flow) => [flow?.market.chainId, flow] as const),
  )('behavior: an open on chain %s', async (_chainId, flow) => {
    if (!flow) throw new Error('no flow');
    const answer = await flow.ask();
    expect(isBuilt(answer), JSON.stringify(answer)).toBe(passes);
    if (isBuilt(answer)) await flow.execute(answer);
    else expectHonestRefusal(answer);
  });

  test('behavior: an open beside a venue that takes half a percent goes to the honest one', async () => {
    const flow = ethereum[0] as Flow;
    venues.lie('openocean', { kind: 'low', ppm: 5_000n });
    const answer = await flow.ask();
    expect(isBuilt(answer)).toBe(passes);
    if (!isBuilt(answer)) return;
    const router = localCatalog.chain(1)?.swapRouters.AggregatorTwo?.[0]?.slice(2).toLowerCase() ?? '';
    expect(dataOf(answer)).not.toContain(router);
    await flow.execute(answer);
  });
});

/** From now on the venues of a chain trade a market's collateral at today's price, whatever its oracle says. */
async function freezeVenues({ chainId, collateral, loan }: Market): Promise<void> {
  const { client, chain, call } = local(chainId);
  const routers = [chain.swapRouters.AggregatorOne?.[0], chain.swapRouters.AggregatorTwo?.[0]];
  for (const router of routers.filter((found) => found !== undefined)) {
    const read = { address: router, abi: swapVenueAbi } as const;
    const usd = await client.readContract({ ...read, functionName: 'priceOf', args: [collateral.address] });
    const depth = await client.readContract({ ...read, functionName: 's_depthUsd', args: [collateral.address] });
    const owner = await client.readContract({ ...read, functionName: 'i_owner' });
    await call(owner, router, 'SwapVenue', 'setPrices', [
      [{ token: collateral.address, usdPerToken: usd, depthUsd: depth }],
    ]);
    const followed = [{ base: collateral.address, quote: loan.address, oracle: zeroAddress }];
    await call(owner, router, 'SwapVenue', 'followOracles', [followed]);
  }
}

test('behavior: the number that a refusal names passes, and is refused when nothing would', async () => {
  const input = {
    chainId: 4663,
    strategyId: usdg.id,
    payToken: tokenOf(4663, 'USDe').address,
    amount: '1000',
    leverage: '3',
    userAddress: user,
  };
  venues.lie('kyberswap', { kind: 'low', ppm: 15_000n });
  const refused = await ask(OPEN, input);
  const passes = refused.limits.find(({ name }: Json) => name === 'maxSwapLossPct').value;
  expect(Number(passes)).toBeGreaterThan(2);
  const built = await ask(OPEN, { ...input, maxSwapLossPct: passes });
  expect(isBuilt(built), JSON.stringify(built)).toBe(true);
  expect(isBuilt(await ask(OPEN, { ...input, maxSwapLossPct: String(Number(passes) / 2) }))).toBe(false);
  const tooMuch = await ask(OPEN, { ...input, maxSwapLossPct: '10.01' });
  expect(tooMuch).toMatchObject({ field: 'maxSwapLossPct', limits: [{ name: 'maxSwapLossPct', value: '10' }] });
});

test('behavior: the most that a venue can keep is built within its worst case, a millionth more is refused', async () => {
  const flow = openFlow('open with another token', usdg, tokenOf(4663, 'USDe'), '1000');
  const [entry] = flow.pairs;
  const asked = async (ppm: number) => {
    venues.lie('kyberswap', { kind: 'low', ppm: BigInt(ppm) }, entry);
    return flow.ask();
  };
  let [built, refused] = [1_000, 12_000];
  while (refused - built > 1) {
    const middle = Math.floor((built + refused) / 2);
    if (isBuilt(await asked(middle))) built = middle;
    else refused = middle;
  }
  expect(built).toBeGreaterThan(5_000);
  expect(built).toBeLessThan(10_000);
  expect(await asked(refused)).toMatchObject({
    code: 'bad_request',
    limits: expect.arrayContaining([{ name: 'maxPriceImpactPct', value: '1' }]),
  });
  await flow.execute(await asked(built));
});

test('behavior: both venues just within the bound leave a close and an increase with their worst case', async () => {
  for (const flow of manageFlows(susde, tokenOf(1, 'ETH'), '0.01').filter(({ name }) => /increase|close/.test(name))) {
    for (const provider of ['kyberswap', 'openocean'] as const) venues.lie(provider, { kind: 'low', ppm: 3_000n });
    const answer = await flow.ask();
    expect(isBuilt(answer), `${flow.name}: ${JSON.stringify(answer)}`).toBe(true);
    await flow.execute(answer);
  }
});
