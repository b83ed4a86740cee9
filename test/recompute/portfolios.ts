import type { Address } from 'viem';
import type { Json } from '../support/service.ts';
import { APY_BUDGETS, BUDGETS } from './answers.ts';
import { type Near, near, nearly } from './compare.ts';
import { carry, type ExpectedExit, type ExpectedMarket, exactLeverageAt, formatPrice, paidOver } from './expected.ts';
import { collateralValue, debtOf, Exact, shown, whole } from './protocol.ts';
import type { HeldOnChain, RegisteredRow } from './sources.ts';

/*
 * The numbers of positions, vaults and portfolios, as they have to be.
 */

/** The protocol's SDK rounds collateral × LLTV to base units before it divides. */
const LIQUIDATION_PRECISION = '1e-7';
const YEAR_DAYS = 365;

/** The position of a wallet on one market, valued as by the protocol. */
export function valued(held: Pick<HeldOnChain, 'collateral' | 'borrowShares'>, market: ExpectedMarket) {
  const debt = debtOf(held.borrowShares, market.state);
  const value = collateralValue(held.collateral, market.price);
  const usd = (units: bigint) => whole(units, market.market.loan.decimals).times(market.loanUsd);
  return {
    debt,
    value,
    ltv: value === 0n ? undefined : new Exact(debt.toString()).times(100).div(value.toString()),
    collateralUsd: usd(value),
    debtUsd: usd(debt),
    netUsd: usd(value - debt),
  };
}

/** One loop, open or ended. */
export function positionNumbers(held: HeldOnChain, market: ExpectedMarket, exit: ExpectedExit): Json {
  const { collateral: token, loan } = market.market;
  const isOpen = held.open && held.collateral > 0n;
  const status = isOpen ? 'open' : held.open ? 'liquidated' : 'closed';
  const frame = {
    id: held.id,
    positionId: `${market.market.chainId}-${market.market.id}-${held.id}`,
    chainId: market.market.chainId,
    status,
    amountLeveragedCollateral: whole(held.collateral, token.decimals).toFixed(),
    collateralDecimals: token.decimals,
    loanDecimals: loan.decimals,
    liquidationLtvPct: shown(market.liquidation),
    amountDepositedInLoanToken: whole(held.deposited, loan.decimals).toFixed(),
    readAt: { blockNumber: market.blockNumber.toString() },
  };
  if (!isOpen) return { ...frame, netCollateral: '0', amountLoan: '0', netValueUsd: '0.00', closeNow: null };
  const { debt, value, ltv = new Exact(0), collateralUsd, netUsd } = valued(held, market);
  const leverage = exactLeverageAt(ltv);
  const net = whole(held.collateral, token.decimals)
    .times((value - debt).toString())
    .div(value.toString());
  const lltv = new Exact(market.market.lltv.toString()).shiftedBy(-18);
  const liquidationPrice = whole(debt, loan.decimals).div(whole(held.collateral, token.decimals)).div(lltv);
  return {
    ...frame,
    netCollateral: net.decimalPlaces(token.decimals, Exact.ROUND_FLOOR).toFixed(),
    amountLoan: whole(debt, loan.decimals).toFixed(),
    ltvPct: shown(ltv),
    ltvHeadroomPct: new Exact(shown(market.liquidation)).minus(shown(ltv)).toFixed(2),
    priceDropToLiquidationPct: shown(new Exact(100).minus(ltv.times(100).div(market.liquidation))),
    healthFactor: healthOf(value, debt, lltv),
    currentLeverage: shown(leverage, 1),
    currentLeverageApyPct: shown(carry(market.earned, market.netBorrowApy, leverage)),
    netValueUsd: shown(netUsd),
    closeNow: closingNumbers(held, market),
    liquidationPrice: debt === 0n ? null : nearly(liquidationPrice, LIQUIDATION_PRECISION),
    exitLiquidity: {
      tier: exit.tier,
      cleanExitSizeUsd: exit.clean,
      unwindSizeUsd: shown(collateralUsd),
      noSwapRoute: !exit.hasRoute,
    },
  };
}

