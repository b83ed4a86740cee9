import type { Market } from '../../catalog/types.ts';
import { type Decimal, fromUnits, HUNDRED, ZERO } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { PositionMarketValues } from '../market/at-block.ts';
import { closingOf } from '../position/closing.ts';
import { statusOf } from '../position/compose.ts';
import type { HeldPosition, HeldStock } from '../position/types.ts';
import { valueHolding } from '../position/valuation.ts';
import { accrueRewards, type MarketRewards } from './incentives.ts';
import type { Pnl, RegisteredPosition } from './types.ts';

/** Decimal places of quotients (accruals, returns); sums and products are exact. */
const PLACES = 18;

const PARTS = ['depositedUsd', 'returnedUsd', 'netValueUsd', 'incentivesUsd', 'yieldFeeUsd'] as const;
export type PnlPart = (typeof PARTS)[number];
/** Computed parts of a P&L: each a value, or the reason why it is unknown. */
export type PnlParts = Readonly<Record<PnlPart, Decimal | Gap>> & {
  /** Debt beyond the collateral; absent = none, if the net value is known. */
  readonly badDebtUsd?: Decimal | undefined;
  /** The part of the net value that is valued by a divergent oracle; absent = none. */
  readonly divergentUsd?: Decimal | undefined;
  /** Why the parts do not add up to a result; absent if they do. */
  readonly unresolved?: Gap | undefined;
};

export interface LoopPnlInput {
  readonly held: HeldPosition;
  readonly row: RegisteredPosition | null;
  readonly market: Market | undefined;
  readonly composed: PositionMarketValues | undefined;
  /** Incentives of the market, or why they are not known. */
  readonly rewards: MarketRewards | Gap;
  /** Time of the reading, unix seconds. */
  readonly timestamp: bigint;
  /** Whether the history has a sale of a part. The chain shows one of an open position only. */
  readonly soldInPart?: boolean | undefined;
}

type Result = 'base' | 'total' | 'baseAfterFee' | 'totalAfterFee';
const RESULT_FIELDS: readonly (readonly [Result, readonly string[]])[] = [
  ['base', ['baseResultUsd']],
  ['total', ['totalUsd', 'returnOnEquityPct']],
  ['baseAfterFee', ['baseResultAfterFeeUsd']],
  ['totalAfterFee', ['totalAfterFeeUsd']],
];

/** Parts of the net value are unknown with it. */
const SHARING: Readonly<Partial<Record<PnlPart, readonly string[]>>> = {
  netValueUsd: ['netValueUsd', 'badDebtUsd', 'divergentUsd'],
};

/** Add up the parts. A sum with an unknown part is unknown; each reason is listed once. */
export function toPnl(parts: PnlParts): Pnl {
  const gaps: Gap[] = [];
  const known = (name: PnlPart): Decimal | undefined => {
    const part = parts[name];
    if ('field' in part) for (const field of SHARING[name] ?? [name]) gaps.push({ ...part, field });
    return 'field' in part ? undefined : part;
  };
  const [deposited, returned, net, incentives, fee] = PARTS.map(known);
  const { unresolved } = parts;
  const base = deposited && returned && net && !unresolved ? net.plus(returned).minus(deposited) : undefined;
  const total = base && incentives ? base.plus(incentives) : undefined;
  const results = { base, total, baseAfterFee: fee && base?.minus(fee), totalAfterFee: fee && total?.minus(fee) };
  const missing = unresolved ?? gap('', 'NOT_MEASURED', UNKNOWN_PART);
  for (const [name, fields] of RESULT_FIELDS) {
    if (!results[name]) for (const field of fields) gaps.push({ ...missing, field });
  }
  if (total && deposited?.isZero()) {
    gaps.push(gap('returnOnEquityPct', 'NOT_APPLICABLE', 'Nothing was deposited.'));
  }
  return {
    depositedUsd: deposited?.toFixed(),
    returnedUsd: returned?.toFixed(),
    netValueUsd: net?.toFixed(),
    badDebtUsd: net && (parts.badDebtUsd ?? ZERO).toFixed(),
    divergentUsd: net && (parts.divergentUsd ?? ZERO).toFixed(),
    baseResultUsd: base?.toFixed(),
    incentivesUsd: incentives?.toFixed(),
    totalUsd: total && deposited ? total.toFixed() : undefined,
    returnOnEquityPct: total && deposited ? returnOn(total, deposited) : undefined,
    yieldFeeUsd: fee?.toFixed(),
    baseResultAfterFeeUsd: results.baseAfterFee?.toFixed(),
    totalAfterFeeUsd: results.totalAfterFee?.toFixed(),
    gaps,
  };
}

