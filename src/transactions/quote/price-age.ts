import type { Chain, Market } from '../../catalog/types.ts';
import { renderStamp } from '../../domain/freshness/stamp.ts';
import { isOldPrice, type PriceAge, priceAge } from '../../domain/market/price-age.ts';
import { wholePrice } from '../../domain/position/valuation.ts';
import { type Decimal, HUNDRED, toFixedHalfUp } from '../../shared/decimal.ts';
import { type BuilderDeps, feedsOf, measuredUsdPrices, pricedBy } from '../deps.ts';
import { StaleDataError } from '../errors.ts';
import type { LiveMarket } from '../read/market-state.ts';
import type { Issue, PayToken } from '../types.ts';

/** A price of unknown age may differ so much from a second source, percent. */
const MAX_DEVIATION_PCT = 1;

interface Judged {
  readonly age: PriceAge;
  readonly isOld: boolean;
  /** How far fresh USD prices of the two tokens are from the oracle, percent; absent when one has none. */
  readonly deviationPct?: Decimal | undefined;
  readonly nowMs: number;
}

/**
 * Refuse to add risk on an oracle's price that is old, or whose age nobody knows and that fresh USD prices contradict. What
 * is neither, and could not be compared, is said.
 * @throws StaleDataError naming the oracle and its age
 */
export function requirePriceAge(deps: BuilderDeps, chain: Chain, market: Market, live: LiveMarket): readonly Issue[] {
  const judged = judge(deps, chain, market, live);
  const { age, isOld, deviationPct, nowMs } = judged;
  const reference = nameOf(market);
  if (age.state === 'known' && isOld) throw oldPrice(age, reference, nowMs);
  if (age.state !== 'unknown') return [];
  if (deviationPct?.gt(MAX_DEVIATION_PCT)) {
    const asOf = new Date(live.readAt.blockTimeMs).toISOString();
    const shown = toFixedHalfUp(deviationPct, 2);
    const details = { group: 'oracle', asOf, staleAfterSec: deps.budgets.oracle, staleForSec: 0, reference };
    throw new StaleDataError(
      { ...details, deviationPct: shown },
      `Nothing new is borrowed on a price of unknown age that others contradict: the ${reference} names no feeds that could be dated, and it is ${shown} % away from the USD prices of its tokens (at most ${MAX_DEVIATION_PCT} %). Try again when they agree; closing, repaying and adding collateral go on.`,
    );
  }
  if (deviationPct) return [];
  return [
    {
      kind: 'REFERENCE_UNDATED',
      token: market.collateral.address,
      message: `How old the price of the ${reference} is cannot be told, and no second source prices ${market.collateral.symbol}: compare it yourself.`,
    },
  ];
}

/** What has to be said of an oracle's price where risk is taken back: it goes on with the last one, whatever its age. */
export function priceAgeIssues(deps: BuilderDeps, chain: Chain, market: Market, live: LiveMarket): readonly Issue[] {
  const { age, isOld, deviationPct } = judge(deps, chain, market, live);
  const reference = nameOf(market);
  const token = market.collateral.address;
  if (age.state === 'known' && isOld) {
    const asOf = new Date(age.stamp.asOfMs).toISOString();
    const message = `The price of the ${reference} is old: the feed behind it was last updated at ${asOf}. The sale is judged by it all the same; send minAmountOut to set your own floor.`;
    return [{ kind: 'REFERENCE_OLD', token, message }];
  }
  if (age.state !== 'unknown' || !deviationPct?.gt(MAX_DEVIATION_PCT)) return [];
  const message = `How old the price of the ${reference} is cannot be told, and it is ${toFixedHalfUp(deviationPct, 2)} % away from the USD prices of its tokens. The sale is judged by it all the same; send minAmountOut to set your own floor.`;
  return [{ kind: 'REFERENCE_UNDATED', token, message }];
}

/**
 * Refuse to add risk with a token whose price follows from the oracle of another market (none of its own was measured) while
 * that is old. Nothing else prices it: an unknown age is said.
 * @throws StaleDataError naming the oracle and its age
 */
export function requirePaidPriceAge(deps: BuilderDeps, chain: Chain, token: PayToken): readonly Issue[] {
  const { age, isOld, reference, nowMs } = judgePaid(deps, chain, token);
  if (age?.state === 'known' && isOld) throw oldPrice(age, reference, nowMs);
  return age?.state === 'unknown' ? [undatedPrice(token, reference)] : [];
}

/** What has to be said of the price of a token that takes risk back, where it follows from the oracle of another market. */
export function paidPriceAgeIssues(deps: BuilderDeps, chain: Chain, token: PayToken): readonly Issue[] {
  const { age, isOld, reference } = judgePaid(deps, chain, token);
  if (age?.state === 'unknown') return [undatedPrice(token, reference)];
  if (age?.state !== 'known' || !isOld) return [];
  const asOf = new Date(age.stamp.asOfMs).toISOString();
  const message = `What ${token.symbol} is worth follows from the ${reference}, whose price is old: the feed behind it was last updated at ${asOf}. The swap is judged by it all the same; send minAmountOut to set your own floor.`;
  return [{ kind: 'REFERENCE_OLD', token: token.address, message }];
}

function judgePaid(deps: BuilderDeps, chain: Chain, { address }: PayToken) {
  const market = pricedBy(deps, chain)(address);
  const nowMs = deps.clock.now();
  if (!market) return { nowMs, reference: '', isOld: false };
  const age = ageOf(deps, chain, feedsOf(deps, market));
  return { age, isOld: isOldPrice(age, nowMs), reference: nameOf(market), nowMs };
}

function undatedPrice({ address, symbol }: PayToken, reference: string): Issue {
  return {
    kind: 'REFERENCE_UNDATED',
    token: address,
    message: `What ${symbol} is worth follows from the ${reference}, whose age cannot be told, and no second source prices it: compare the expected output yourself.`,
  };
}

function oldPrice(age: Extract<PriceAge, { state: 'known' }>, reference: string, nowMs: number): StaleDataError {
  const { asOf, staleAfterSec, staleForSec = 0 } = renderStamp(age.stamp, nowMs);
  return new StaleDataError(
    { group: 'oracle', asOf, staleAfterSec, staleForSec, reference, feed: age.feed },
    `Nothing new is borrowed on an old price: the feed ${age.feed} behind the ${reference} was last updated at ${asOf} and may be ${staleAfterSec} s old. Wait until it is updated again (feeds of stocks rest while their market is closed); closing, repaying and adding collateral go on.`,
  );
}

function ageOf(deps: BuilderDeps, { heartbeatsSec }: Chain, feeds: LiveMarket['feeds']): PriceAge {
  return priceAge(feeds, { heartbeatsSec, budgetSec: deps.budgets.oracleFeed });
}

function judge(deps: BuilderDeps, chain: Chain, market: Market, { feeds, price, readAt }: LiveMarket): Judged {
  const nowMs = Math.max(deps.clock.now(), readAt.blockTimeMs);
  const age = ageOf(deps, chain, feeds);
  const usdOf = measuredUsdPrices(deps, chain);
  const [collateralUsd, loanUsd] = [usdOf(market.collateral.address), usdOf(market.loan.address)];
  const oracle = wholePrice(price, market);
  const deviationPct =
    collateralUsd && loanUsd && collateralUsd.div(loanUsd).minus(oracle).abs().times(HUNDRED).div(oracle);
  return { age, isOld: isOldPrice(age, nowMs), nowMs, deviationPct };
}

function nameOf({ oracle, collateral, loan }: Market): string {
  return `oracle ${oracle} (${collateral.symbol}/${loan.symbol})`;
}