/** Collateral value times LLTV by the debt, 4 places, rounded down. */
function healthOf(value: bigint, debt: bigint, lltv: Exact): string | null {
  if (debt === 0n) return null;
  return new Exact(value.toString()).times(lltv).div(debt.toString()).decimalPlaces(4, Exact.ROUND_DOWN).toFixed();
}

/** The yield fee of a close at the oracle price, loan base units: of the value above its basis, rounded down. */
function yieldFeeOf(held: HeldOnChain, market: ExpectedMarket): Exact {
  const { value, debt } = valued(held, market);
  const gain = Exact.max(new Exact((value - debt).toString()).minus(held.deposited.toString()), 0);
  return gain.times(market.fees.yieldPct).div(100).integerValue(Exact.ROUND_FLOOR);
}

function closingNumbers(held: HeldOnChain, market: ExpectedMarket): Json {
  const { value, debt } = valued(held, market);
  const left = Exact.max((value - debt).toString(), 0);
  const fee = yieldFeeOf(held, market);
  const gain = left.minus(held.deposited.toString());
  const amounts = { yieldFee: fee, paysOut: left.minus(fee), pnlBeforeFee: gain, pnlAfterFee: gain.minus(fee) };
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([name, units]) => {
      const tokens = units.shiftedBy(-market.market.loan.decimals);
      return [
        [name, tokens.toFixed()],
        [`${name}Usd`, shown(tokens.times(market.loanUsd))],
      ];
    }),
  );
}

/** Of the market's values; in a wallet's positions only, not in portfolios. */
export function withFreshness(position: Json, market: ExpectedMarket): Json {
  if (position.status !== 'open') return position;
  return {
    ...position,
    freshness: {
      borrow: { staleAfterSec: BUDGETS.lending },
      oracle: { staleAfterSec: BUDGETS.oracle },
      collateralApy: { staleAfterSec: APY_BUDGETS[market.yieldSource] },
    },
  };
}

/** Profit or loss, USD; `undefined` = unknown. */
export interface Parts {
  readonly deposited?: Exact | undefined;
  readonly returned?: Exact | undefined;
  readonly net?: Exact | undefined;
  readonly badDebt: Exact;
  readonly incentives?: Exact | undefined;
  /** Of closing all that is open. */
  readonly fee?: Exact | undefined;
}

const ZERO = new Exact(0);
const plus = (a: Exact | undefined, b: Exact | undefined) => a && b && a.plus(b);
const exact = (value: Exact | undefined) => value?.toFixed();
/** Quotients are shown with 18 places. */
const quotient = (value: Exact | undefined): Near | undefined => value && near(value, '1e-12');

export function pnlNumbers({ deposited, returned, net, badDebt, incentives, fee }: Parts): Json {
  const base = deposited && returned && net?.plus(returned).minus(deposited);
  const total = plus(base, incentives);
  return {
    depositedUsd: exact(deposited),
    returnedUsd: exact(returned),
    netValueUsd: exact(net),
    badDebtUsd: net && badDebt.toFixed(),
    divergentUsd: net && '0',
    baseResultUsd: exact(base),
    incentivesUsd: quotient(incentives),
    totalUsd: quotient(total),
    yieldFeeUsd: exact(fee),
    baseResultAfterFeeUsd: exact(fee && base?.minus(fee)),
    totalAfterFeeUsd: quotient(fee && total?.minus(fee)),
    returnOnEquityPct: total && deposited && (deposited.isZero() ? null : quotient(total.times(100).div(deposited))),
  };
}

export function sumParts(all: readonly Parts[]): Parts {
  const sum = (of: (parts: Parts) => Exact | undefined) =>
    all.reduce<Exact | undefined>((total, parts) => plus(total, of(parts)), ZERO);
  return {
    deposited: sum(({ deposited }) => deposited),
    returned: sum(({ returned }) => returned),
    net: sum(({ net }) => net),
    badDebt: sum(({ badDebt }) => badDebt) ?? ZERO,
    incentives: sum(({ incentives }) => incentives),
    fee: sum(({ fee }) => fee),
  };
}

