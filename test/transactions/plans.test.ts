import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { tokenUsdPrices } from '../../src/transactions/deps.ts';
import type { ManageInput } from '../../src/transactions/manage/index.ts';
import type { OpenInput } from '../../src/transactions/open/index.ts';
import type { Plan } from '../../src/transactions/plan.ts';
import { FEED, NOW_MS, withItem } from '../domain/world.ts';
import {
  depsOf,
  formatPlan,
  loopMarket,
  manageIn,
  openIn,
  type Scene,
  servedChain,
  tableOf,
  tokenOn,
  USER,
  whole,
} from './model/scene.ts';

/*
 * Every action on the model of the contracts, as the person who signs it sees it. The numbers follow from the model's prices:
 * a collateral at 1.07, dollars at 1, venues that keep 3 or 5 basis points. A change of them is a change of the product.
 */

const susde = loopMarket(1, 'sUSDe', 'PYUSD');
const usdg = loopMarket(4663, 'syrupUSDG', 'USDG');
const wbtc = loopMarket(1, 'WBTC', 'USDC');
const d = (value: string | number) => new Decimal(value);
const RECEIVER = '0x00000000000000000000000000000000000000fE' as const;
const held = (market: typeof susde, collateral = 8_000, debt = 6_000) => ({
  loop: { collateral: whole(collateral, market.collateral), debt: whole(debt, market.loan) },
  basis: whole(2_400, market.loan),
});
const usdIn = (scene: Scene) => tokenUsdPrices(depsOf(scene).deps, servedChain(scene.market.chainId));

const shown = async ([scene, build]: Cases[string]) => formatPlan(await build(scene), usdIn(scene));

type Cases = Readonly<Record<string, readonly [scene: Scene, build: (scene: Scene) => Promise<Plan>]>>;
const open = (scene: Scene, input: Partial<OpenInput> = {}) => [scene, (on: Scene) => openIn(on, input)] as const;
const manage = (scene: Scene, input: Partial<ManageInput> & Pick<ManageInput, 'action'>) =>
  [scene, (on: Scene) => manageIn(on, input)] as const;

const fees = { feeReceiver: RECEIVER, appUrl: 'https://app.example/' };
const ON_SUSDE: Scene = { market: susde, before: held(susde) };
/** A wallet with next to nothing; the protocol has enough. */
const SHORT_WALLET = {
  balanceOf: ({ data }: { readonly data: string }) =>
    data.includes(USER.slice(2).toLowerCase()) ? 1_000n : 10n ** 30n,
  allowance: 5n,
  getEthBalance: 7n,
};
const WBTC = {
  market: wbtc,
  usd: { WBTC: '60000', WETH: '2500', ETH: '2500' },
  answers: { s_depositFee: 10n ** 15n, s_isCorrelated: false },
  facts: (facts: ChainFacts) =>
    withItem(facts, 'oracle', wbtc.oracle, {
      value: { price: 60_000n * 10n ** 34n, blockNumber: 100n, feeds: [FEED] },
    }),
};

/** Vaults that could bring liquidity from another market; the market itself lends 2,000. */
function sharing(
  change: Partial<Record<'flowCaps' | 'fee' | 'position' | 'idToMarketParams', unknown>> = {},
  vaults = 2,
): Scene {
  const from = loopMarket(1, 'PT-sUSDe', 'USDC');
  const source = (n: number) => ({
    vault: `0x00000000000000000000000000000000000000c${n}` as const,
    withdrawMarketId: from.id,
    assets: BigInt(n),
    feeWei: 0n,
  });
  const row = (supplied: number, borrowed: number) => [
    ...[supplied, supplied * 1_000_000, borrowed, borrowed * 1_000_000].map((amount) => whole(amount, susde.loan)),
    ...[BigInt(NOW_MS / 1_000), 0n],
  ];
  const isOfFirst = ({ data }: { readonly data: string }) => data.includes('c1');
  return {
    market: susde,
    usd: { ETH: '2500' },
    answers: {
      market: ({ data }: { readonly data: string }) =>
        data.includes(susde.id.slice(2)) ? row(3_000, 1_000) : row(900_000, 100_000),
      idToMarketParams: [from.loan.address, from.collateral.address, from.oracle, from.irm, from.lltv],
      position: (call: { readonly data: string }) => [
        whole(isOfFirst(call) ? 1_500 : 90, susde.loan) * 1_000_000n,
        0n,
        0n,
      ],
      flowCaps: ({ data }: { readonly data: string }) =>
        data.includes(susde.id.slice(2)) ? [whole(5_000, susde.loan), 0n] : [0n, whole(1_000, susde.loan)],
      fee: (call: { readonly data: string }) => (isOfFirst(call) ? 3n * 10n ** 14n : 10n ** 14n),
      ...change,
    },
    facts: (facts) =>
      withItem(facts, 'sharedLiquidity', susde.id, {
        value: { sources: Array.from({ length: vaults }, (_, i) => source(i + 1)) },
      }),
  };
}

