import { type Address, erc20Abi, formatUnits, parseAbi, parseUnits } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Chain, EquityVault, Market } from '../../src/catalog/index.ts';
import { marketKey } from '../seed/markets.ts';
import type { SeededDeposit, SeededPosition } from '../seed/wallets.ts';
import type { DevnetClient } from './client.ts';
import type { DeployContext, Transaction } from './context.ts';
import { marketParams } from './deploy.ts';
import { planSwap } from './swaps.ts';

const PRICE_SCALE = 10n ** 36n;
const WAD = 10n ** 18n;
const LTV_MARGIN = 5n * 10n ** 15n;

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);
const oracleAbi = parseAbi(['function price() view returns (uint256)']);
const morphoAbi = parseAbi(['function setAuthorization(address authorized, bool newIsAuthorized)']);

/** Find a market by its seed key. @throws Error when the chain has none */
export function marketByKey(chain: Chain, key: string): Market {
  const market = chain.markets.find((candidate) => marketKey(candidate) === key);
  if (market === undefined) throw new Error(`devnet/seed/wallets.ts: chain ${chain.chainId} has no market ${key}`);
  return market;
}

/** Plan a plain loop: mint the collateral to the wallet, approve, open at the wanted LTV. */
export async function planLoop(ctx: DeployContext, user: Address, seed: SeededPosition): Promise<Transaction[]> {
  const { chain, owner } = ctx;
  const { flashLeverage } = chain.contracts;
  const market = marketByKey(chain, seed.market);
  const { collateral } = market;
  const amount = parseUnits(seed.amountCollateral, collateral.decimals);
  const params = await planLeverage(ctx, market, amount, amount, await reachableLtvPct(ctx, market, seed.ltvPct));
  return [
    mint(owner, collateral.address, user, amount),
    approve(user, collateral.address, flashLeverage, amount),
    {
      from: user,
      to: flashLeverage,
      label: `open ${seed.market}`,
      data: encodeFunctionData({ abi: flashLeverageAbi, functionName: 'leverage', args: [user, params] }),
    },
  ];
}

/** Plan a vault entry as the service builds it: approve, grant, enter, revoke. The borrow is sized on the minimum stock. */
export async function planDeposit(ctx: DeployContext, user: Address, seed: SeededDeposit): Promise<Transaction[]> {
  const { chain, client, owner } = ctx;
  const { morphoBlue } = chain.contracts;
  const vault = vaultByStock(chain, seed.stock);
  const router = equityRouterOf(chain);
  const { depositToken, stock, stockMarket, yieldMarket } = vault;
  const amountIn = parseUnits(seed.amountUsdg, depositToken.decimals);

  const stockSwap = await planSwap(chain, client, depositToken.address, stock.address, amountIn, router);
  const stockValue = await collateralValue(client, stockMarket, stockSwap.minOut);
  const stockBorrowAmount = (stockValue * parseUnits(seed.stockLtvPct, 16)) / WAD;
  const loopToken = yieldMarket.collateral.address;
  const yieldSwap = await planSwap(chain, client, depositToken.address, loopToken, stockBorrowAmount, router);
  const yieldLtvPct = await reachableLtvPct(ctx, yieldMarket, seed.yieldLtvPct);
  const leverageParams = await planLeverage(ctx, yieldMarket, yieldSwap.minOut, 0n, yieldLtvPct);

  const authorize = (granted: boolean): Transaction => ({
    from: user,
    to: morphoBlue,
    label: granted ? 'grant' : 'revoke',
    data: encodeFunctionData({ abi: morphoAbi, functionName: 'setAuthorization', args: [router, granted] }),
  });
  return [
    mint(owner, depositToken.address, user, amountIn),
    approve(user, depositToken.address, router, amountIn),
    authorize(true),
    {
      from: user,
      to: router,
      label: `enter the ${seed.stock} vault`,
      data: encodeFunctionData({
        abi: equityRouterAbi,
        functionName: 'equityEntry',
        args: [
          {
            depositToken: depositToken.address,
            amountIn,
            stockSwapData: stockSwap.swapData,
            stockMinOut: stockSwap.minOut,
            stockMarketId: stockMarket.id,
            stockBorrowAmount,
            yieldSwapData: yieldSwap.swapData,
            yieldMinOut: yieldSwap.minOut,
            leverageParams,
          },
        ],
      }),
    },
    authorize(false),
  ];
}

