import type { Chain, Token } from '../../../catalog/types.ts';
import { strategiesById } from '../../../domain/market/lookup.ts';
import type { ComposedChain } from '../../../domain/market/types.ts';
import type { Strategy } from '../../../domain/strategy/types.ts';
import { momentOf } from '../../../resolvers/common/age.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { type MissingChain, readComposedOf, selectChains } from '../../../resolvers/market/chains.ts';
import { readPrice } from '../../../resolvers/market/tokens.ts';
import { Decimal, formatPct, toFixedHalfUp } from '../../../shared/decimal.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type MarketId } from '../../../shared/ids.ts';
import { REFERRAL_FEE_BPS } from '../../../transactions/deps.ts';
import { type BestRequest, type Exclusion, type RankedTerms, rankMarket } from '../domain/rank.ts';
import { type FormattedReach, formatReach } from '../domain/table.ts';

export interface BestArgs {
  readonly amount: Decimal;
  readonly payToken: Address;
  readonly maxDrawdownPct: Decimal;
  readonly minExitUsd: Decimal;
  readonly holdingDays?: number | null | undefined;
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly limit?: number | null | undefined;
}

/** A strategy that meets the request, with formatted values. */
export interface BestStrategy {
  readonly strategy: Strategy;
  readonly leverage: string;
  readonly largestLeverage: string;
  readonly isPositive: boolean;
  readonly ltvPct: string;
  readonly netApyPct: string;
  readonly positionApyPct: string;
  readonly entryCostPct: string;
  readonly exitCostPct: string;
  readonly yieldFeePct: string;
  readonly liquidationIn: FormattedReach | null;
  readonly ratesAsOfMs: number;
  readonly exitAsOfMs: number;
}

export interface FallenOut extends Exclusion {
  readonly strategy: Strategy;
}

export interface BestView {
  /** USD with 2 places. */
  readonly amountUsd: string;
  readonly holdingDays: number;
  readonly rankedCount: number;
  readonly fallenOutCount: number;
  /** The best first, as many as asked for: those without a positive result are the last. */
  readonly ranked: readonly BestStrategy[];
  readonly fallenOut: readonly FallenOut[];
  readonly missingChains: readonly MissingChain[];
}

export const DEFAULT_HOLDING_DAYS = 90;
export const MAX_HOLDING_DAYS = 3_650;
export const DEFAULT_BEST_LIMIT = 20;
export const MAX_BEST_LIMIT = 100;
/** Below this the rounding to base units of a dear collateral decides the rank. */
const MIN_AMOUNT_USD = new Decimal(1);
const MAX_AMOUNT_USD = new Decimal('1e12');

/**
 * Rank the strategies for an amount, each at the best leverage that survives a drawdown, by the net APY after costs. Reads facts
 * only; no venue is asked.
 * @throws BadRequestError, NotReadyError
 */
export function bestStrategies(args: BestArgs, ctx: AppContext): BestView {
  const chains = selectChains(ctx, args.chainIds);
  const holdingDays = args.holdingDays ?? DEFAULT_HOLDING_DAYS;
  checkArgs({ ...args, holdingDays });
  const amountUsd = amountIn(args, chains, ctx);
  const { composed, missingChains } = readComposedOf(ctx, chains);
  const found = composed.flatMap((chain) => rankChain(chain, { ...args, holdingDays, amountUsd }, ctx));
  const ranked = found.flatMap(({ strategy, terms }) => ('reason' in terms ? [] : [{ strategy, terms }]));
  const fallenOut = found.flatMap(({ strategy, terms }) => ('reason' in terms ? [{ strategy, ...terms }] : []));
  const limit = args.limit ?? DEFAULT_BEST_LIMIT;
  const best = ranked.toSorted((a, b) => b.terms.netApyPct.comparedTo(a.terms.netApyPct) ?? 0);
  return {
    amountUsd: toFixedHalfUp(amountUsd, 2),
    holdingDays,
    rankedCount: ranked.length,
    fallenOutCount: fallenOut.length,
    ranked: best.slice(0, limit).map(formatBest),
    fallenOut: fallenOut.slice(0, limit),
    missingChains,
  };
}

interface Found {
  readonly strategy: Strategy;
  readonly terms: RankedTerms | Exclusion;
}