const OPENINGS: Cases = {
  'with liquidity of another market': open(sharing()),
  'with liquidity of one vault, paid with another token': open(sharing({}, 1), {
    payToken: tokenOn(1, 'USDC').address,
  }),
  'with liquidity of vaults whose fee has no price': open({
    ...sharing(),
    unmeasured: ['ETH', 'WETH'],
    deps: fees,
  }),
  'with vaults that lend too little': open(sharing({ flowCaps: [whole(50, susde.loan), whole(60, susde.loan)] })),
  'with vaults of a smaller supply than their cap': open(
    sharing({ position: [whole(140, susde.loan) * 1_000_000n, 0n, 0n] }),
  ),
  'with vaults that do not answer': open(sharing({ fee: undefined })),
  'with vaults whose market is not known': open(sharing({ idToMarketParams: undefined })),

  'with the collateral': open({ market: susde }),
  'with another token, a referral fee and a signing link': open(
    { market: susde, deps: fees },
    { payToken: tokenOn(1, 'USDC').address, slippage: d('0.02'), maxSwapLossPct: d(3), minAmountOut: d('930') },
  ),
  'with the native token, by LTV': open(
    { market: usdg, usd: { ETH: '2500' } },
    { payToken: tokenOn(4663, 'ETH').address, amount: d('0.5'), leverage: undefined as never, desiredLtvPct: d(70) },
  ),
  'without allowance and funds': open({ market: susde, answers: SHORT_WALLET }),
  'with a native token that is not there': open(
    { market: susde, usd: { ETH: '2500' }, answers: { getEthBalance: 7n } },
    { payToken: tokenOn(1, 'ETH').address, amount: d('0.5') },
  ),
  'with a token without a price': open(
    { market: susde, unmeasured: ['USDC'] },
    { payToken: tokenOn(1, 'USDC').address, minAmountOut: d('900') },
  ),
  'near the limit, where the slippage is tightened': open(
    { market: susde },
    { leverage: undefined as never, desiredLtvPct: d('90.5') },
  ),
  'on a market with a deposit fee': open({ ...WBTC, deps: fees }, { amount: d('0.5'), leverage: d(2) }),
  'where views of the contract do not answer': open({
    market: susde,
    answers: {
      paused: undefined,
      isSupportedMarket: undefined,
      LIQUIDATION_BUFFER: undefined,
      s_yieldFee: undefined,
      s_isCorrelated: undefined,
    },
  }),
  'that cannot be simulated for want of a token': open({ market: susde, unsimulated: 'token' }),
};

