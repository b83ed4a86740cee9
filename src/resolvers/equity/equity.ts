import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import type { BuiltDeposit, BuiltExit, PreviewedDeposit } from '../../transactions/equity/index.ts';
import type { AppContext } from '../common/context.ts';

type Loose<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

export type DepositArgs = { readonly strategyId: StrategyId; readonly amount: Decimal } & Loose<{
  stockLtvPct: Decimal;
  slippage: Decimal;
  maxSwapLossPct: Decimal;
  chainId: ChainId;
}>;
export type DepositBuildArgs = DepositArgs & { readonly userAddress: Address };
export type ExitArgs = { readonly strategyId: StrategyId; readonly userAddress: Address } & Loose<{
  yieldPositionIds: readonly number[];
  slippage: Decimal;
  maxSwapLossPct: Decimal;
  minAmountOut: Decimal;
  allowUnsimulated: boolean;
  chainId: ChainId;
}>;

/** Preview a deposit into a vault, without a wallet. @throws the refusals of the builders */
export function previewEquity(input: DepositArgs, ctx: AppContext): Promise<PreviewedDeposit> {
  return ctx.live().equity.preview(depositInput(input));
}

/** Build a deposit into a vault. @throws the refusals of the builders */
export function depositEquity({ userAddress, ...input }: DepositBuildArgs, ctx: AppContext): Promise<BuiltDeposit> {
  return ctx.live().equity.deposit(depositInput(input), userAddress);
}

/** Build the exit from a vault. @throws the refusals of the builders */
export function exitEquity(input: ExitArgs, ctx: AppContext): Promise<BuiltExit> {
  const { strategyId, userAddress, yieldPositionIds, slippage, maxSwapLossPct, minAmountOut, chainId } = input;
  const { allowUnsimulated } = input;
  return ctx.live().equity.exit(
    {
      strategyId,
      chainId: chainId ?? undefined,
      yieldPositionIds: yieldPositionIds ?? undefined,
      slippage: slippage ?? undefined,
      maxSwapLossPct: maxSwapLossPct ?? undefined,
      minAmountOut: minAmountOut ?? undefined,
      allowUnsimulated: allowUnsimulated ?? undefined,
    },
    userAddress,
  );
}

function depositInput({ strategyId, amount, stockLtvPct, slippage, maxSwapLossPct, chainId }: DepositArgs) {
  return {
    strategyId,
    amount,
    chainId: chainId ?? undefined,
    stockLtvPct: stockLtvPct ?? undefined,
    slippage: slippage ?? undefined,
    maxSwapLossPct: maxSwapLossPct ?? undefined,
  };
}
