import { type Hex, zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../../devnet/abi/swap-venue.ts';
import type { Market } from '../../../src/catalog/index.ts';
import type { AdversarialVenues } from '../../support/adversarial-venues.ts';
import type { Json, TestService } from '../../support/service.ts';
import { dataOf, type FlowSwap, isBuilt, routerIn, type VenueFlows } from '../../support/venue-flows.ts';
import {
  type DishonestWorld,
  ETHEREUM,
  exactly,
  expectHonestRefusal,
  LIES,
  type NamedLie,
  ROBINHOOD,
  startDishonestWorld,
} from './dishonest-venues.ts';

/*
 * Every falsification of every swap of every path, executed: a signed plan never leaves less than the shown worst case, an
 * honest venue beside a dishonest one gets the order, and a falsified quote causes no outage. The same falsifications under
 * every reference, of any size, are in test/transactions/venue-matrix.sweep.test.ts.
 */

/** A path of chain 1, where there is one fewer, and one of chain 4663. */
const SIDE_BY_SIDE = ROBINHOOD.map((robinhood, i) => [ETHEREUM[i] ?? 'nothing', robinhood] as const);

let service: TestService;
let venues: AdversarialVenues;
let flows: VenueFlows;
let flowOf: DishonestWorld['flowOf'];
let expectSafe: DishonestWorld['expectSafe'];
let rested: DishonestWorld['rested'];
let stop: DishonestWorld['stop'] | undefined;

beforeAll(async () => {
  ({ service, venues, flows, flowOf, expectSafe, rested, stop } = await startDishonestWorld());
});
afterAll(() => stop?.());
afterEach(() => venues.clear());

describe('one of two venues is honest', () => {
  /** Calldata that was executed already, by path and honest venue. */
  const executed = new Map<string, string>();
  const AGGREGATORS = [
    ['kyberswap', 'AggregatorOne'],
    ['openocean', 'AggregatorTwo'],
  ] as const;

  describe.each(LIES.map((lie, i) => [lie.name, lie, i] as const))('the other venue is %s', (_name, lie, i) => {
    test.each(ETHEREUM.map((name, k) => [name, AGGREGATORS[(i + k) % 2]] as const))(
      'behavior: %s',
      async (name, pair) => {
        const [provider, source] = pair ?? AGGREGATORS[0];
        const flow = flowOf('ethereum', name);
        for (const swap of flow.swaps) venues.lie(provider, lie.of(swap), swap);
        const answer = await flow.ask();
        expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
        // A hidden liar cannot be detected: only its worst case holds.
        if (!lie.isHidden) expect(dataOf(answer)).not.toContain(routerIn(source));
        const key = `${name} without ${source}`;
        if (executed.get(key) !== dataOf(answer)) expect(await flow.execute(answer)).toBe(true);
        executed.set(key, dataOf(answer));
        if (lie.name === 'dead') rested();
      },
    );
  });
});

describe('each of two venues falsifies another swap', () => {
  const TWO_SWAPS = ['open with another token', 'open with another token and liquidity brought in'];
  const lieOf = (name: string) => LIES.find((lie) => lie.name === name) as NamedLie;
  test.each([
    ['skimming the fill', 'skimming the fill'],
    ['taking a fee for a stranger', 'paying the output to a stranger'],
    ['paying the output to a stranger', 'low by 9.5 %'],
    ['low by 9.5 %', 'skimming the fill'],
  ])('behavior: %s and %s: each swap uses its honest venue', async (entry, loan) => {
    for (const flow of TWO_SWAPS.map((name) => flowOf('ethereum', name))) {
      const [paid, borrowed] = flow.swaps as readonly [FlowSwap, FlowSwap];
      for (const [one, other] of [['kyberswap', 'openocean'] as const, ['openocean', 'kyberswap'] as const]) {
        venues.lie(one, lieOf(entry).of(paid), paid);
        venues.lie(other, lieOf(loan).of(borrowed), borrowed);
        const answer = await flow.ask();
        expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
        expect(await flow.execute(answer)).toBe(true);
        venues.clear();
      }
    }
  });
});

describe.each(LIES.map((lie) => [lie.name, lie] as const))('no venue is honest: %s', (_name, lie) => {
  // The two chains have nothing in common but the time of the providers.
  test.each(SIDE_BY_SIDE)('behavior: %s at two venues, %s at the only one', async (ethereum, robinhood) => {
    await Promise.all([
      ...(ethereum !== 'nothing' ? [expectSafe(flowOf('ethereum', ethereum), lie, ['kyberswap', 'openocean'])] : []),
      expectSafe(flowOf('robinhood', robinhood), lie, ['kyberswap']),
    ]);
  });
  test('behavior: open on a principal token, at the only venue', async () => {
    await expectSafe(flowOf('principal', 'open on a principal token'), lie, ['pendle']);
  });
});

test('behavior: a venue that keeps more on the chain than the slippage causes a revert without a loss', async () => {
  for (const name of ['open', 'close', 'add', 'vault deposit', 'vault exit']) {
    venues.lie('kyberswap', { kind: 'cheatOnChain', ppm: 30_000n });
    const answer = await flowOf('robinhood', name).ask();
    expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
    expect(await flowOf('robinhood', name).execute(answer)).toBe(false);
  }
});

const BUYS = ['open', 'increase', 'add', 'vault deposit'];
const SALES = ['close', 'vault exit'];
/** The oracle's price against the venues', percent; and the actions that it allows within the bounds. */
const REFERENCES: readonly (readonly [string, percent: string, passes: readonly string[]])[] = [
  // Each sale of the exit is within its bound, and all of them together are above 5 % of the equity.
  ['above the market, as a redemption rate may be', '0.6', [...BUYS, 'close']],
  ['below the market', '-3', SALES],
  ['frozen while the market fell', '2.5', BUYS],
  // The position seems to be worth so much that borrowing up to the target costs more than all swaps together may.
  ['wrong, twice the market', '100', BUYS.filter((name) => name !== 'increase')],
  ['wrong, half the market', '-50', []],
];

describe.each(REFERENCES)('the oracle is %s (%s %%)', (_name, percent, passes) => {
  const snapshots = new Map<number, Hex>();
  beforeAll(async () => {
    for (const chainId of [1, 4663]) snapshots.set(chainId, await service.world.chains.on(chainId).snapshot());
    const moved = new Set<string>();
    for (const market of flows.markets) {
      await freezeVenues(market);
      if (!moved.has(market.oracle)) await service.world.chains.on(market.chainId).moveOracle(market, percent);
      moved.add(market.oracle);
    }
    venues.remember(true);
    await flows.readReferences();
  });
  afterAll(async () => {
    for (const [chainId, snapshot] of snapshots) await service.world.chains.on(chainId).revert(snapshot);
    venues.remember(true);
    await flows.readReferences();
  });

  const all = [
    ...ETHEREUM.map((name) => ['ethereum', name] as const),
    ['principal', 'open on a principal token'] as const,
    ...ROBINHOOD.map((name) => ['robinhood', name] as const),
  ];
  test.each(all)('behavior: on %s: %s, at venues that take the maximum', async (chain, name) => {
    const flow = flowOf(chain, name);
    // One percent of the loop's swap in a deposit, beside the others, exceeds the bound of all swaps together.
    for (const swap of flow.swaps.slice(0, 2)) {
      for (const provider of ['kyberswap', 'openocean', 'pendle'] as const) venues.lie(provider, exactly(swap), swap);
    }
    const answer = await flow.ask();
    const passing = name === 'repay' || passes.some((start) => name.startsWith(start));
    expect(isBuilt(answer), JSON.stringify(answer)).toBe(passing);
    if (isBuilt(answer)) expect(await flow.execute(answer)).toBe(true);
    // On half of the market's price every position is far above its target, and a part of it carries no debt.
    else if (percent === '-50' && /increase|part/.test(name))
      expect(answer.message).toMatch(/^(The position stands|Selling )/);
    else expectHonestRefusal(answer);
  });
});

/** From now on the venues of a chain trade a market's collateral at today's price, independent of its oracle. */
async function freezeVenues({ chainId, collateral, loan }: Market): Promise<void> {
  const { client, chain, call } = service.world.chains.on(chainId);
  for (const router of Object.values(chain.swapRouters).flat()) {
    const read = { address: router, abi: swapVenueAbi } as const;
    const usdPerToken = await client.readContract({ ...read, functionName: 'priceOf', args: [collateral.address] });
    const depthUsd = await client.readContract({ ...read, functionName: 's_depthUsd', args: [collateral.address] });
    const owner = await client.readContract({ ...read, functionName: 'i_owner' });
    await call(owner, router, 'SwapVenue', 'setPrices', [[{ token: collateral.address, usdPerToken, depthUsd }]]);
    const followed = [{ base: collateral.address, quote: loan.address, oracle: zeroAddress }];
    await call(owner, router, 'SwapVenue', 'followOracles', [followed]);
  }
}

test.each(ROBINHOOD)('behavior: the number in a refusal of %s passes', async (name) => {
  const flow = flowOf('robinhood', name);
  venues.lie('kyberswap', { kind: 'low', ppm: 25_000n });
  const refused = await flow.ask();
  const passes = refused.limits.find(({ name }: Json) => name === 'maxSwapLossPct').value;
  expect(Number(passes)).toBeGreaterThan(1);
  const built = await flow.ask({ maxSwapLossPct: passes });
  expect(isBuilt(built), JSON.stringify(built)).toBe(true);
  const less = await flow.ask({ maxSwapLossPct: (Number(passes) * 0.9).toFixed(2) });
  // The field is that of one leg at first, and that of the whole exit where the caller accepts a total.
  expect([isBuilt(less), less.code], JSON.stringify(less)).toEqual([false, 'LIMIT_EXCEEDED']);
});
