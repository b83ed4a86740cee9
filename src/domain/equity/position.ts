import type { EquityVault } from '../../catalog/types.ts';
import { Decimal, formatPct, formatUnitsPlain, HUNDRED, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import { exactApyPctAtLtv } from '../leverage/leveraged-apy.ts';
import type { PositionMarketValues } from '../market/at-block.ts';
import { priceAgeGap, priceAsOfMs } from '../market/price-age.ts';
import { limitsOf } from '../market/statics.ts';
import type { Warning } from '../plausibility/types.ts';
import { headroomPct } from '../position/compose.ts';
import {
  type HeldPosition,
  type HeldStock,
  type Position,
  type ReadAt,
  readAtOf,
  type WalletHoldings,
} from '../position/types.ts';
import { formatHealthFactor, formatPrice, type Valuation, valueHolding, wholePrice } from '../position/valuation.ts';
import { equityNetApyPct, stockLiquidationPrice } from './compose.ts';
import type { LoopMatch, YieldLoopMatch } from './loops.ts';

/** The stock leg with formatted values. `undefined` = not known, `null` = not applicable; reasons in the vault's `gaps`. */
export interface StockPosition {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
  /** The token of the debt, which is the deposit token of the vault. */
  readonly debtTokenAddress: Address;
  readonly debtTokenDecimals: number;
  /** Whole tokens. */
  readonly collateral: string;
  /** USD with 2 places. */
  readonly collateralUsd?: string | undefined;
  /** Oracle price × deposit token's price, as used for liquidation. */
  readonly priceUsd?: string | undefined;
  /** Whole deposit tokens, with interest. */
  readonly debtUsdg?: string | undefined;
  readonly ltvPct?: string | null | undefined;
  readonly liquidationLtvPct: string;
  readonly ltvHeadroomPct?: string | null | undefined;
  /** 4 places, rounded down; `null` = without debt there is none. */
  readonly healthFactor?: string | null | undefined;
  readonly liquidationPriceUsd?: string | null | undefined;
  readonly priceDropToLiquidationPct?: string | null | undefined;
  readonly borrowApyPct?: string | undefined;
}

/** One open equity vault of a wallet. */
export interface EquityPosition {
  readonly strategyId: StrategyId;
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly curator: string;
  readonly stock: StockPosition;
  /** The loops that are matched to the vault, newest first. */
  readonly yieldLoops: readonly Position[];
  readonly yieldLoopMatch: YieldLoopMatch;
  /** Present exactly when the match is ambiguous. */
  readonly ambiguousYieldLoopIds?: readonly number[] | undefined;
  /** Stock leg plus its loops, USD with 2 places; not known while the match is ambiguous. */
  readonly netValueUsd?: string | undefined;
  readonly currentNetApyPct?: string | null | undefined;
  readonly freshness?: { readonly borrow: Stamp; readonly oracle: Stamp } | undefined;
  /** Block at which holdings and debt were read. Prices are of the same block unless `freshness` says otherwise. */
  readonly readAt: ReadAt;
  /** Time of the oldest update among the feeds behind the stock's price, ms; `null` = it needs none; absent = not known. */
  readonly oraclePriceAsOfMs?: number | null | undefined;
  /** Warnings about the values that the stock leg is valued with. The loops have their own. */
  readonly warnings: readonly Warning[];
  readonly gaps: readonly Gap[];
}

export interface EquityInput {
  readonly vault: EquityVault;
  readonly held: HeldStock;
  readonly match: LoopMatch;
  readonly loops: readonly VaultLoop[];
  readonly stock: PositionMarketValues | undefined;
}

/** A matched loop as held and as displayed, with its market once that is measured. */
export interface VaultLoop {
  readonly held: HeldPosition;
  readonly position: Position;
  readonly composed: PositionMarketValues | undefined;
}

/** A loop of a vault, valued. */
export interface VaultLeg {
  readonly market: PositionMarketValues;
  readonly value: Valuation;
}

/** Compose an open vault of a wallet from its stock leg and its matched loops. */
export function composeEquityPosition(
  input: EquityInput,
  owner: Pick<WalletHoldings, 'chainId' | 'wallet' | 'block'>,
): EquityPosition {
  const { vault, held, match, loops, stock } = input;
  const gaps: Gap[] = [];
  const value = stock && valueHolding(held, stock, owner.block.timestamp);
  return {
    strategyId: vault.id,
    chainId: owner.chainId,
    wallet: owner.wallet,
    curator: vault.curator,
    stock: stockPosition(vault, held, stock, value, gaps),
    yieldLoops: loops.map(({ position }) => position),
    yieldLoopMatch: match.match,
    ambiguousYieldLoopIds: match.match === 'ambiguous' ? match.candidateIds : undefined,
    ...wholeFields(input, value, owner.block.timestamp, gaps),
    freshness: stock && { borrow: stock.stamps.borrow, oracle: stock.stamps.oracle },
    readAt: readAtOf(owner.block),
    oraclePriceAsOfMs: stock && priceAge(stock, gaps),
    warnings: stock?.warnings ?? [],
    gaps,
  };
}

function priceAge({ facts }: PositionMarketValues, gaps: Gap[]): number | null | undefined {
  const asOfMs = priceAsOfMs(facts.oracle.value.feeds);
  const missing = priceAgeGap(asOfMs);
  if (missing) gaps.push(missing);
  return asOfMs;
}

/**
 * Return the USD price of a vault's stock that its LTV is based on: oracle price × loan price; `undefined` while one is not
 * known.
 */
function stockPriceUsd(stock: PositionMarketValues): Decimal | undefined {
  return stock.loanPrice && wholePrice(stock.facts.oracle.value.price, stock.market).times(stock.loanPrice.value.usd);
}

function stockPosition(
  { stock: token, stockMarket, depositToken }: EquityVault,
  held: HeldStock,
  stock: PositionMarketValues | undefined,
  value: Valuation | undefined,
  gaps: Gap[],
): StockPosition {
  const liquidationLtvPct = formatPct(limitsOf(stockMarket).liquidationLtvPct);
  const frame = {
    symbol: token.displaySymbol,
    address: token.address,
    decimals: token.decimals,
    debtTokenAddress: depositToken.address,
    debtTokenDecimals: depositToken.decimals,
    collateral: formatUnitsPlain(held.collateral, token.decimals),
    liquidationLtvPct,
  };
  if (!stock || !value) {
    const message = 'The stock market has not been measured yet.';
    for (const field of STOCK_FIELDS) gaps.push(gap(`stock.${field}`, 'NOT_MEASURED', message));
    return frame;
  }
  const price = stockPriceUsd(stock);
  if (!price || !value.usd) {
    const known = stock.gaps.find(({ field }) => field === 'loanPrice');
    const missing = known ?? gap('loanPrice', 'NOT_MEASURED', 'The price of the deposit token is unknown.');
    for (const field of USD_FIELDS) gaps.push({ ...missing, field });
  }
  const ltvPct = value.ltvPct === null ? null : formatPct(value.ltvPct);
  if (ltvPct === null) {
    const message = 'The oracle values the stock at zero.';
    for (const field of ['stock.ltvPct', 'stock.ltvHeadroomPct']) gaps.push(gap(field, 'NOT_APPLICABLE', message));
  }
  const healthFactor = formatHealthFactor(value, stock.facts.oracle.value.price, stockMarket);
  if (healthFactor === null) gaps.push(gap('stock.healthFactor', 'NONE', 'Without debt there is no health factor.'));
  return {
    ...frame,
    collateralUsd: value.usd ? toFixedHalfUp(value.usd.collateral, 2) : undefined,
    priceUsd: price && formatPrice(price),
    debtUsdg: formatUnitsPlain(value.debt, depositToken.decimals),
    ltvPct,
    ltvHeadroomPct: ltvPct === null ? null : headroomPct(ltvPct, liquidationLtvPct),
    healthFactor,
    ...liquidationFields(value, price, stock, gaps),
    borrowApyPct: formatPct(stock.borrowApyPct),
  };
}

function liquidationFields(value: Valuation, price: Decimal | undefined, stock: PositionMarketValues, gaps: Gap[]) {
  const { ltvPct } = value;
  if (ltvPct === null || ltvPct.isZero()) {
    const [reason, message] =
      ltvPct === null
        ? (['NOT_APPLICABLE', 'The oracle values the stock at zero.'] as const)
        : (['NONE', 'Without debt there is no liquidation.'] as const);
    for (const field of ['liquidationPriceUsd', 'priceDropToLiquidationPct']) {
      gaps.push(gap(`stock.${field}`, reason, message));
    }
    return { liquidationPriceUsd: null, priceDropToLiquidationPct: null };
  }
  const { liquidationLtvPct } = stock;
  return {
    liquidationPriceUsd: price && formatPrice(stockLiquidationPrice(price, ltvPct, liquidationLtvPct)),
    priceDropToLiquidationPct: formatPct(HUNDRED.minus(ltvPct.times(HUNDRED).div(liquidationLtvPct))),
  };
}

/** Net value and net APY of both legs. Loops that are not matched to the vault are listed as separate positions. */
function wholeFields(input: EquityInput, value: Valuation | undefined, timestamp: bigint, gaps: Gap[]) {
  const fields = ['netValueUsd', 'netApyPct'];
  const unknown = (message: string) => {
    for (const field of fields) gaps.push(gap(field, 'NOT_MEASURED', message));
    return {};
  };
  const { match, loops, stock } = input;
  if (!stock || !value) return unknown('The stock market has not been measured yet.');
  if (match.match === 'ambiguous') return unknown('The loops of the vault are ambiguous.');
  const legs: VaultLeg[] = [];
  for (const { held, position, composed } of loops) {
    if (!position.open) continue;
    if (!composed) return unknown('The yield market has not been measured yet.');
    legs.push({ market: composed, value: valueHolding(held, composed, timestamp) });
  }
  // The debt of a loop is not owed beyond its collateral.
  const netLegsUsd = legs.reduce<Decimal | null>(
    (sum, { value: { usd } }) => (sum === null || usd === null ? null : sum.plus(Decimal.max(usd.net, ZERO))),
    ZERO,
  );
  return { ...netValueField(value, netLegsUsd, gaps), currentNetApyPct: netApyField(value, legs, stock, gaps) };
}

function netValueField({ usd }: Valuation, netLegsUsd: Decimal | null, gaps: Gap[]) {
  if (usd === null || netLegsUsd === null) {
    gaps.push(gap('netValueUsd', 'NOT_MEASURED', 'The price of a loan token is unknown.'));
    return {};
  }
  return { netValueUsd: toFixedHalfUp(usd.net.plus(netLegsUsd), 2) };
}

function netApyField(
  value: Valuation,
  legs: readonly VaultLeg[],
  stock: PositionMarketValues,
  gaps: Gap[],
): string | null {
  const netApyPct = vaultApyPct(value, legs, stock);
  if (netApyPct === null) gaps.push(gap('netApyPct', 'NOT_APPLICABLE', 'The oracle values the stock at zero.'));
  return netApyPct && formatPct(netApyPct);
}

/**
 * `ltv * (yieldLegApy − stockNetBorrowApy)` at current values, percent at full precision. The yield leg's APY is the mean of its
 * loops, weighted by equity. `null` = the oracle values the stock at zero.
 */
export function vaultApyPct(
  { ltvPct }: Pick<Valuation, 'ltvPct'>,
  legs: readonly VaultLeg[],
  stock: Pick<PositionMarketValues, 'netBorrowApyPct'>,
): Decimal | null {
  if (ltvPct === null) return null;
  let [earned, equity] = [ZERO, ZERO];
  for (const { market, value: leg } of legs) {
    if (leg.ltvPct === null || leg.ltvPct.gte(HUNDRED)) continue;
    const net = new Decimal((leg.collateralValue - leg.debt).toString());
    const { effectiveCollateralApyPct, netBorrowApyPct } = market;
    earned = earned.plus(exactApyPctAtLtv(effectiveCollateralApyPct, netBorrowApyPct, leg.ltvPct).times(net));
    equity = equity.plus(net);
  }
  return equityNetApyPct(ltvPct, equity.isZero() ? ZERO : earned.div(equity), stock.netBorrowApyPct);
}

const USD_FIELDS = ['stock.collateralUsd', 'stock.priceUsd', 'stock.liquidationPriceUsd'];
const STOCK_FIELDS = [
  'collateralUsd',
  'priceUsd',
  'debtAmount',
  'ltvPct',
  'ltvHeadroomPct',
  'healthFactor',
  'liquidationPriceUsd',
  'priceDropToLiquidationPct',
  'borrowApyPct',
];
