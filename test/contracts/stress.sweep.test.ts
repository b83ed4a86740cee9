import type { MarketId as SdkMarketId } from '@morpho-org/blue-sdk';
import { fetchMarket } from '@morpho-org/blue-sdk-viem';
import { type Address, BaseError, maxUint256, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { accounts } from '../../devnet/seed/accounts.ts';
import { marketKey } from '../../devnet/seed/markets.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Market } from '../../src/catalog/index.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { lowestHealthyPrice } from '../../src/features/risk/domain/liquidation.ts';
import { stressRow, stressRows } from '../../src/features/risk/domain/rows.ts';
import type { StressHolding } from '../../src/features/risk/domain/types.ts';
import { OWNER, useWorld } from './world.ts';

/** The rows of stress tables against the chain: oracles are moved, and the protocol is asked. */

const morphoAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'function liquidate(MarketParams marketParams, address borrower, uint256 seizedAssets, uint256 repaidShares, bytes data) returns (uint256, uint256)',
  'function position(bytes32 id, address user) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
]);
const erc20 = parseAbi(['function approve(address spender, uint256 amount)']);
const SCALE = 10n ** 36n;
/**
 * Five borrowers on each of ten markets, from low LTVs to one unit below the limit. The first one opens at the product's
 * contract, whose proxy borrows.
 */
const [HOLDER, ...ACCOUNTS] = accounts.slice(5, 10).map(({ address }) => address) as [Address, ...Address[]];
const MARKETS = 10;
/** Points below the liquidation LTV at which the proxy opens: a thin collateral loses on the way in. */
const MARGIN_POINTS = 3.75;
const LIQUIDATOR = OWNER;

const world = useWorld(1);

/** Numbers that look random and are the same in every run. */
function seeded(seed: number): () => bigint {
  let state = BigInt(seed) + 88_172_645_463_325_252n;
  return () => {
    state ^= (state << 13n) & 0xffff_ffff_ffff_ffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffff_ffff_ffff_ffffn;
    return state;
  };
}

/** Open the positions of a market. Returns the accounts that borrow. */
async function openPositions(market: Market, random: () => bigint): Promise<readonly Address[]> {
  const { chain } = world();
  const price = await chain.oraclePrice(market);
  const unit = 10n ** BigInt(market.loan.decimals);
  await chain.supply(market, 200_000n * unit);
  for (const [i, account] of ACCOUNTS.entries()) {
    const value = 500n * unit + (random() % (9_000n * unit));
    const collateral = (value * SCALE) / price + (random() % 1_000n);
    const most = (((collateral * price) / SCALE) * market.lltv) / 10n ** 18n;
    // The last borrower takes all but one unit; a borrow beyond it is refused.
    const borrowed = i === ACCOUNTS.length - 1 ? most - 1n : (most * (60n + (random() % 39n))) / 100n;
    await chain.openMorphoPosition(market, { account, collateral, borrowed });
  }
  await chain.mint(market.loan, LIQUIDATOR, 100_000n * unit);
  const data = encodeFunctionData({
    abi: erc20,
    functionName: 'approve',
    args: [world().row.contracts.morphoBlue, maxUint256],
  });
  await world().send({ from: LIQUIDATOR, to: market.loan.address, data });
  return [await openProxy(market, (1_000n * unit * SCALE) / price), ...ACCOUNTS];
}

/** Open a position at the product's contract. Returns its proxy. */
async function openProxy(market: Market, amount: bigint): Promise<Address> {
  const { chain, open, positions } = world();
  await chain.mint(market.collateral, HOLDER, amount);
  await open(HOLDER, marketKey(market), amount, limitsOf(market).liquidationLtvPct.minus(MARGIN_POINTS).toFixed());
  const opened = (await positions(HOLDER)).at(-1);
  if (!opened) throw new Error('the position is not there');
  return opened.userProxy;
}