/** A loop by its deposits and withdrawals on the chain, at the loan token's current price. */
export function loopParts(
  held: HeldOnChain,
  market: ExpectedMarket,
  row: RegisteredRow | undefined,
  nowMs: number,
): Parts {
  const usd = (units: bigint) => whole(units, market.market.loan.decimals).times(market.loanUsd);
  const isOpen = held.open && held.collateral > 0n;
  const { netUsd, value, debt } = valued(held, market);
  return {
    deposited: usd(held.deposited),
    returned: usd(held.returned),
    net: isOpen ? Exact.max(netUsd, 0) : ZERO,
    badDebt: isOpen ? Exact.max(netUsd.negated(), 0) : ZERO,
    incentives: earned(),
    fee: isOpen ? yieldFeeOf(held, market).shiftedBy(-market.market.loan.decimals).times(market.loanUsd) : ZERO,
  };

  function earned(): Exact | undefined {
    const pays = [...market.borrowRecords, ...market.collateralRecords].some(({ steps }) => steps.length > 0);
    if (!pays) return ZERO;
    const toMs = isOpen ? nowMs : row?.closedAtMs;
    if (!row || !toMs) return undefined;
    const deposit = new Exact(held.deposited.toString());
    const ltvPct = row.desiredLtvPct ?? new Exact(0);
    const owed = deposit.times(ltvPct).div(new Exact(100).minus(ltvPct));
    const basis = isOpen
      ? { debt: new Exact(debt.toString()), collateral: new Exact(value.toString()) }
      : { debt: owed, collateral: deposit.plus(owed) };
    const days = (toMs - row.createdAtMs) / 86_400_000;
    const share = (records: ExpectedMarket['borrowRecords']) =>
      paidOver(records, toMs, days)
        .times(days)
        .div(100 * YEAR_DAYS);
    const inLoan = basis.debt
      .times(share(market.borrowRecords))
      .plus(basis.collateral.times(share(market.collateralRecords)));
    return inLoan.shiftedBy(-market.market.loan.decimals).times(market.loanUsd);
  }
}

/** A vault by the deposits of its rows: the chain has no basis of a stock leg. */
export function vaultParts(
  loops: readonly { readonly parts: Parts; readonly row: RegisteredRow | undefined }[],
  stockNetUsd: Exact,
  isAmbiguous: boolean,
): Parts {
  const rows = loops.map(({ row }) => row);
  const flows = (of: (row: RegisteredRow) => Exact): Exact | undefined =>
    rows.length === 0 || isAmbiguous
      ? undefined
      : rows.reduce<Exact | undefined>((sum, row) => plus(sum, row && of(row)), ZERO);
  const { net, badDebt, incentives, fee } = sumParts(loops.map(({ parts }) => parts));
  return {
    deposited: flows((row) => row.deposited.plus(row.added)),
    returned: flows((row) => row.returned.plus(row.removed)),
    net: isAmbiguous ? undefined : plus(net, Exact.max(stockNetUsd, 0)),
    badDebt: badDebt.plus(Exact.max(stockNetUsd.negated(), 0)),
    incentives,
    fee: isAmbiguous ? undefined : fee,
  };
}

const registered = (row: RegisteredRow): Json => ({
  depositedUsd: row.deposited.toFixed(),
  addedUsd: row.added.toFixed(),
  removedUsd: row.removed.toFixed(),
  returnedUsd: row.returned.toFixed(),
  desiredLtvPct: row.desiredLtvPct?.toFixed(),
  entryPrice: row.entryPrice?.toFixed(),
});

/** A row with nothing behind it. */
export const unresolvedNumbers = (row: RegisteredRow): Json => ({
  positionIndex: row.positionIndex,
  registered: registered(row),
});

/** A loop of a portfolio: the position with its row, its P&L, and their disagreements. */
export function portfolioLoop(
  held: HeldOnChain,
  market: ExpectedMarket,
  exit: ExpectedExit,
  row: RegisteredRow | undefined,
  parts: Parts,
): Json {
  const position = positionNumbers(held, market, exit);
  const isOpen = position.status === 'open';
  const { collateralUsd, debtUsd, netUsd } = valued(held, market);
  const whole2 = (value: Exact) => (isOpen ? shown(value) : '0.00');
  const hasDrift = !row || row.isOpen !== isOpen;
  return {
    ...position,
    amountReturnedInLoanToken: whole(held.returned, market.market.loan.decimals).toFixed(),
    collateralUsd: whole2(collateralUsd),
    debtUsd: whole2(debtUsd),
    netValueUsd: whole2(netUsd),
    pnl: pnlNumbers(parts),
    registered: row ? registered(row) : null,
    drift: hasDrift
      ? {
          chain: {
            blockNumber: market.blockNumber.toString(),
            collateral: position.amountLeveragedCollateral,
            debt: position.amountLoan,
            netValueUsd: whole2(netUsd),
          },
          database: row
            ? {
                depositedUsd: row.deposited.plus(row.added).toFixed(),
                returnedUsd: row.returned.plus(row.removed).toFixed(),
              }
            : null,
        }
      : undefined,
  };
}