/**
 * Compute the parts of a plain position: basis and value from the chain, at the loan token's price, and incentives over its
 * registered life.
 */
export function loopParts(input: LoopPnlInput): PnlParts {
  const { held, market, composed } = input;
  if (!market)
    return allUnknown(gap('', 'NOT_MEASURED', 'Its market is not in the catalog, so its tokens are unknown.'));
  if (!composed) return allUnknown(gap('', 'NOT_MEASURED', 'Its market has not been measured yet.'));
  const price = composed.loanPrice?.value.usd;
  if (!price) {
    const known = composed.gaps.find(({ field }) => field === 'loanPrice');
    return allUnknown(known ?? gap('', 'NOT_MEASURED', 'The price of the loan token is unknown.'));
  }
  const usd = (assets: bigint) => fromUnits(assets, market.loan.decimals).times(price);
  const value = statusOf(held, composed) === 'open' ? valueHolding(held, composed, input.timestamp) : null;
  const rewards = loopIncentives(input, value);
  // Loans are non-recourse: an owner whose debt exceeds the collateral loses the deposit and nothing more.
  const netValueUsd = value ? usd(positive(value.collateralValue - value.debt)) : ZERO;
  // In manual mode the wallet closes the position itself, without a fee.
  const yieldFee = held.manualMode ? 0n : composed.fees.yieldFee;
  return {
    depositedUsd: usd(held.depositedAssets),
    returnedUsd: usd(held.returnedAssets),
    netValueUsd,
    badDebtUsd: value ? usd(positive(value.debt - value.collateralValue)) : ZERO,
    divergentUsd: composed.oracleDivergence ? netValueUsd : ZERO,
    yieldFeeUsd: value ? usd(closingOf(value, held.depositedAssets, yieldFee).yieldFee) : ZERO,
    // The chain does not record how much of the basis a partial sale took, so its proceeds have no matching cost.
    unresolved: input.soldInPart || (held.open && held.returnedAssets > 0n) ? SOLD_IN_PART : undefined,
    incentivesUsd:
      'field' in rewards ? rewards : rewards.shiftedBy(-market.loan.decimals).times(price).decimalPlaces(PLACES),
  };
}

/** Accrue the incentives of a stock leg in USD, on its current amounts, like those of a loop. */
export function stockIncentives(
  held: HeldStock,
  composed: PositionMarketValues | undefined,
  rewards: MarketRewards | Gap,
  life: { readonly fromMs: number; readonly toMs: number },
): Decimal | Gap {
  if ('field' in rewards) return rewards;
  if (!rewards.pays) return ZERO;
  const value = composed && valueHolding(held, composed, BigInt(Math.floor(life.toMs / 1_000)));
  if (!value?.usd) return gap('', 'NOT_MEASURED', 'The stock leg cannot be valued.');
  const earned = accrueRewards(rewards, value.usd, life);
  return 'field' in earned ? earned : earned.decimalPlaces(PLACES);
}

/** Add two parts; if both are unknown, the first reason is kept. */
export function addParts(a: Decimal | Gap, b: Decimal | Gap): Decimal | Gap {
  if ('field' in a) return a;
  return 'field' in b ? b : a.plus(b);
}