/** Lower an LTV of the seeds to the limit of the deployment, less half a point for the cost of swaps. */
async function reachableLtvPct({ chain, client }: DeployContext, market: Market, ltvPct: string): Promise<string> {
  const maxLtv = await client.readContract({
    address: chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getMaxLtv',
    args: [marketParams(market)],
  });
  const reachable = maxLtv - LTV_MARGIN;
  return parseUnits(ltvPct, 16) <= reachable ? ltvPct : formatUnits(reachable, 16);
}

/**
 * Size the flash loan that brings `collateralAmount` to an LTV, and plan its swap: with V the collateral's value and
 * t the LTV, the loan is V / (1 − t) − V.
 */
export async function planLeverage(
  { chain, client }: Pick<DeployContext, 'chain' | 'client'>,
  market: Market,
  collateralAmount: bigint,
  amountCollateral: bigint,
  ltvPct: string,
) {
  const value = await collateralValue(client, market, collateralAmount);
  const amountFlashLoan = (value * WAD) / (WAD - parseUnits(ltvPct, 16)) - value;
  const { loan, collateral, id } = market;
  const recipient = chain.contracts.flashLeverage;
  const swap = await planSwap(chain, client, loan.address, collateral.address, amountFlashLoan, recipient);
  return { marketId: id, amountCollateral, amountFlashLoan, swapData: swap.swapData, minTokenOut: swap.minOut };
}

/** Read a proxy's debt and collateral, interest included. */
export async function holdingsOf(ctx: Pick<DeployContext, 'chain' | 'client'>, market: Market, userProxy: Address) {
  const read = { address: ctx.chain.contracts.flashLeverage, abi: flashLeverageAbi } as const;
  const params = marketParams(market);
  const { borrowShares, collateral } = await ctx.client.readContract({
    ...read,
    functionName: 'getMorphoPosition',
    args: [userProxy, params],
  });
  const debt = await ctx.client.readContract({
    ...read,
    functionName: 'getSharesValueInLoanToken',
    args: [params, borrowShares],
  });
  return { debt, collateral, borrowShares };
}

export function mint(owner: Address, token: Address, to: Address, amount: bigint): Transaction {
  const data = encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, amount] });
  return { from: owner, to: token, data, label: `mint ${token}` };
}

/** Approve exactly the next amount, because a token like USDT refuses to change an allowance that is not zero. */
export function approve(from: Address, token: Address, spender: Address, amount: bigint): Transaction {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
  return { from, to: token, data, label: `approve ${token}` };
}

export function readPrice(client: DevnetClient, oracle: Address): Promise<bigint> {
  return client.readContract({ address: oracle, abi: oracleAbi, functionName: 'price' });
}

async function collateralValue(client: DevnetClient, market: Market, collateralAmount: bigint): Promise<bigint> {
  return (collateralAmount * (await readPrice(client, market.oracle))) / PRICE_SCALE;
}

function vaultByStock(chain: Chain, stock: string): EquityVault {
  const vault = chain.equityVaults.find((candidate) => candidate.stock.symbol === stock);
  if (vault === undefined) throw new Error(`devnet/seed/wallets.ts: chain ${chain.chainId} has no ${stock} vault`);
  return vault;
}

function equityRouterOf(chain: Chain): Address {
  const { equityRouter } = chain.contracts;
  if (equityRouter === undefined) throw new Error(`The catalog names no equity router on chain ${chain.chainId}`);
  return equityRouter;
}
