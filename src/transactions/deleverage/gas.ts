import { maxUint256 } from 'viem';
import type { Chain, Market } from '../../catalog/types.ts';
import { type Decimal, fromUnits } from '../../shared/decimal.ts';
import { AppError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { buildApprovals } from '../build/approvals.ts';
import { buildRepay } from '../build/flash-leverage.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { Simulator } from '../simulate/simulate.ts';
import type { SoldPart } from './sell-and-repay.ts';
import type { DeleverageStep } from './types.ts';

export interface RepaymentInput {
  readonly simulator: Pick<Simulator, 'simulate'>;
  readonly chain: Chain;
  readonly market: Market;
  readonly user: Address;
  readonly positionId: number;
  /** Loan tokens that the contract may take from the wallet now, base units; absent = not read. */
  readonly allowance: bigint | undefined;
}

/**
 * Gas of the repayment that follows a sale, its approvals included: both are simulated one after the other. `undefined` where
 * they cannot be, or revert together.
 */
export async function repaymentGas(
  { simulator, chain, market, user, positionId, allowance }: RepaymentInput,
  { repaid, isFull, plan: { tx, approvals: before, gasUsed } }: SoldPart,
): Promise<bigint | undefined> {
  if (gasUsed === undefined || allowance === undefined) return undefined;
  const { flashLeverage } = chain.contracts;
  const approvals = buildApprovals({
    token: payTokenOf(market.loan),
    spender: flashLeverage,
    amount: repaid,
    allowance,
  });
  const repayment = buildRepay(chain.contracts, {
    user,
    positionId: BigInt(positionId),
    amountRepay: repaid,
    borrowShares: isFull ? maxUint256 : 0n,
  });
  try {
    const calls = [...before, tx, ...approvals, repayment];
    const both = await simulator.simulate({ user, calls, nativeBalance: 0n });
    return both.simulated && both.gasUsed > gasUsed ? both.gasUsed - gasUsed : undefined;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Gas of all steps; `undefined` = that of one of them is unknown, or there is none. */
export function gasOfSteps(steps: readonly Pick<DeleverageStep, 'gasUsed'>[]): bigint | undefined {
  if (steps.length === 0) return undefined;
  return steps.reduce<bigint | undefined>(
    (sum, { gasUsed }) => (sum === undefined || gasUsed === undefined ? undefined : sum + gasUsed),
    0n,
  );
}

/** Price of gas in USD at a gas price in wei; `undefined` = one of the factors is unknown. */
export function gasUsdOf(
  gas: bigint | undefined,
  gasPriceWei: bigint | undefined,
  { native }: Pick<Chain, 'native'>,
  nativeUsd: Decimal | undefined,
): Decimal | undefined {
  if (gas === undefined || gasPriceWei === undefined || !nativeUsd) return undefined;
  return fromUnits(gas * gasPriceWei, native.decimals).times(nativeUsd);
}
