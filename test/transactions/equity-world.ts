import type { Chain, EquityVault, Token } from '../../src/catalog/types.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import type { ComposedMarket } from '../../src/domain/market/types.ts';
import type { HeldPosition } from '../../src/domain/position/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { previewDeposit } from '../../src/transactions/equity/preview.ts';
import { sizeFlashLoan, sizeStockBorrow, type VaultPrices } from '../../src/transactions/equity/sizing.ts';
import type { DepositTerms } from '../../src/transactions/equity/types.ts';
import { leastOutput } from '../../src/transactions/input.ts';
import { loanInCollateral } from '../../src/transactions/preview/ltv.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { chainOf, completeFacts, PARAMS } from '../domain/world.ts';

export const chain: Chain = chainOf(4663);
export const router = chain.contracts.equityRouter as Address;
export const user: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

export function vaultOf(symbol: string): EquityVault {
  const vault = chain.equityVaults.find(({ stock }) => stock.symbol === symbol);
  if (!vault) throw new Error(`no ${symbol} vault`);
  return vault;
}

const composed = composeChain(chain, completeFacts(chain), PARAMS);

function composedOf(id: string): ComposedMarket {
  const found = composed.markets.find(({ market }) => market.id === id);
  if (!found) throw new Error(`market ${id} is not composed`);
  return found;
}

/** A swap as a venue would quote it; its calldata only has to be unique. */
export function swapOf(
  tokenIn: Token,
  tokenOut: Token,
  amountIn: bigint,
  amountOut: bigint,
  slippage: Decimal,
  calldata: Hex = '0xdeadbeef',
): PlannedSwap {
  const routerOf = chain.swapRouters.AggregatorOne?.[0] as Address;
  return {
    tokenIn,
    tokenOut,
    expectedOut: amountOut,
    minOut: leastOutput(amountOut, slippage),
    feeBps: 0,
    quote: {
      source: 'AggregatorOne',
      amountIn,
      amountOut,
      feeBps: 0,
      router: routerOf,
      calldata,
      value: 0n,
      expiresAtMs: PARAMS.nowMs + 60_000,
    },
  };
}

export interface PlannedInput {
  readonly vault: EquityVault;
  readonly amountIn: bigint;
  readonly stockLtvPct: Decimal;
  readonly slippage: Decimal;
  readonly prices: VaultPrices;
  /** The loss of each swap against the oracle, basis points. */
  readonly lossBps: bigint;
}

/** Plan a deposit with made-up fills, by the product's own sizing. */
export function planned({ vault, amountIn, stockLtvPct, slippage, prices, lossBps }: PlannedInput): DepositTerms {
  const { depositToken, stock, yieldMarket } = vault;
  const fill = (amount: bigint, price: bigint) => (loanInCollateral(amount, price) * (10_000n - lossBps)) / 10_000n;
  const buy = (token: Token, amount: bigint, price: bigint, calldata: Hex) =>
    swapOf(depositToken, token, amount, fill(amount, price), slippage, calldata);
  const stockSwap = buy(stock, amountIn, prices.stock, '0x5701');
  const stockBorrow = sizeStockBorrow(stockSwap.minOut, prices.stock, stockLtvPct);
  const zap = buy(yieldMarket.collateral, stockBorrow, prices.yield, '0x2a90');
  const amountFlashLoan = sizeFlashLoan(limitsOf(vault.yieldMarket).safeLtvPct, zap.minOut, prices.yield);
  const leverage = buy(yieldMarket.collateral, amountFlashLoan, prices.yield, '0x1e7e');
  const decided = {
    vault,
    router,
    amountIn,
    stockLtvPct,
    stockBorrow,
    amountFlashLoan,
    depositFee: 0n,
    swaps: { stock: stockSwap, zap, leverage },
    fees: { stockLegBps: 25, yieldLegBps: 5 },
    slippage,
  };
  const markets = { stock: composedOf(vault.stockMarket.id), yieldMarket: composedOf(yieldMarket.id) };
  // As if the deposit raised both rates by a tenth of a point.
  const raised = ({ borrowApyPct: before }: ComposedMarket) => ({ before, after: before.plus('0.1') });
  const borrowApyPct = { stock: raised(markets.stock), yield: raised(markets.yieldMarket) };
  return {
    ...decided,
    preview: previewDeposit({ ...decided, ...markets, prices, borrowApyPct, priced: { stock: {}, yield: {} } }),
  };
}

/** Oracle prices in whole tokens, scaled as the protocol has them. */
export function pricesOf(vault: EquityVault, stockUsd: string, yieldUsd: string): VaultPrices {
  const scaled = (price: string, token: Token) =>
    BigInt(new Decimal(price).shiftedBy(36 + vault.depositToken.decimals - token.decimals).toFixed(0));
  return { stock: scaled(stockUsd, vault.stock), yield: scaled(yieldUsd, vault.yieldMarket.collateral) };
}

export function loopOf(id: number, vault: EquityVault, collateral = 10n ** 18n): HeldPosition {
  return {
    id,
    marketId: vault.yieldMarket.id,
    proxy: user,
    open: true,
    depositedAssets: 1_000_000n,
    returnedAssets: 0n,
    collateral,
    borrowShares: 1n,
  };
}
