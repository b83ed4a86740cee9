import { expect, it } from 'vitest';
import type { ChainFacts, FactGroup } from '../../src/domain/facts.ts';
import type { Address, StrategyId } from '../../src/shared/ids.ts';
import type { OpenInput } from '../../src/transactions/open/index.ts';
import { buildOpenPlan } from '../../src/transactions/open/index.ts';
import { FEED, NOW_MS, withItem } from '../domain/world.ts';
import { depsOf, formatRefusal, openIn, type Scene, tableOf, USER, whole } from './model/scene.ts';
import {
  bitcoin,
  built,
  collateralAt,
  contracts,
  d,
  deployed,
  HELD,
  losing,
  market,
  measured,
  otherToken,
  paidIn,
  principal,
  susde,
  updated,
  whereOf,
} from './refusal-world.ts';

const MINUTE_MS = 60_000;
const without = (group: FactGroup, key: string) => (facts: ChainFacts) => withItem(facts, group, key, {});

type Case = readonly [scene: Scene, input: Partial<OpenInput>];
const OPENINGS: Readonly<Record<string, Case>> = {
  'an unknown strategy': [HELD, { strategyId: `0x${'12'.repeat(32)}` as StrategyId }],
  'an equity vault': [HELD, { strategyId: `equity-0x${'12'.repeat(32)}` as StrategyId }],
  'an unserved chain': [HELD, { chainId: 5 }],
  'a market that was never measured': [{ market: susde, facts: without('lendingState', susde.id) }, {}],
  'an oracle that was never measured': [{ market: susde, facts: without('oracle', susde.oracle) }, {}],
  'a market measured ahead of our clock': [
    { market: susde, facts: measured('lendingState', susde.id, NOW_MS + 2 * MINUTE_MS + 1) },
    {},
  ],
  'old numbers of the market': [{ market: susde, facts: measured('lendingState', susde.id, NOW_MS - 300_001) }, {}],
  'an old value of the oracle': [{ market: susde, facts: measured('oracle', susde.oracle, NOW_MS - 900_001) }, {}],
  'numbers of the market at the end of their time': [
    { market: susde, facts: measured('lendingState', susde.id, NOW_MS - 300_000) },
    {},
  ],
  'a principal token at its maturity': [
    { market: principal, nowMs: (principal.collateral.maturity ?? 0) * 1_000, facts: (facts) => facts },
    {},
  ],
  'a paused contract': [{ market: susde, answers: { paused: true } }, {}],
  'a market that the contract has closed': [{ market: susde, answers: { isSupportedMarket: false } }, {}],
  'a router that may not act, with another token': [
    {
      market: susde,
      facts: deployed({ operators: [{ address: contracts.flashLeverageRouter, isAllowed: false }] }),
    },
    { payToken: otherToken },
  ],
  'a router that may not act, with the collateral': [
    {
      market: susde,
      facts: deployed({ operators: [{ address: contracts.flashLeverageRouter, isAllowed: false }] }),
    },
    {},
  ],
  'a contract without code': [{ market: susde, facts: deployed({ hasCode: false }) }, {}],
  'a token that differs on the chain': [
    {
      market: susde,
      facts: (facts) =>
        withItem(facts, 'tokenContract', otherToken, {
          value: { hasCode: true, decimals: 7n, symbol: 'USDC'.repeat(30) },
        }),
    },
    { payToken: otherToken },
  ],
  'a token that differs, on a path without it': [
    {
      market: susde,
      facts: (facts) =>
        withItem(facts, 'tokenContract', otherToken, { value: { hasCode: true, decimals: 7n, symbol: 'USDC' } }),
    },
    {},
  ],
  'a market of another kind': [
    {
      market: susde,
      facts: (facts) =>
        withItem(facts, 'marketSupport', susde.id, {
          value: { isSupported: true, isCorrelated: !susde.correlated } as never,
        }),
    },
    {},
  ],
  'an old feed': [
    {
      market: susde,
      answers: { aggregate3: updated(200_000) },
    },
    {},
  ],
  'a price of unknown age without a second source': [
    {
      market: susde,
      answers: { aggregate3: updated(undefined) },
    },
    {},
  ],
  'a feed at the end of its time': [{ market: susde, answers: { aggregate3: updated(90_000) } }, {}],
  'a feed that is a second older': [{ market: susde, answers: { aggregate3: updated(90_001) } }, {}],
  'a price of unknown age that agrees with a second source': [
    { market: susde, answers: { aggregate3: updated(undefined) }, facts: collateralAt('1.0593') },
    {},
  ],
  'a price of unknown age that a second source contradicts': [
    { market: susde, answers: { aggregate3: updated(undefined) }, facts: collateralAt('1.05') },
    {},
  ],
  'a payment at the price of an oracle with an old feed': [paidIn([FEED]), { payToken: bitcoin, amount: d('0.01') }],
  'a payment at the price of an oracle with a fresh feed': [
    paidIn([{ ...FEED, updatedAt: BigInt(NOW_MS / 1_000) }]),
    { payToken: bitcoin, amount: d('0.01') },
  ],
  'a payment at the price of an oracle without feeds': [paidIn([]), { payToken: bitcoin, amount: d('0.01') }],
  'a payment at the price of an oracle of unknown age': [paidIn(undefined), { payToken: bitcoin, amount: d('0.01') }],
  'a small amount': [HELD, { amount: d('0.00002') }],
  'the smallest loan': [HELD, { amount: d('0.000047'), leverage: d(3) }],
  'more decimals than the token has': [HELD, { amount: d('1.0000000000000000001') }],
  'no amount': [HELD, { amount: d(0) }],
  'more than any position': [HELD, { amount: d('1e21') }],
  'no leverage': [HELD, { leverage: d(1) }],
  'a leverage above the limit': [HELD, { leverage: d(30) }],
  'an LTV of nothing': [HELD, { leverage: undefined as never, desiredLtvPct: d(0) }],
  'an LTV above the limit': [HELD, { leverage: undefined as never, desiredLtvPct: d('91.4') }],
  'no slippage': [HELD, { slippage: d(0) }],
  'a loss below nothing': [HELD, { maxSwapLossPct: d('-0.1') }],
  'a loss of more than ten percent': [HELD, { maxSwapLossPct: d('10.01') }],
  'a loss below the costs': [HELD, { maxSwapLossPct: d('0.05') }],
  'a minimum without a swap': [HELD, { minAmountOut: d(1) }],
  'a minimum above the offers': [HELD, { payToken: otherToken, minAmountOut: d(935) }],
  'a token without a price and no minimum': [{ market: susde, unmeasured: ['USDC'] }, { payToken: otherToken }],
  'a market that lends too little': [{ market: susde, answers: { market: market(3_000, 1_000) } }, {}],
  'a protocol that holds too little': [
    {
      market: susde,
      answers: {
        market: market(30_000, 1_000),
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(contracts.morphoBlue.slice(2).toLowerCase()) ? whole(4_000, susde.loan) : 10n ** 30n,
      },
    },
    {},
  ],
  'swaps that lose too much': [{ market: susde, lieOf: losing(9_870n) }, {}],
  'swaps that lose more than the equity allows': [{ market: susde, lieOf: losing(9_920n) }, { leverage: d(6) }],
  'swaps that end above the limit': [
    { market: susde, lieOf: losing(9_920n) },
    { leverage: undefined as never, desiredLtvPct: d(90.5), maxSwapLossPct: d(10) },
  ],
  'a market without a believed price': [{ market: susde, answers: { price: 0n } }, {}],
  'a node that cannot simulate': [{ market: susde, unsimulated: 'node' }, {}],
};

it('behavior: openings', async () => {
  const text = await tableOf(OPENINGS, ([scene, input]) => built(openIn(scene, input)));
  await expect(text).toMatchFileSnapshot(whereOf('refused-openings'));
});

it('behavior: nothing is opened for an address that cannot sign', async () => {
  const answer = (user: Address) =>
    buildOpenPlan(
      depsOf({ market: susde }).deps,
      {
        chainId: 1,
        strategyId: susde.id as string as StrategyId,
        payToken: susde.collateral.address,
        amount: d(1_000),
        leverage: d(3),
      },
      user,
    ).catch(formatRefusal);
  for (const user of [contracts.morphoBlue, susde.collateral.address, `0x${'0'.repeat(40)}` as Address]) {
    expect(await answer(user)).toMatchObject({ refused: 'bad_request', details: { field: 'userAddress' } });
  }
  expect(await answer(USER)).toMatchObject({ path: 'leverage', user: USER });
});
