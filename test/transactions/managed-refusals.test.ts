import { expect, it } from 'vitest';
import type { Address } from '../../src/shared/ids.ts';
import type { ManageInput } from '../../src/transactions/manage/index.ts';
import { FEED, NOW_MS, withItem } from '../domain/world.ts';
import { loopMarket, manageIn, type Scene, tableOf, whole } from './model/scene.ts';
import {
  before,
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
  'a loss of more than everything': [HELD, { action: 'close', maxSwapLossPct: d('100.01') }],
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
    open: true,
    marketId: susde.id,
    userProxy: '0x00000000000000000000000000000000000000b1' as Address,
    amountDepositedInLoanToken: before.basis,
    amountReturnedInLoanToken: 0n,
    ...change,
  };
}

it('behavior: managed positions', async () => {
  const text = await tableOf(MANAGED, ([scene, input]) => built(manageIn(scene, input)));
  await expect(text).toMatchFileSnapshot(whereOf('refused-managed'));
});