function rankChain(
  chain: ComposedChain,
  args: BestArgs & Pick<BestRequest, 'amountUsd' | 'holdingDays'>,
  ctx: AppContext,
): Found[] {
  const isPayable = ctx.services.catalog.token(chain.chainId, args.payToken) !== undefined;
  return [...strategiesById(chain).values()].map((strategy) => {
    const composed = chain.lookup.markets.get(strategy.marketId as MarketId);
    const reason = !strategy.visibility.visible
      ? 'NOT_LISTED'
      : strategy.kind === 'equity'
        ? 'EQUITY_VAULT'
        : !isPayable || !composed
          ? 'PAY_TOKEN'
          : undefined;
    if (reason || !composed) return { strategy, terms: { reason: reason ?? 'PAY_TOKEN', value: null, limit: null } };
    const { correlated, collateral } = composed.market;
    return {
      strategy,
      terms: rankMarket(composed, {
        ...args,
        nowMs: momentOf(ctx),
        paysCollateral: collateral.address === args.payToken,
        referralBps: correlated ? REFERRAL_FEE_BPS.correlated : REFERRAL_FEE_BPS.uncorrelated,
      }),
    };
  });
}

function formatBest({ strategy, terms }: { readonly strategy: Strategy; readonly terms: RankedTerms }): BestStrategy {
  return {
    strategy,
    leverage: terms.leverage.toFixed(1),
    largestLeverage: terms.largestLeverage.toFixed(1),
    isPositive: terms.netApyPct.gt(0),
    ltvPct: formatPct(terms.ltvPct),
    netApyPct: formatPct(terms.netApyPct),
    positionApyPct: formatPct(terms.positionApyPct),
    entryCostPct: formatPct(terms.entryCostPct, 4),
    exitCostPct: formatPct(terms.exitCostPct, 4),
    yieldFeePct: formatPct(terms.yieldFeePct, 4),
    liquidationIn: formatReach(terms.toLiquidation),
    ratesAsOfMs: terms.ratesAsOfMs,
    exitAsOfMs: terms.exitAsOfMs,
  };
}

/** The value of the payment in USD. @throws BadRequestError where no chain knows the token, or nothing prices it */
function amountIn({ amount, payToken }: BestArgs, chains: readonly Chain[], ctx: AppContext): Decimal {
  const tokens = chains.flatMap(({ chainId }): readonly Token[] => {
    const token = ctx.services.catalog.token(chainId, payToken);
    return token ? [token] : [];
  });
  if (tokens.length === 0) {
    const message = `payToken ${payToken} is not curated on a requested chain. Send the address of one of the tokens query.`;
    throw new BadRequestError(message, { field: 'payToken', value: formatValue(payToken) });
  }
  const price = tokens.map((token) => readPrice(token, ctx)).find((found) => !found.gap);
  if (!price || price.gap) {
    const message = `payToken ${payToken} has no known price in USD now. Pay with another token, or ask again later.`;
    throw new BadRequestError(message, { field: 'payToken', value: formatValue(payToken) });
  }
  const usd = amount.times(price.price.value.usd);
  if (usd.gte(MIN_AMOUNT_USD) && usd.lte(MAX_AMOUNT_USD)) return usd;
  const range = `${MIN_AMOUNT_USD.toFixed()} to ${MAX_AMOUNT_USD.toFixed()} USD`;
  const message = `amount is worth ${range}, in whole tokens of payToken. Send an amount of that range.`;
  throw new BadRequestError(message, { field: 'amount', value: formatValue(amount.toFixed()) });
}

function checkArgs({ maxDrawdownPct, minExitUsd, holdingDays, limit }: BestArgs): void {
  const within = (field: string, value: Decimal, min: number, max: number | string) => {
    if (value.gte(min) && value.lte(max)) return;
    throw new BadRequestError(`${field} is from ${min} to ${max}. Send a value of that range.`, {
      field,
      value: formatValue(value.toFixed()),
      limit: { min: String(min), max: String(max) },
    });
  };
  within('maxDrawdownPct', maxDrawdownPct, 0, 99);
  within('minExitUsd', minExitUsd, 0, MAX_AMOUNT_USD.toFixed());
  within('holdingDays', new Decimal(holdingDays ?? DEFAULT_HOLDING_DAYS), 1, MAX_HOLDING_DAYS);
  within('limit', new Decimal(limit ?? DEFAULT_BEST_LIMIT), 1, MAX_BEST_LIMIT);
}
