import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { debtAt } from '../../../domain/history/compose.ts';
import type { Operation } from '../../../domain/history/operations.ts';
import type { Payer } from '../../../domain/history/payer.ts';
import type { MarketMark } from '../../../domain/history/types.ts';
import { Decimal, ZERO } from '../../../shared/decimal.ts';

/** Parts of the profit and loss of a position, loan base units. Costs are negative. */
export const SPLIT_PARTS = [
  'yield',
  'borrowCost',
  'price',
  'incentives',
  'fees',
  'slippage',
  'liquidation',
  'paidByOthers',
] as const;
export type SplitPart = (typeof SPLIT_PARTS)[number];

/** A profit and loss by its parts, each known or with the reason why it is not. Loan base units. */
export interface PnlSplit {
  readonly parts: Readonly<Record<SplitPart, bigint | Gap>>;
  /** `yield` and `price` together, which may be known when neither is. */
  readonly yieldAndPrice: bigint | Gap;
  /** Paid in and paid out by and to the owner, each at the oracle's price of its time. */
  readonly paid: bigint | Gap;
  /** The part of `paid` that went to the lending protocol directly, which the product's contract does not record. */
  readonly paidDirectly: bigint | Gap;
  readonly received: bigint | Gap;
  /** Collateral less debt now; 0 when the debt is more than the collateral is worth. */
  readonly netValue: bigint;
  /** Received and net value, less paid: the sum of all parts except `incentives`. */
  readonly result: bigint | Gap;
  /** The sum of all parts. */
  readonly total: bigint | Gap;
}

/** The position now. */
export interface HeldNow {
  readonly atMs: number;
  readonly collateral: bigint;
  /** With interest. */
  readonly debt: bigint;
  /** Of the oracle, times 1e36; `null` = the position holds nothing and needs none. */
  readonly price: bigint | null;
}

