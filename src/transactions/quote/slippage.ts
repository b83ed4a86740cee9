import { REST_NAMES, type SurfaceNames } from '../../shared/contract/surface-names.ts';
import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { EffectiveSlippage, Issue, PlannedSwap } from '../types.ts';

const PLACES = 6;

/**
 * Compute the effective slippage once minimums were raised: that of the tightest swap, a ratio rounded down.
 * @param planned each swap at the requested slippage, and with its raised minimum
 */
export function heldSlippage(
  requested: EffectiveSlippage,
  planned: readonly { readonly before: PlannedSwap; readonly after: PlannedSwap }[],
): EffectiveSlippage {
  const raised = planned.filter(({ before, after }) => after.minOut > before.minOut).map(({ after }) => slackOf(after));
  const tightest = raised.reduce<Decimal | undefined>((least, next) => (least?.lte(next) ? least : next), undefined);
  if (!tightest?.lt(requested.value)) return requested;
  return { ...requested, value: tightest, tightenedFrom: requested.tightenedFrom ?? requested.value };
}

/** Report an effective slippage below the requested one as a typed issue; nothing otherwise. */
export function slippageIssues({ value, tightenedFrom }: EffectiveSlippage): readonly Issue[] {
  if (!tightenedFrom) return [];
  const [requested, effective] = [tightenedFrom.toFixed(), value.toFixed()];
  return [
    { kind: 'SLIPPAGE_TIGHTENED', requested, effective, message: tightenedMessage(requested, effective, REST_NAMES) },
  ];
}

/** Write an issue with the names of a surface; its `message` has those of REST. */
export function issueIn(issue: Issue, names: SurfaceNames): Issue {
  const { requested, effective } = issue;
  if (requested === undefined || effective === undefined) return issue;
  return { ...issue, message: tightenedMessage(requested, effective, names) };
}

function tightenedMessage(requested: string, effective: string, { slippage }: SurfaceNames): string {
  return `Of ${slippage.name} ${slippage.value(requested)} only ${slippage.value(effective)} holds: a fill below that would break the contracts' limit and reverts. Ask for less leverage, or for a smaller size, to allow more.`;
}

function slackOf({ minOut, expectedOut }: PlannedSwap): Decimal {
  if (expectedOut <= minOut) return ZERO;
  return new Decimal((expectedOut - minOut).toString())
    .div(expectedOut.toString())
    .decimalPlaces(PLACES, Decimal.ROUND_DOWN);
}
