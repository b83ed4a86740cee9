import { type Address, maxUint256, parseAbi, parseEther } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Market } from '../../src/catalog/index.ts';
import { liquidator, type SeededPosition, type SeededWallet, seededWallets } from '../seed/wallets.ts';
import type { DeployContext, Transaction } from './context.ts';
import { marketParams } from './deploy.ts';
import { priceCall } from './prices.ts';
import { approve, holdingsOf, marketByKey, mint, planDeposit, planLoop, readPrice } from './seed-plans.ts';
import { planSwap } from './swaps.ts';

/** The LTV at which a position is liquidated whole: too close to 100 % for the incentive to leave any collateral. */
const LIQUIDATED_AT_LTV_PCT = 99n;
const PRICE_SCALE = 10n ** 36n;
const GAS_MONEY = parseEther('100');

const morphoAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'function liquidate(MarketParams marketParams, address borrower, uint256 seizedAssets, uint256 repaidShares, bytes data) returns (uint256, uint256)',
]);

interface EndingPosition {
  readonly user: Address;
  readonly id: number;
  readonly seed: SeededPosition;
  readonly market: Market;
  readonly userProxy: Address;
}

/**
 * Open the positions and vaults of `devnet/seed/wallets.ts` on this chain, then close some and liquidate others: by a real
 * liquidation, after the oracle has fallen, and it rises again. Needs the product's contracts and the markets' liquidity.
 */
export async function seedPositions(ctx: DeployContext): Promise<void> {
  const here = seededWallets
    .map((wallet) => onChain(wallet, ctx.chain.chainId))
    .filter(({ entries }) => entries.length > 0);
  const people = [...here.map(({ account }) => account.address), liquidator.address];
  await Promise.all(people.map((address) => raiseBalance(ctx, address)));

  const openings = here.flatMap(({ account, entries }) =>
    entries.map((entry) =>
      entry.kind === 'loop' ? planLoop(ctx, account.address, entry) : planDeposit(ctx, account.address, entry),
    ),
  );
  await ctx.send((await Promise.all(openings)).flat());

  const opened = (await Promise.all(here.map((wallet) => openedLoops(ctx, wallet)))).flat();
  const endings = opened.flatMap((position) => {
    if (position.seed.status === 'open') return [];
    return position.seed.status === 'closed' ? planClose(ctx, position) : planLiquidation(ctx, position);
  });
  await ctx.send((await Promise.all(endings)).flat());
}

function onChain(wallet: SeededWallet, chainId: number): SeededWallet {
  return { ...wallet, entries: wallet.entries.filter((entry) => entry.chainId === chainId) };
}

/** Development accounts have ETH; the others need some for gas. */
async function raiseBalance({ client }: DeployContext, address: Address): Promise<void> {
  if ((await client.getBalance({ address })) < GAS_MONEY) await client.setBalance({ address, value: GAS_MONEY });
}

async function openedLoops(ctx: DeployContext, { account, entries }: SeededWallet): Promise<EndingPosition[]> {
  const positions = await ctx.client.readContract({
    address: ctx.chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePositions',
    args: [account.address],
  });
  return entries.flatMap((seed, id) => {
    const position = positions[id];
    if (position === undefined) throw new Error(`Seeding ${account.address} opened ${positions.length} positions only`);
    if (seed.kind !== 'loop') return [];
    const market = marketByKey(ctx.chain, seed.market);
    return [{ user: account.address, id, seed, market, userProxy: position.userProxy }];
  });
}

async function planClose(
  ctx: DeployContext,
  { user, id, seed, market, userProxy }: EndingPosition,
): Promise<Transaction[]> {
  const { flashLeverage } = ctx.chain.contracts;
  const { collateral } = await holdingsOf(ctx, market, userProxy);
  const [tokenIn, tokenOut] = [market.collateral.address, market.loan.address];
  const { swapData, minOut } = await planSwap(ctx.chain, ctx.client, tokenIn, tokenOut, collateral, flashLeverage);
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'deleverage',
    args: [BigInt(id), 0n, swapData, minOut],
  });
  return [{ from: user, to: flashLeverage, data, label: `close ${seed.market}` }];
}

async function planLiquidation(
  ctx: DeployContext,
  { seed, market, userProxy }: EndingPosition,
): Promise<Transaction[]> {
  const { owner, chain, client } = ctx;
  const { debt, collateral } = await holdingsOf(ctx, market, userProxy);
  const price = await readPrice(client, market.oracle);
  const fallen = (debt * 100n * PRICE_SCALE) / (collateral * LIQUIDATED_AT_LTV_PCT);
  const setPrice = (value: bigint): Transaction => ({
    from: owner,
    label: `move the oracle of ${seed.market}`,
    ...priceCall(market, value),
  });
  return [
    mint(owner, market.loan.address, liquidator.address, debt),
    approve(liquidator.address, market.loan.address, chain.contracts.morphoBlue, maxUint256),
    setPrice(fallen),
    {
      from: liquidator.address,
      to: chain.contracts.morphoBlue,
      label: `liquidate ${seed.market}`,
      data: encodeFunctionData({
        abi: morphoAbi,
        functionName: 'liquidate',
        args: [marketParams(market), userProxy, collateral, 0n, '0x'],
      }),
    },
    setPrice(price),
  ];
}