const MANAGED: Cases = {
  'increase by LTV': manage(ON_SUSDE, { action: 'increase_leverage', desiredLtvPct: d(75) }),
  'increase with a minimum of its own': manage(ON_SUSDE, {
    action: 'increase_leverage',
    leverage: d(4),
    minAmountOut: d('400'),
    slippage: d('0.003'),
  }),
  close: manage({ ...ON_SUSDE, deps: { appUrl: 'https://app.example' } }, { action: 'close', maxSwapLossPct: d(20) }),
  'close without debt': manage({ market: susde, before: held(susde, 8_000, 0) }, { action: 'close' }),
  'close near the debt, where the slippage is tightened': manage(
    { market: susde, before: held(susde, 6_000, 6_380) },
    { action: 'close', maxSwapLossPct: d(50) },
  ),
  'close at a profit': manage({ ...ON_SUSDE, usd: { sUSDe: '1.2' } }, { action: 'close', minAmountOut: d(9_500) }),
  'close all by its amount': manage(ON_SUSDE, { action: 'close', amount: d(8_000) }),
  'close a part': manage(ON_SUSDE, { action: 'close', amount: d(3_000), slippage: d('0.002') }),
  'close a part at a profit': manage({ ...ON_SUSDE, usd: { sUSDe: '1.3' } }, { action: 'close', amount: d(5_000) }),
  'close a part, not simulated': manage(
    { ...ON_SUSDE, unsimulated: 'node' },
    { action: 'close', amount: d(3_000), allowUnsimulated: true },
  ),
  'close, not simulated': manage({ ...ON_SUSDE, unsimulated: 'node' }, { action: 'close', allowUnsimulated: true }),
  repay: manage(ON_SUSDE, { action: 'repay', amount: d('1234.5'), payToken: susde.loan.address }),
  'repay the whole debt': manage(
    { ...ON_SUSDE, deps: { appUrl: 'https://app.example' } },
    { action: 'repay', full: true },
  ),
  'repay without allowance': manage(
    { ...ON_SUSDE, answers: { allowance: 3n } },
    { action: 'repay', amount: d(10), payToken: susde.loan.address },
  ),
  'repay with another token': manage(
    { ...ON_SUSDE, deps: fees },
    { action: 'repay', amount: d(500), payToken: tokenOn(1, 'USDC').address },
  ),
  'repay the whole debt with another token': manage(ON_SUSDE, {
    action: 'repay',
    full: true,
    payToken: tokenOn(1, 'USDC').address,
  }),
  'repay more than the debt with another token': manage(ON_SUSDE, {
    action: 'repay',
    amount: d(7_000),
    payToken: tokenOn(1, 'USDC').address,
  }),
  'repay with the native token': manage(
    { ...ON_SUSDE, usd: { ETH: '2500' } },
    { action: 'repay', amount: d('0.2'), payToken: tokenOn(1, 'ETH').address },
  ),
  'add collateral': manage(ON_SUSDE, { action: 'add_collateral', amount: d(100), payToken: susde.collateral.address }),
  'add with another token': manage(
    { ...ON_SUSDE, deps: fees },
    { action: 'add_collateral', amount: d(500), payToken: tokenOn(1, 'USDC').address },
  ),
  'add on a market with a deposit fee': manage(
    { ...WBTC, before: held(wbtc, 1, 30_000) },
    { action: 'add_collateral', amount: d('0.1'), payToken: wbtc.collateral.address },
  ),
  'repay on a market with a deposit fee': manage(
    { ...WBTC, before: held(wbtc, 1, 30_000) },
    { action: 'repay', amount: d(1_000), payToken: wbtc.loan.address },
  ),
  'remove collateral': manage(ON_SUSDE, { action: 'remove_collateral', amount: d(500) }),
  'remove collateral at a profit': manage(
    { ...ON_SUSDE, usd: { sUSDe: '1.3' } },
    { action: 'remove_collateral', amount: d(500) },
  ),
  borrow: manage(ON_SUSDE, { action: 'borrow', amount: d(500) }),
  'borrow at a profit': manage({ ...ON_SUSDE, usd: { sUSDe: '1.3' } }, { action: 'borrow', amount: d(500) }),
};

const whereOf = (name: string) => join(import.meta.dirname, 'plans', `${name}.txt`);

it.each([
  ['openings', OPENINGS],
  ['managed', MANAGED],
])('behavior: %s', async (name, cases) => {
  await expect(await tableOf(cases, shown)).toMatchFileSnapshot(whereOf(name));
});
