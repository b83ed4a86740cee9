import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ChainFacts, DEPLOYMENT_KEY, type FactGroup, type OracleFeed } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, StrategyId } from '../../src/shared/ids.ts';
import type { ManageInput } from '../../src/transactions/manage/index.ts';
import type { OpenInput } from '../../src/transactions/open/index.ts';
import { buildOpenPlan } from '../../src/transactions/open/index.ts';
import { CONTRACT, FEED, NOW_MS, withItem } from '../domain/world.ts';
import {
  depsOf,
  loopMarket,
  manageIn,
  openIn,
  type Scene,
  servedChain,
  shownRefusal,
  tableOf,
  tokenOn,
  USER,
  whole,
} from './model/scene.ts';

/* What is refused, with the sentence and the details that the caller gets; and the neighbours that are not. */

const susde = loopMarket(1, 'sUSDe', 'PYUSD');
const principal = loopMarket(1, 'PT-sUSDe', 'USDC');
const chain = servedChain(1);
const { contracts } = chain;
const d = (value: string | number) => new Decimal(value);
const before = {
  loop: { collateral: whole(8_000, susde.collateral), debt: whole(6_000, susde.loan) },
  basis: whole(2_400, susde.loan),
};
const HELD: Scene = { market: susde, before };
const MINUTE_MS = 60_000;

const measured = (group: 'lendingState' | 'oracle', key: string, asOfMs: number) => (facts: ChainFacts) => {
  const item = facts.groups[group].items.get(key);
  return item ? withItem(facts, group as FactGroup, key, { value: item.value as never, asOfMs }) : facts;
};
const without = (group: FactGroup, key: string) => (facts: ChainFacts) => withItem(facts, group, key, {});
const deployed = (change: object) => (facts: ChainFacts) =>
  withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { ...CONTRACT, ...change } as never });
const otherToken = tokenOn(1, 'USDC').address;
/** Six words of a market; two thirds are lent. */
const market = (supplied: number, borrowed: number) => [
  whole(supplied, susde.loan),
  whole(supplied, susde.loan) * 1_000_000n,
  whole(borrowed, susde.loan),
  whole(borrowed, susde.loan) * 1_000_000n,
  BigInt(NOW_MS / 1_000),
  0n,
];

const wbtc = loopMarket(1, 'WBTC', 'USDC');
const bitcoin = wbtc.collateral.address;
/** Bitcoin has the price of the oracle of its market alone, which is computed from these feeds. */
function paidIn(feeds: readonly OracleFeed[] | undefined): Scene {
  return {
    ...{ market: susde, before, usd: { WBTC: '60000' }, unmeasured: ['WBTC'] },
    facts: (facts) =>
      withItem(facts, 'oracle', wbtc.oracle, {
        value: { price: 60_000n * 10n ** 34n, blockNumber: 100n, feeds },
      }),
  };
}

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

/** The collateral at a measured price, USD. */
function collateralAt(usd: string) {
  return (facts: ChainFacts) =>
    withItem(facts, 'price', susde.collateral.address, { value: { usd: new Decimal(usd) } });
}

/** A venue that gives only so many ten-thousandths. */
function losing(share: bigint): NonNullable<Scene['lieOf']> {
  const of = (fair: bigint) => (fair * share) / 10_000n;
  return () => ({ quoted: of, simulated: of, onChain: of });
}

/** The feed behind the oracle, as updated so many seconds ago; without a date it names none. */
function updated(agoSec: number | undefined) {
  return [{ feed: FEED, reported: agoSec === undefined ? undefined : BigInt(NOW_MS / 1_000 - agoSec) }];
}