/** The stock leg of a vault, and both legs together. */
export function vaultPosition(
  stock: ExpectedMarket,
  holding: { readonly collateral: bigint; readonly borrowShares: bigint },
  loops: readonly { readonly held: HeldOnChain; readonly market: ExpectedMarket }[],
  isAmbiguous: boolean,
): Json {
  const { market, liquidation, loanUsd, price } = stock;
  const { debt, value, ltv = new Exact(0), collateralUsd, netUsd } = valued(holding, stock);
  const priceUsd = new Exact(price.toString())
    .shiftedBy(market.collateral.decimals - market.loan.decimals - 36)
    .times(loanUsd);
  const legs = loops
    .filter(({ held }) => held.open && held.collateral > 0n)
    .map((loop) => ({ ...loop, ...valued(loop.held, loop.market) }));
  const net = legs.reduce((sum, leg) => sum.plus(Exact.max(leg.netUsd, 0)), netUsd);
  const equity = legs.reduce((sum, leg) => sum.plus((leg.value - leg.debt).toString()), ZERO);
  const earned = legs.reduce((sum, leg) => {
    const apy = carry(leg.market.earned, leg.market.netBorrowApy, exactLeverageAt(leg.ltv ?? ZERO));
    return sum.plus(apy.times((leg.value - leg.debt).toString()));
  }, ZERO);
  const legApy = equity.isZero() ? equity : earned.div(equity);
  return {
    chainId: market.chainId,
    stock: {
      collateral: whole(holding.collateral, market.collateral.decimals).toFixed(),
      collateralUsd: shown(collateralUsd),
      priceUsd: formatPrice(priceUsd),
      debtUsdg: whole(debt, market.loan.decimals).toFixed(),
      ltvPct: shown(ltv),
      liquidationLtvPct: shown(liquidation),
      ltvHeadroomPct: new Exact(shown(liquidation)).minus(shown(ltv)).toFixed(2),
      healthFactor: healthOf(value, debt, new Exact(market.lltv.toString()).shiftedBy(-18)),
      decimals: market.collateral.decimals,
      debtTokenDecimals: market.loan.decimals,
      liquidationPriceUsd: formatPrice(priceUsd.times(ltv).div(liquidation)),
      priceDropToLiquidationPct: shown(new Exact(100).minus(ltv.times(100).div(liquidation))),
      borrowApyPct: shown(stock.borrowApy),
    },
    readAt: { blockNumber: stock.blockNumber.toString() },
    netValueUsd: isAmbiguous ? undefined : shown(net),
    currentNetApyPct: isAmbiguous ? undefined : shown(ltv.div(100).times(legApy.minus(stock.netBorrowApy))),
  };
}

/** Loops whose deposits may be the loan on the stock: between 0.85 and 1.02 of it. With several sets: all of them. */
export function candidateLoops(loops: readonly HeldOnChain[], debt: bigint): readonly number[] {
  const fitting: number[][] = [];
  for (let bits = 1; bits < 1 << loops.length; bits += 1) {
    const set = loops.filter((_, i) => bits & (1 << i));
    const basis = new Exact(set.reduce((sum, { deposited }) => sum + deposited, 0n).toString()).div(debt.toString());
    if (basis.gt('0.85') && basis.lte('1.02')) fitting.push(set.map(({ id }) => id));
  }
  return fitting.length > 1 ? [...new Set(fitting.flat())].sort((a, b) => a - b) : [];
}

export const sameWallet = (a: Address, b: Address) => a.toLowerCase() === b.toLowerCase();