/** A result of which nothing is known, for the same reason. */
export function unknownPnl(why: Gap): Pnl {
  return toPnl(allUnknown(why));
}

export function sumPnl(all: readonly Pnl[]): Pnl {
  const sum = (name: PnlPart): Decimal | Gap =>
    all.reduce<Decimal | Gap>((total, pnl) => {
      const part = pnl[name];
      if ('field' in total) return total;
      return part === undefined ? gap('', 'NOT_MEASURED', 'It is unknown for some positions.') : total.plus(part);
    }, ZERO);
  return toPnl({
    depositedUsd: sum('depositedUsd'),
    returnedUsd: sum('returnedUsd'),
    netValueUsd: sum('netValueUsd'),
    incentivesUsd: sum('incentivesUsd'),
    yieldFeeUsd: sum('yieldFeeUsd'),
    unresolved: all.some(isUnresolved) ? SOLD_IN_PART : undefined,
    badDebtUsd: all.reduce((total, { badDebtUsd }) => total.plus(badDebtUsd ?? 0), ZERO),
    divergentUsd: all.reduce((total, { divergentUsd }) => total.plus(divergentUsd ?? 0), ZERO),
  });
}

/** Whether the parts are known but do not add up. */
function isUnresolved({ depositedUsd, returnedUsd, netValueUsd, baseResultUsd }: Pnl): boolean {
  return baseResultUsd === undefined && [depositedUsd, returnedUsd, netValueUsd].every((part) => part !== undefined);
}

function positive(assets: bigint): bigint {
  return assets > 0n ? assets : 0n;
}

/**
 * Accrue over the registered life, in loan base units: for an open position on its current debt and collateral, for an ended
 * one on the amounts from its deposit and its registered LTV.
 */
function loopIncentives(
  { held, row, rewards, timestamp }: LoopPnlInput,
  value: { readonly collateralValue: bigint; readonly debt: bigint } | null,
): Decimal | Gap {
  if ('field' in rewards) return rewards;
  if (!rewards.pays) return ZERO;
  if (!row) return gap('', 'NOT_MEASURED', 'It is not registered, so the start of its earnings is unknown.');
  const fromMs = row.openedAtMs;
  if (fromMs === null) return OPENED_AHEAD;
  const toMs = value ? Number(timestamp) * 1_000 : row.closedAtMs;
  if (toMs === null) return gap('', 'NOT_MEASURED', 'The register does not have the time of its end.');
  const basis = value
    ? { debt: fromUnits(value.debt, 0), collateral: fromUnits(value.collateralValue, 0) }
    : openedWith(fromUnits(held.depositedAssets, 0), row.desiredLtvPct);
  if (!basis) return gap('', 'NOT_MEASURED', 'The register does not have the LTV at its opening.');
  return accrueRewards(rewards, basis, { fromMs, toMs });
}

function openedWith(deposit: Decimal, ltvPct: Decimal | null): { debt: Decimal; collateral: Decimal } | null {
  if (!ltvPct || ltvPct.lt(0) || ltvPct.gte(HUNDRED)) return null;
  const debt = deposit.times(ltvPct).div(HUNDRED.minus(ltvPct));
  return { debt, collateral: deposit.plus(debt) };
}

function returnOn(total: Decimal, deposited: Decimal): string | null {
  return deposited.isZero() ? null : total.times(HUNDRED).div(deposited).decimalPlaces(PLACES).toFixed();
}

function allUnknown(why: Gap): PnlParts {
  return { depositedUsd: why, returnedUsd: why, netValueUsd: why, incentivesUsd: why, yieldFeeUsd: why };
}

/** Gap of incentives since a time in the future. */
export const OPENED_AHEAD = gap('', 'IMPLAUSIBLE', 'The register has a future opening time.');

const SOLD_IN_PART = gap(
  '',
  'NOT_MEASURED',
  'A part was sold before, and the chain does not keep the deposit basis of that part.',
);
const UNKNOWN_PART = 'One of its parts is unknown.';
