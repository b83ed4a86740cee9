import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import type { Pnl } from '../../../domain/portfolio/types.ts';
import { Decimal, fromUnits } from '../../../shared/decimal.ts';
import type { PnlSplit } from './pnl-split.ts';

/**
 * The P&L by the record of the product's contract less the P&L by the events, in parts, exact USD:
 * `pnl.baseResultUsd = pnlSplit.result.usd + paidDirectlyUsd + recordUsd`, and
 * `pnl.totalUsd = pnlSplit.total.usd + paidDirectlyUsd + recordUsd + incentivesUsd`. Absent = not known, with a gap `<field>`.
 */
export interface PnlDifference {
  /** Paid by the owner to the lending protocol directly: the contract does not record it as a deposit. */
  readonly paidDirectlyUsd?: string | undefined;
  /** Differences between the payments and the contract's record of them. */
  readonly recordUsd?: string | undefined;
  /** Incentives on the amounts of today over the registered life, less those on the amounts of each time. */
  readonly incentivesUsd?: string | undefined;
  readonly gaps: readonly Gap[];
}

export interface PnlDifferenceInput {
  readonly split: PnlSplit;
  readonly pnl: Pnl;
  /** The contract's record of the position, loan base units. */
  readonly recorded: { readonly depositedAssets: bigint; readonly returnedAssets: bigint };
  readonly loanDecimals: number;
  /** USD per loan token; `null` = not known. */
  readonly loanUsd: Decimal | null;
}

/** Compare both P&Ls of a position. Amounts of the record are compared in base units, before any price. */
export function pnlDifference(input: PnlDifferenceInput): PnlDifference {
  const { split, pnl, recorded, loanDecimals, loanUsd } = input;
  const gaps: Gap[] = [];
  const none = (field: string, why: Gap): undefined => {
    gaps.push({ ...why, field });
    return undefined;
  };
  const usd = (field: string, amount: bigint | Gap): string | undefined => {
    if (typeof amount !== 'bigint') return none(field, amount);
    return loanUsd ? fromUnits(amount, loanDecimals).times(loanUsd).toFixed() : none(field, UNPRICED);
  };
  const { incentives } = split.parts;
  const splitUsd =
    typeof incentives === 'bigint' ? usd('incentivesUsd', incentives) : none('incentivesUsd', incentives);
  const incentivesUsd = pnl.incentivesUsd ?? (splitUsd && none('incentivesUsd', whyOf(pnl, 'incentivesUsd')));
  return {
    paidDirectlyUsd: usd('paidDirectlyUsd', split.paidDirectly),
    recordUsd: usd('recordUsd', recordOf(split, pnl, recorded)),
    incentivesUsd: splitUsd && incentivesUsd && new Decimal(incentivesUsd).minus(splitUsd).toFixed(),
    gaps,
  };
}

function recordOf(
  { result, received, paidDirectly, netValue }: PnlSplit,
  pnl: Pnl,
  { depositedAssets, returnedAssets }: PnlDifferenceInput['recorded'],
): bigint | Gap {
  if (pnl.baseResultUsd === undefined) return whyOf(pnl, 'baseResultUsd');
  if (typeof result !== 'bigint') return result;
  if (typeof paidDirectly !== 'bigint') return paidDirectly;
  if (typeof received !== 'bigint') return received;
  const record = netValue + returnedAssets - depositedAssets - result - paidDirectly;
  // The record stops at 0 when more is taken out than was paid in, so it lacks at most what was received.
  const most = netValue + returnedAssets + depositedAssets + received;
  return record > most || -record > most ? ABSURD : record;
}

function whyOf({ gaps }: Pnl, field: string): Gap {
  return gaps.find((known) => known.field === field) ?? UNKNOWN;
}

const UNPRICED = gap('', 'NOT_MEASURED', 'The price of the loan token is unknown.');
const ABSURD = gap(
  '',
  'IMPLAUSIBLE',
  'The record of the contract and the events differ by more than was ever in the position: a price or an amount at an event is wrong. An operator can have them read anew.',
);
const UNKNOWN = gap('', 'NOT_MEASURED', 'One of its parts is unknown.');
