import type { Token } from '../../catalog/types.ts';
import { type Decimal, formatPct } from '../../shared/decimal.ts';
import type { Failure, Suspect } from '../facts.ts';
import { isOffPeg } from '../plausibility/suspect.ts';
import type { WarnedField, Warning } from '../plausibility/types.ts';
import type { CompositionContext } from './context.ts';
import { divergenceWarning } from './oracle-divergence.ts';
import type { ComposedMarket, Worst } from './types.ts';

type Priced = Pick<
  ComposedMarket,
  | 'market'
  | 'collateralPrice'
  | 'loanPrice'
  | 'collateralApyPct'
  | 'collateralApySource'
  | 'liquidityUsd'
  | 'oracleDivergence'
>;

const NONE: readonly Warning[] = [];

/**
 * List the warnings of a market: unconfirmed values, tokens off their peg, and an oracle far from the price of the collateral.
 * Values of the chain are served nevertheless.
 */
export function warningsOf(composed: Priced, context: CompositionContext): readonly Warning[] {
  const { market } = composed;
  const { groups } = context.facts;
  const warnings: Warning[] = [];
  for (const [field, token, price] of [
    ['collateral.priceUsd', market.collateral, composed.collateralPrice?.value.usd],
    ['loan.priceUsd', market.loan, composed.loanPrice?.value.usd],
  ] as const) {
    const suspect = groups.price.failures.get(token.address)?.suspect;
    if (suspect) warnings.push(unconfirmed('suspect_price', field, suspect, price !== undefined));
    warnings.push(...offPeg(field, token, [price, suspect?.value], context));
  }
  const rate = groups.collateralApy.failures.get(market.collateral.address)?.suspect;
  if (rate && composed.collateralApySource !== 'none')
    warnings.push(unconfirmed('suspect_apy', 'collateralApyPct', rate, true));
  const paid = groups.incentives.failures.get(market.id)?.suspect;
  if (paid) {
    const isKnown = groups.incentives.items.has(market.id);
    warnings.push(unconfirmed('suspect_incentive', 'borrowIncentive', paid, isKnown));
  }
  const loss = groups.exitLiquidity.failures.get(market.collateral.address)?.suspect;
  if (loss) {
    const isKnown = groups.exitLiquidity.items.has(market.collateral.address);
    warnings.push(unconfirmed('suspect_exit', 'exitLiquidity', loss, isKnown));
  }
  if (composed.oracleDivergence) warnings.push(divergenceWarning(composed.oracleDivergence));
  return warnings.length === 0 ? NONE : warnings;
}

/**
 * Return the unconfirmed values that are worse than the published ones. The listing uses these, but only from the second
 * observation on: no strategy leaves the list because of a single answer.
 */
export function worstOf(composed: Priced, { facts: { groups } }: CompositionContext): Worst {
  const { market, liquidityUsd, loanPrice } = composed;
  const unconfirmedUsd = repeated(groups.price.failures.get(market.loan.address));
  const rate = repeated(groups.collateralApy.failures.get(market.collateral.address));
  const lower =
    unconfirmedUsd && loanPrice && unconfirmedUsd.lt(loanPrice.value.usd)
      ? unconfirmedUsd.div(loanPrice.value.usd)
      : undefined;
  return {
    liquidityUsd: lower && liquidityUsd ? liquidityUsd.times(lower) : undefined,
    collateralApyPct: rate?.lt(composed.collateralApyPct) ? rate : undefined,
  };
}

const REPEATED = 2;

function repeated(failure: Failure | undefined): Decimal | undefined {
  return failure?.suspect && failure.suspect.readings >= REPEATED ? failure.suspect.value : undefined;
}

function unconfirmed(code: Warning['code'], field: WarnedField, { value }: Suspect, isKnown: boolean): Warning {
  const formatted = code === 'suspect_price' ? `${value.toFixed()} USD` : `${formatPct(value)} %`;
  const instead = isKnown ? 'the last good value is shown' : 'no value is shown, because there is no good one';
  const message = `Its source now reports ${formatted}, which is not confirmed yet: ${instead}.`;
  return { code, field, value: value.toFixed(), message };
}

function offPeg(
  field: WarnedField,
  token: Token,
  prices: readonly (Decimal | undefined)[],
  { pegged }: CompositionContext,
): readonly Warning[] {
  if (!pegged.has(token.address)) return [];
  const off = prices.find((usd) => usd !== undefined && isOffPeg(usd));
  if (!off) return [];
  const message = `${token.symbol} is pegged to one dollar and priced at ${off.toFixed()} USD.`;
  return [{ code: 'off_peg', field, value: off.toFixed(), message }];
}