/** The holding of a borrower as the chain has it now. */
async function holdingOf(market: Market, account: Address): Promise<StressHolding> {
  const { client, row, chain } = world();
  const { timestamp, number: blockNumber } = await client.getBlock();
  const id = market.id as string as SdkMarketId;
  const stored = await fetchMarket(id, client, { chainId: row.chainId, blockNumber });
  const [, borrowShares, collateral] = await client.readContract({
    address: row.contracts.morphoBlue,
    abi: morphoAbi,
    functionName: 'position',
    args: [market.id, account],
  });
  return {
    market,
    collateral,
    debt: stored.accrueInterest(timestamp).toBorrowAssets(borrowShares, 'Up'),
    price: await chain.oraclePrice(market),
    isRate: false,
    limits: limitsOf(market),
    nowMs: Number(timestamp) * 1_000,
    gaps: [],
  };
}

const liquidation = (market: Market, borrower: Address, seized: bigint) => ({
  from: LIQUIDATOR,
  to: world().row.contracts.morphoBlue,
  data: encodeFunctionData({
    abi: morphoAbi,
    functionName: 'liquidate',
    args: [marketParams(market), borrower, seized, 0n, '0x'],
  }),
});

/** Whether the protocol accepts a liquidation now; any refusal but that of a healthy position fails. */
async function isLiquidatable(market: Market, borrower: Address, seized: bigint): Promise<boolean> {
  const { from: account, to, data } = liquidation(market, borrower, seized);
  try {
    await world().client.call({ account, to, data });
    return true;
  } catch (error) {
    expect(error instanceof BaseError && error.message).toMatch(/position is healthy/);
    return false;
  }
}

const valueOnChain = (market: Market, collateral: bigint): Promise<bigint> =>
  world().client.readContract({
    address: world().flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getCollateralValueInLoanToken',
    args: [marketParams(market), collateral],
  });

describe('50 positions on real markets', () => {
  test.each(Array.from({ length: MARKETS }, (_, i) => i))(
    'market %i: every row has the LTV of the chain, and liquidation is possible from the predicted price on and not one unit earlier',
    async (index) => {
      const { chain, row, send } = world();
      const market = row.markets.filter(({ kind }) => kind === 'loop')[index];
      if (!market) throw new Error(`${MARKETS} markets expected`);
      const borrowers = await openPositions(market, seeded(index));
      const holdings = await Promise.all(borrowers.map((account) => holdingOf(market, account)));
      const [first] = holdings;
      const priced = (first ? stressRows(first) : []).filter(
        ({ scenario, changePct }) =>
          scenario === 'TODAY' || scenario === 'COLLATERAL_PRICE' || (scenario === 'LOAN_PRICE' && changePct?.gt(0)),
      );
      expect(priced).toHaveLength(15);
      for (const { scenario, changePct, price } of priced) {
        await chain.setOraclePrice(market, price);
        await Promise.all(
          holdings.map(async (holding, i) => {
            const told = stressRow(holding, { scenario, changePct: changePct?.toNumber() });
            const [value, isAccepted] = await Promise.all([
              valueOnChain(market, holding.collateral),
              isLiquidatable(market, borrowers[i] as Address, holding.collateral / 100n),
            ]);
            expect([told.price, told.collateralValue, told.endsBy === 'LIQUIDATION']).toEqual([
              price,
              value,
              isAccepted,
            ]);
          }),
        );
      }
      // No time has passed, so that value and debt of the rows are those of the chain.
      const after = await Promise.all(borrowers.map((account) => holdingOf(market, account)));
      expect(after.map(({ debt }) => debt)).toEqual(holdings.map(({ debt }) => debt));
      for (const account of borrowers) {
        // Each liquidation rounds in favour of the market, which can lower the debts of the others by a unit.
        const holding = await holdingOf(market, account);
        const lowest = lowestHealthyPrice(holding);
        if (lowest === null || lowest === undefined) throw new Error('every holding has a debt');
        const seized = holding.collateral / 100n;
        await chain.setOraclePrice(market, lowest);
        expect(await isLiquidatable(market, account, seized)).toBe(false);
        await chain.setOraclePrice(market, lowest - 1n);
        await send(liquidation(market, account, seized));
        const { collateral } = await holdingOf(market, account);
        expect(collateral).toBe(holding.collateral - seized);
      }
    },
  );
});
