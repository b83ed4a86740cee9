import type { Market, Token } from '../../catalog/types.ts';
import { beforeDepositFee } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { SurfaceNames } from '../../shared/contract/surface-names.ts';
import { Decimal, formatUnitsPlain, toFixedHalfUp } from '../../shared/decimal.ts';
import { namedError } from '../../shared/errors.ts';
import { type Alternative, type NamedToken, NotEligibleError } from '../errors.ts';
import { loanInCollateral, ltvPctOf } from '../preview/ltv.ts';
import type { PositionState } from '../types.ts';

const HUNDRED_PCT: Decimal = new Decimal(100);

/**
 * List the actions that bring a position down to a target LTV, with amounts at the oracle's price, rounded up: repaying, adding
 * collateral, or selling a part of the collateral and repaying with the proceeds. Empty when it is not above the target.
 * @param depositFee share in WAD that the contract takes of a repayment or an added collateral
 */
function waysDown(
  market: Market,
  { collateral, debt }: PositionState,
  price: bigint,
  targetLtvPct: Decimal,
  depositFee: bigint,
): readonly Alternative[] {
  const target = targetLtvPct.div(HUNDRED_PCT);
  const value = new Decimal(collateralValueInLoan(collateral, price).toString());
  const excess = new Decimal(debt.toString()).minus(target.times(value));
  if (!excess.gt(0)) return [];
  const loan = (amount: Decimal) => ({
    amount: formatUnits(beforeDepositFee(units(amount), depositFee), market.loan),
    token: named(market.loan),
  });
  const asCollateral = (amount: Decimal, fee = 0n) => ({
    amount: formatUnits(beforeDepositFee(loanInCollateral(units(amount), price) + 1n, fee), market.collateral),
    token: named(market.collateral),
  });
  // As if all proceeds of the sale carried the fee when they are repaid: the contract repays a part of them without one.
  const repaid = new Decimal(1).minus(new Decimal(depositFee.toString()).shiftedBy(-18)).minus(target);
  const sold = repaid.gt(0) ? excess.div(repaid) : value;
  return [
    { action: 'repay', ...loan(excess) },
    ...(target.gt(0) ? [{ action: 'add_collateral' as const, ...asCollateral(excess.div(target), depositFee) }] : []),
    // At its liquidation LTV, or above it, no part of a position can be held once another one is sold.
    ...(sold.lt(value) && new Decimal(debt.toString()).lt(value.times(market.lltv.toString()).shiftedBy(-18))
      ? [{ action: 'close' as const, ...asCollateral(sold), thenRepay: true }]
      : []),
  ];
}

/** Refuse an increase to the LTV of the position or below it, and name the actions that lead there. */
export function nothingToIncrease(
  market: Market,
  position: PositionState,
  price: bigint,
  targetLtvPct: Decimal,
  depositFee: bigint,
): NotEligibleError {
  const now = ltvPctOf(position, price);
  const alternatives = waysDown(market, position, price, targetLtvPct, depositFee);
  const waysIn = ({ actions }: SurfaceNames) =>
    alternatives.map(
      ({ action, amount, token, thenRepay }) =>
        `${actions[action]} with amount ${amount} (${token.symbol})${thenRepay ? ' and then repay with its proceeds' : ''}`,
    );
  return namedError(
    (names) =>
      new NotEligibleError(
        `The position stands at an LTV of ${now ? toFixedHalfUp(now, 2) : 'over 100'} % already: there is nothing to increase. Send a higher target${
          alternatives.length === 0
            ? ''
            : `; to come down to ${toFixedHalfUp(targetLtvPct, 2)} %: ${waysIn(names).join(', or ')}`
        }.`,
        { reason: 'nothing_to_do', alternatives: alternatives.length === 0 ? undefined : alternatives },
      ),
  );
}

function named({ chainId, address, displaySymbol }: Token): NamedToken {
  return { chainId, address, symbol: displaySymbol };
}

function units(amount: Decimal): bigint {
  return BigInt(amount.integerValue(Decimal.ROUND_CEIL).toFixed(0));
}

function formatUnits(amount: bigint, { decimals }: { readonly decimals: number }): string {
  return formatUnitsPlain(amount, decimals);
}
