import type { Market, Token } from '../../catalog/types.ts';
import { type Decimal, formatUnitsPlain, toFixedHalfUp } from '../../shared/decimal.ts';
import { NAMES } from '../../shared/names.ts';
import { deleverageSizes } from '../deleverage/size.ts';
import { type Alternative, NotEligibleError } from '../errors.ts';
import { ltvPctOf } from '../preview/ltv.ts';
import type { PositionState } from '../types.ts';
import { UNDER_WATER_WAYS, underWaterFact, underWaterOf } from '../under-water.ts';

/** Name the actions that bring a position down to a target LTV at the oracle's price; none when it is not above it. */
function waysDown(
  market: Market,
  position: PositionState,
  price: bigint,
  targetLtvPct: Decimal,
  depositFee: bigint,
): readonly Alternative[] {
  const sizes = deleverageSizes({ market, position, price, targetLtvPct, depositFee });
  if (!sizes) return [];
  const { loan, collateral } = market;
  const named = ({ chainId, address, displaySymbol, decimals }: Token, amount: bigint) => ({
    amount: formatUnitsPlain(amount, decimals),
    token: { chainId, address, symbol: displaySymbol },
  });
  return [
    { action: 'repay', ...named(loan, sizes.repay) },
    ...(sizes.addCollateral === undefined
      ? []
      : [{ action: 'add_collateral' as const, ...named(collateral, sizes.addCollateral) }]),
    ...(sizes.sell === undefined
      ? []
      : [{ action: 'close' as const, ...named(collateral, sizes.sell), thenRepay: true }]),
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
  const under = underWaterOf({ position, live: { price } });
  const alternatives = under ? [] : waysDown(market, position, price, targetLtvPct, depositFee);
  const next = () => {
    if (under) return `${underWaterFact(under, market.loan)} ${UNDER_WATER_WAYS}`;
    if (alternatives.length === 0) return 'Send a higher target.';
    const ways = alternatives.map(
      ({ action, amount, token, thenRepay }) =>
        `${NAMES.actions[action]} with amount ${amount} (${token.symbol})${thenRepay ? ' and then repay with its proceeds' : ''}`,
    );
    return `Send a higher target; to come down to ${toFixedHalfUp(targetLtvPct, 2)} %: ${ways.join(', or ')}.`;
  };
  return new NotEligibleError(
    `The position stands at an LTV of ${now ? toFixedHalfUp(now, 2) : 'over 100'} % already: there is nothing to increase. ${next()}`,
    { reason: 'nothing_to_do', alternatives: alternatives.length === 0 ? undefined : alternatives },
  );
}