type Managing = readonly [scene: Scene, input: Partial<ManageInput> & Pick<ManageInput, 'action'>];
const MANAGED: Readonly<Record<string, Managing>> = {
  'a position that is not there': [{ ...HELD, answers: { getUserLeveragePosition: undefined } }, { action: 'close' }],
  'a position on an unserved market': [
    { ...HELD, answers: { getUserLeveragePosition: rowOf({ marketId: `0x${'ab'.repeat(32)}` }) } },
    { action: 'close' },
  ],
  'a closed position': [{ ...HELD, answers: { getUserLeveragePosition: rowOf({ open: false }) } }, { action: 'close' }],
  'a liquidated position': [{ ...HELD, answers: { position: [0n, 0n, 0n] } }, { action: 'close' }],
  'another market than the caller names': [HELD, { action: 'close', marketId: principal.id }],
  'a paused contract': [{ ...HELD, answers: { paused: true } }, { action: 'close' }],
  'a position in manual mode': [{ ...HELD, answers: { s_manualMode: true } }, { action: 'close' }],
  'a position in manual mode that is repaid': [
    { ...HELD, answers: { s_manualMode: true } },
    { action: 'repay', amount: d(1), payToken: susde.loan.address },
  ],
  'a wallet that is a contract of the product': [HELD, { action: 'close', user: contracts.flashLeverage }],
  'a wallet that is a token': [HELD, { action: 'close', user: otherToken }],
  'the zero address': [HELD, { action: 'close', user: `0x${'0'.repeat(40)}` }],
  'a loop of a vault': [
    {
      market: loopMarket(4663, 'syrupUSDG', 'USDG'),
      deps: { vaultOf: async () => `equity-0x${'1'.repeat(64)}` },
    },
    { action: 'close' },
  ],
  'old numbers': [{ ...HELD, facts: measured('lendingState', susde.id, NOW_MS - 300_001) }, { action: 'close' }],
  'an old feed, more risk': [
    { ...HELD, answers: { aggregate3: updated(200_000) } },
    { action: 'borrow', amount: d(1) },
  ],
  'an old feed, less risk': [{ ...HELD, answers: { aggregate3: updated(200_000) } }, { action: 'close' }],
  'a price of unknown age, less risk': [{ ...HELD, answers: { aggregate3: updated(undefined) } }, { action: 'close' }],
  'a price of unknown age that a second source contradicts, less risk': [
    { ...HELD, answers: { aggregate3: updated(undefined) }, facts: collateralAt('1.05') },
    { action: 'close' },
  ],
  'a price of unknown age that a second source contradicts, more risk': [
    { ...HELD, answers: { aggregate3: updated(undefined) }, facts: collateralAt('1.05') },
    { action: 'borrow', amount: d(1) },
  ],
  'a market of another kind, more risk': [
    {
      ...HELD,
      facts: (facts) =>
        withItem(facts, 'marketSupport', susde.id, {
          value: { isSupported: true, isCorrelated: !susde.correlated } as never,
        }),
    },
    { action: 'increase_leverage', leverage: d(5) },
  ],
  'a router that may not act, with another token': [
    { ...HELD, facts: deployed({ operators: [{ address: contracts.flashLeverageRouter, isAllowed: false }] }) },
    { action: 'repay', amount: d(1), payToken: otherToken },
  ],
  'a repayment at the price of an oracle with an old feed': [
    paidIn([FEED]),
    { action: 'repay', payToken: bitcoin, amount: d('0.01') },
  ],
  'a repayment at the price of an oracle of unknown age': [
    paidIn(undefined),
    { action: 'repay', payToken: bitcoin, amount: d('0.01') },
  ],
  'a repayment with a token without a price': [
    { ...HELD, unmeasured: ['USDC'] },
    { action: 'repay', payToken: otherToken, amount: d(10), minAmountOut: d(9) },
  ],
  'more than the debt': [HELD, { action: 'repay', amount: d(6_001), payToken: susde.loan.address }],
  'less than the whole debt': [HELD, { action: 'repay', full: true, amount: d(5_999), payToken: susde.loan.address }],
  'less than the whole debt, of another token': [
    HELD,
    { action: 'repay', full: true, amount: d(5_999), payToken: otherToken },
  ],
  'no debt to repay': [
    { market: susde, before: { ...before, loop: { ...before.loop, debt: 0n } } },
    { action: 'repay', amount: d(1), payToken: susde.loan.address },
  ],
  'more than the position sells': [HELD, { action: 'close', amount: d(8_001) }],
  'a part that leaves too little': [HELD, { action: 'close', amount: d('7999.9999999999999') }],
  'a part of a position under water': [
    { market: susde, before: { ...before, loop: { ...before.loop, debt: whole(8_600, susde.loan) } } },
    { action: 'close', amount: d(1) },
  ],
  'a close whose sale does not cover the debt': [
    { market: susde, before: { ...before, loop: { ...before.loop, debt: whole(8_557, susde.loan) } } },
    { action: 'close' },
  ],
  'a close that loses too much': [{ ...HELD, lieOf: bySize(8_000) }, { action: 'close' }],
  'a close of debt that the protocol does not hold': [
    {
      ...HELD,
      answers: {
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(contracts.morphoBlue.slice(2).toLowerCase()) ? whole(5_000, susde.loan) : 10n ** 30n,
      },
    },
    { action: 'close' },
  ],
  'a part of debt that the protocol does not hold': [
    {
      ...HELD,
      answers: {
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(contracts.morphoBlue.slice(2).toLowerCase()) ? whole(5_000, susde.loan) : 10n ** 30n,
      },
    },
    { action: 'close', amount: d(7_500) },
  ],
  'no increase': [HELD, { action: 'increase_leverage', leverage: d(3) }],
  'no increase without a fee to repay': [HELD, { action: 'increase_leverage', desiredLtvPct: d('70.09') }],
  'an increase that the market does not lend': [
    { ...HELD, answers: { market: market(1_000, 900) } },
    { action: 'increase_leverage', leverage: d(5) },
  ],
  'an increase of which nothing is lent': [
    { ...HELD, answers: { market: market(1_000, 1_000) } },
    { action: 'increase_leverage', leverage: d(5) },
  ],
  'an increase that loses too much': [
    { ...HELD, lieOf: losing(9_890n) },
    { action: 'increase_leverage', leverage: d(5) },
  ],
  'an increase of a matured token': [
    {
      market: principal,
      nowMs: (principal.collateral.maturity ?? 0) * 1_000,
      before: { loop: { collateral: whole(8_000, principal.collateral), debt: whole(6_000, principal.loan) } },
      facts: (facts) =>
        measured(
          'oracle',
          principal.oracle,
          (principal.collateral.maturity ?? 0) * 1_000,
        )(measured('lendingState', principal.id, (principal.collateral.maturity ?? 0) * 1_000)(facts)),
    },
    { action: 'increase_leverage', leverage: d(5) },
  ],
  'a removal above the limit': [HELD, { action: 'remove_collateral', amount: d(2_000) }],
  'a removal of everything': [HELD, { action: 'remove_collateral', amount: d(8_000) }],
  'a removal of more than there is': [HELD, { action: 'remove_collateral', amount: d(8_001) }],
  'a borrow above the limit': [HELD, { action: 'borrow', amount: d(2_000) }],
  'a borrow that the market does not lend': [
    { ...HELD, answers: { market: market(1_000, 900) } },
    { action: 'borrow', amount: d(500) },
  ],
  'a minimum without a swap': [
    HELD,
    { action: 'repay', amount: d(1), payToken: susde.loan.address, minAmountOut: d(1) },
  ],
  'a loss of more than half': [HELD, { action: 'close', maxSwapLossPct: d('50.01') }],
  'a loss of half': [HELD, { action: 'close', maxSwapLossPct: d(50) }],
  'a node that cannot simulate, though the caller allows it': [
    { ...HELD, unsimulated: 'node' },
    { action: 'borrow', amount: d(1), allowUnsimulated: true },
  ],
  'a node that cannot simulate a close': [{ ...HELD, unsimulated: 'node' }, { action: 'close' }],
};