export interface SplitInput {
  readonly operations: readonly Operation[];
  /** At the blocks of operations and in between, oldest first. */
  readonly marks: readonly MarketMark[];
  readonly now: HeldNow;
  /** Why the operations are not the whole history; absent: they are. */
  readonly incomplete?: Gap | undefined;
  /** Where the change of the collateral's value comes from. */
  readonly source: YieldSource;
  /** Incentives over a time on amounts in loan base units, exact, or why they are not known. */
  readonly incentives: (
    held: { readonly debt: Decimal; readonly collateral: Decimal },
    span: TimeSpan,
  ) => Decimal | Gap;
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * `rate`: the oracle follows the redemption rate, so all of the change is yield. `none`: the collateral earns nothing. Otherwise
 * the yield over a time as a fraction of the value, or why it is not known.
 */
export type YieldSource = 'rate' | 'none' | ((span: TimeSpan) => Decimal | Gap);

/** Products of amounts and prices are exact in this unit. */
const SCALE = 10n ** 36n;

/**
 * Split the profit and loss of a position. Every product of an amount and a price is kept exactly; each part is rounded down to a
 * base unit of the loan token, and the remainder of rounding is in `price`, or in `yield` where all of the change is yield, so that
 * the parts add up to the total to the unit.
 */
export function splitPnl(input: SplitInput): PnlSplit {
  const { operations, now, incomplete } = input;
  const value = now.price === null ? 0n : now.collateral * now.price;
  const owned = value - now.debt * SCALE;
  const netValue = floor(positive(owned));
  const prices = pricesOf(input);
  const unknown = incomplete ?? ('reason' in prices ? prices : payerGap(operations));
  if (unknown || 'reason' in prices) return unknownSplit(unknown ?? UNPRICED, netValue);
  const at = ({ blockNumber }: Operation): bigint => prices.get(blockNumber) ?? 0n;
  const total = (of: (operation: Operation, price: bigint) => bigint): bigint =>
    operations.reduce((sum, operation) => sum + of(operation, at(operation)), 0n);
  const paidBy = (...payers: readonly Payer[]): bigint =>
    total(({ payer, paid: { collateral, loan } }, price) =>
      payers.includes(payer) ? collateral * price + loan * SCALE : 0n,
    );
  const paid = paidBy('owner', 'owner_directly');
  const paidByOthers = paidBy('other');
  const received = total(({ received: { collateral, loan } }, price) => collateral * price + loan * SCALE);
  const fees = -total(({ fee: { collateral, loan } }, price) => collateral * price + loan * SCALE);
  const slippage = total(({ swap }, price) => (swap ? swap.collateral * price + swap.loan * SCALE : 0n));
  const seized = total((operation, price) => (operation.kind === 'liquidated' ? lossOf(operation, price) : 0n));
  // The owner of a position under water does not have to pay the rest.
  const liquidation = seized + positive(-owned);
  const borrowCost = operations.reduce((sum, { debtChange, badDebt }) => sum + debtChange - badDebt, -now.debt);
  const change = collateralChangeOf(operations, now, at);
  // Sums of flows and sums of parts are made independently.
  if (received + owned - paid - paidByOthers !== change + fees + slippage + seized + borrowCost * SCALE) {
    return unknownSplit(UNEQUAL, netValue);
  }
  const result = floor(received) + netValue - floor(paid);
  const known = {
    borrowCost,
    fees: floor(fees),
    slippage: floor(slippage),
    liquidation: floor(liquidation),
    paidByOthers: floor(paidByOthers),
  };
  // Equal to `change` but for rounding.
  const collateralChange = Object.values(known).reduce((rest, part) => rest - part, result);
  const earned = yieldOf(input, collateralChange);
  const price = typeof earned === 'bigint' ? collateralChange - earned : { ...earned, field: 'price' };
  const incentives = incentivesOf(input);
  return {
    parts: { yield: earned, price, incentives, ...known },
    yieldAndPrice: collateralChange,
    paid: floor(paid),
    paidDirectly: floor(paidBy('owner_directly')),
    received: floor(received),
    netValue,
    result,
    total: typeof incentives === 'bigint' ? result + incentives : { ...incentives, field: 'total' },
  };
}

/** Why it is not known who paid. */
function payerGap(operations: readonly Operation[]): Gap | undefined {
  const found = operations.find(({ payer }) => payer === 'unknown');
  return (
    found &&
    gap(
      '',
      'NOT_MEASURED',
      `The payer of the transaction ${found.txHash} is not known: it paid through another contract.`,
    )
  );
}

/** The gain by moves of the price between operations, and until now. */
function collateralChangeOf(
  operations: readonly Operation[],
  now: HeldNow,
  at: (operation: Operation) => bigint,
): bigint {
  let [change, collateral] = [0n, 0n];
  for (const [i, operation] of operations.entries()) {
    collateral += operation.collateralChange;
    const following = operations[i + 1];
    const price = following ? at(following) : (now.price ?? at(operation));
    change += collateral * (price - at(operation));
  }
  return change;
}

/** Amounts over time between two changes of the position or of the price. */
export interface Segment extends TimeSpan {
  readonly collateral: bigint;
  readonly shares: bigint;
  readonly mark: MarketMark;
}

/** Divide the life of a position at its operations and at the marks in between. */
export function segmentsOf({ operations, marks, now }: Pick<SplitInput, 'operations' | 'marks' | 'now'>): Segment[] {
  const segments: Segment[] = [];
  let [next, collateral, shares] = [0, 0n, 0n];
  for (const [i, mark] of marks.entries()) {
    for (; next < operations.length; next += 1) {
      const operation = operations[next];
      if (!operation || operation.blockNumber > mark.blockNumber) break;
      collateral += operation.collateralChange;
      shares += operation.sharesChange;
    }
    const toMs = Math.min(marks[i + 1]?.atMs ?? now.atMs, now.atMs);
    if (next > 0 && toMs >= mark.atMs) segments.push({ fromMs: mark.atMs, toMs, collateral, shares, mark });
  }
  return segments;
}

function lossOf({ collateralChange, debtChange, badDebt }: Operation, price: bigint): bigint {
  return collateralChange * price + (badDebt - debtChange) * SCALE;
}

/** The price at each operation, by its block. */
function pricesOf({ operations, marks }: SplitInput): ReadonlyMap<bigint, bigint> | Gap {
  const prices = new Map(marks.map(({ blockNumber, price }) => [blockNumber, price] as const));
  const missing = operations.find(({ blockNumber }) => !prices.has(blockNumber));
  if (!missing) return prices;
  return {
    ...UNPRICED,
    message: `The price of the oracle at block ${missing.blockNumber} is not known: the node does not keep it.`,
  };
}

function yieldOf(input: SplitInput, collateralChange: bigint): bigint | Gap {
  const { source } = input;
  if (source === 'rate') return collateralChange;
  if (source === 'none') return 0n;
  let earned = ZERO;
  for (const segment of segmentsOf(input)) {
    if (segment.collateral === 0n || segment.toMs <= segment.fromMs) continue;
    const share = source(segment);
    if ('field' in share) return { ...share, field: 'yield' };
    earned = earned.plus(share.times(loanValueOf(segment)));
  }
  return toUnit(earned);
}

function incentivesOf(input: SplitInput): bigint | Gap {
  let earned = ZERO;
  for (const segment of segmentsOf(input)) {
    if (segment.toMs <= segment.fromMs || (segment.collateral === 0n && segment.shares === 0n)) continue;
    const held = { debt: new Decimal(debtAt(segment).toString()), collateral: loanValueOf(segment) };
    const accrued = input.incentives(held, segment);
    if ('field' in accrued) return { ...accrued, field: 'incentives' };
    earned = earned.plus(accrued);
  }
  return toUnit(earned);
}

function loanValueOf({ collateral, mark }: Segment): Decimal {
  return new Decimal((collateral * mark.price).toString()).shiftedBy(-36);
}

function toUnit(amount: Decimal): bigint {
  return BigInt(amount.integerValue(Decimal.ROUND_FLOOR).toFixed(0));
}

/** Round down, negative amounts too. */
function floor(scaled: bigint): bigint {
  const whole = scaled / SCALE;
  return scaled < 0n && scaled % SCALE !== 0n ? whole - 1n : whole;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

const UNEQUAL = gap(
  '',
  'IMPLAUSIBLE',
  'The events do not add up to the holdings of the position. An operator can have them read anew.',
);
const UNPRICED = gap('', 'NOT_MEASURED', 'The price of the oracle at an event is not known.');

function unknownSplit(why: Gap, netValue: bigint): PnlSplit {
  const of = (field: string): Gap => ({ ...why, field });
  return {
    parts: {
      yield: of('yield'),
      borrowCost: of('borrowCost'),
      price: of('price'),
      incentives: of('incentives'),
      fees: of('fees'),
      slippage: of('slippage'),
      liquidation: of('liquidation'),
      paidByOthers: of('paidByOthers'),
    },
    yieldAndPrice: of('yieldAndPrice'),
    paid: of('paid'),
    paidDirectly: of('paidDirectly'),
    received: of('received'),
    netValue,
    result: of('result'),
    total: of('total'),
  };
}
