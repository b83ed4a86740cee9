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

/** A price that a build is checked against, with its age. */
interface JudgedPrice {
  readonly token: Pick<PayToken, 'address' | 'symbol'>;
  /** Subject of the sentences about it. */
  readonly name: string;
  /** The oracle that it comes from. */
  readonly reference: string;
  readonly age: PriceAge;
  readonly isOld: boolean;
  readonly nowMs: number;
}

/**
 * Refuse to add risk on an oracle's price that is old, or that is of unknown age and contradicted by fresh USD prices. One of
 * unknown age without a second source is an issue.
 * @throws StaleDataError naming the oracle and its age
 */
export function requirePriceAge(deps: BuilderDeps, chain: Chain, market: Market, live: LiveMarket): readonly Issue[] {
  const judged = judgeOracle(deps, chain, market, live);
  requireYoung(judged);
  if (judged.age.state !== 'unknown') return [];
  const deviationPct = deviationOf(deps, chain, market, live);
  if (!deviationPct) return [undatedIssue(judged)];
  if (deviationPct.lte(MAX_DEVIATION_PCT)) return [];
  const asOf = new Date(live.readAt.blockTimeMs).toISOString();
  const formatted = toFixedHalfUp(deviationPct, 2);
  const { reference } = judged;
  const details = { group: 'oracle', asOf, staleAfterSec: deps.budgets.oracle, staleForSec: 0, reference };
  throw new StaleDataError(
    { ...details, deviationPct: formatted },
    `Nothing new is borrowed on a price of unknown age that others contradict: the ${reference} names no feeds with dates, and it is ${formatted} % away from the USD prices of its tokens (at most ${MAX_DEVIATION_PCT} %). Try again when they agree; closing, repaying and adding collateral go on.`,
  );
}

/** List doubts about an oracle's price where risk is taken back: the build goes on with the last price of any age. */
export function priceAgeIssues(deps: BuilderDeps, chain: Chain, market: Market, live: LiveMarket): readonly Issue[] {
  const judged = judgeOracle(deps, chain, market, live);
  if (judged.age.state !== 'unknown') return oldIssues(judged);
  const deviationPct = deviationOf(deps, chain, market, live);
  if (!deviationPct?.gt(MAX_DEVIATION_PCT)) return [];
  const message = `${judged.name} has an unknown age, and it is ${toFixedHalfUp(deviationPct, 2)} % away from the USD prices of its tokens. ${STILL_CHECKED}`;
  return [{ kind: 'REFERENCE_UNDATED', token: judged.token.address, message }];
}

/**
 * Refuse to add risk with a token whose price follows from the oracle of another market (none of its own was measured) while
 * that is old. Nothing else prices it: an unknown age is an issue.
 * @throws StaleDataError naming the oracle and its age
 */
export function requirePaidPriceAge(deps: BuilderDeps, chain: Chain, token: PayToken): readonly Issue[] {
  const judged = judgePaid(deps, chain, token);
  if (!judged) return [];
  requireYoung(judged);
  return judged.age.state === 'unknown' ? [undatedIssue(judged)] : [];
}

/** List doubts about the price of a token that takes risk back, where it follows from the oracle of another market. */
export function paidPriceAgeIssues(deps: BuilderDeps, chain: Chain, token: PayToken): readonly Issue[] {
  const judged = judgePaid(deps, chain, token);
  if (!judged) return [];
  return judged.age.state === 'unknown' ? [undatedIssue(judged)] : oldIssues(judged);
}

function judgeOracle(deps: BuilderDeps, chain: Chain, market: Market, { feeds, readAt }: LiveMarket): JudgedPrice {
  const reference = nameOf(market);
  const nowMs = Math.max(deps.clock.now(), readAt.blockTimeMs);
  const age = ageOf(deps, chain, feeds);
  const name = `The price of the ${reference}`;
  return { token: market.collateral, name, reference, age, isOld: isOldPrice(age, nowMs), nowMs };
}

/** `undefined` = the token has a measured price of its own, or none. */
function judgePaid(deps: BuilderDeps, chain: Chain, token: PayToken): JudgedPrice | undefined {
  const market = pricedBy(deps, chain)(token.address);
  if (!market) return undefined;
  const reference = nameOf(market);
  const nowMs = deps.clock.now();
  const age = ageOf(deps, chain, feedsOf(deps, market));
  const name = `The price of ${token.symbol}, which follows from the ${reference},`;
  return { token, name, reference, age, isOld: isOldPrice(age, nowMs), nowMs };
}

/** How far fresh USD prices of both tokens are from the oracle, percent; `undefined` when one has none. */
function deviationOf(deps: BuilderDeps, chain: Chain, market: Market, { price }: LiveMarket): Decimal | undefined {
  const usdOf = measuredUsdPrices(deps, chain);
  const [collateralUsd, loanUsd] = [usdOf(market.collateral.address), usdOf(market.loan.address)];
  if (!collateralUsd || !loanUsd) return undefined;
  const oracle = wholePrice(price, market);
  return collateralUsd.div(loanUsd).minus(oracle).abs().times(HUNDRED).div(oracle);
}

function requireYoung({ age, isOld, reference, nowMs }: JudgedPrice): void {
  if (age.state !== 'known' || !isOld) return;
  const { asOf, staleAfterSec, staleForSec = 0 } = renderStamp(age.stamp, nowMs);
  throw new StaleDataError(
    { group: 'oracle', asOf, staleAfterSec, staleForSec, reference, feed: age.feed },
    `Nothing new is borrowed on an old price: the feed ${age.feed} behind the ${reference} was last updated at ${asOf} and may be ${staleAfterSec} s old. Wait until it is updated again (feeds of stocks pause while their market is closed); closing, repaying and adding collateral go on.`,
  );
}

const STILL_CHECKED = 'The swap is still checked against it; send minAmountOut to set your own floor.';

function oldIssues({ age, isOld, name, token }: JudgedPrice): readonly Issue[] {
  if (age.state !== 'known' || !isOld) return [];
  const asOf = new Date(age.stamp.asOfMs).toISOString();
  const message = `${name} is old: the feed behind it was last updated at ${asOf}. ${STILL_CHECKED}`;
  return [{ kind: 'REFERENCE_OLD', token: token.address, message }];
}

function undatedIssue({ name, token }: JudgedPrice): Issue {
  const message = `${name} has an unknown age, and no second source prices ${token.symbol}: compare the expected output yourself.`;
  return { kind: 'REFERENCE_UNDATED', token: token.address, message };
}

function ageOf(deps: BuilderDeps, { heartbeatsSec }: Chain, feeds: LiveMarket['feeds']): PriceAge {
  return priceAge(feeds, { heartbeatsSec, budgetSec: deps.budgets.oracleFeed });
}

function nameOf({ oracle, collateral, loan }: Market): string {
  return `oracle ${oracle} (${collateral.symbol}/${loan.symbol})`;
}