/** A venue that loses two percent of a sale of so much, and less of a smaller one. */
function bySize(amount: number): NonNullable<Scene['lieOf']> {
  const whole18 = BigInt(amount) * 10n ** 18n;
  return (_source, { amountIn }) => {
    const of = (fair: bigint) => (fair * (10_000n - (200n * amountIn) / whole18)) / 10_000n;
    return { quoted: of, simulated: of, onChain: of };
  };
}

function rowOf(change: object) {
  return {
    ...{ open: true, marketId: susde.id, userProxy: '0x00000000000000000000000000000000000000b1' as Address },
    ...{ amountDepositedInLoanToken: before.basis, amountReturnedInLoanToken: 0n },
    ...change,
  };
}

/** That it is built, with the doubts about it. */
const built = async (plan: ReturnType<typeof openIn>) => {
  const { path, issues } = await plan;
  return { built: path, issues };
};

const whereOf = (name: string) => join(import.meta.dirname, 'plans', `${name}.txt`);

it('behavior: openings', async () => {
  const text = await tableOf(OPENINGS, ([scene, input]) => built(openIn(scene, input)));
  await expect(text).toMatchFileSnapshot(whereOf('refused-openings'));
});

it('behavior: managed positions', async () => {
  const text = await tableOf(MANAGED, ([scene, input]) => built(manageIn(scene, input)));
  await expect(text).toMatchFileSnapshot(whereOf('refused-managed'));
});

it('behavior: nothing is opened for an address that cannot sign', async () => {
  const answer = (user: Address) =>
    buildOpenPlan(
      depsOf({ market: susde }).deps,
      {
        ...{ chainId: 1, strategyId: susde.id as string as StrategyId, payToken: susde.collateral.address },
        ...{ amount: d(1_000), leverage: d(3) },
      },
      user,
    ).catch(shownRefusal);
  for (const user of [contracts.morphoBlue, susde.collateral.address, `0x${'0'.repeat(40)}` as Address]) {
    expect(await answer(user)).toMatchObject({ refused: 'bad_request', details: { field: 'userAddress' } });
  }
  expect(await answer(USER)).toMatchObject({ path: 'leverage', user: USER });
});
