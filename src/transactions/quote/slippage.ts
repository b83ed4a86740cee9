import { Decimal, ZERO } from '../../shared/decimal.ts';
import { NAMES } from '../../shared/names.ts';
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
  return [slippageIssue('SLIPPAGE_TIGHTENED', requested, effective)];
}

/** Report a slippage that was lowered to the cap as a typed issue; nothing otherwise. */
export function cappedIssues({ value, cappedFrom, tightenedFrom }: EffectiveSlippage): readonly Issue[] {
  if (!cappedFrom) return [];
  return [slippageIssue('SLIPPAGE_CAPPED', cappedFrom.toFixed(), (tightenedFrom ?? value).toFixed())];
}

type SlippageKind = 'SLIPPAGE_TIGHTENED' | 'SLIPPAGE_CAPPED';

const { name, value } = NAMES.slippage;
const MESSAGES: Readonly<Record<SlippageKind, (requested: string, effective: string) => string>> = {
  SLIPPAGE_TIGHTENED: (requested, effective) =>
    `Of ${name} ${value(requested)} only ${value(effective)} holds: a fill below that would break the contracts' limit and reverts. Ask for less leverage, or for a smaller size, to allow more.`,
  SLIPPAGE_CAPPED: (requested, effective) =>
    `Of ${name} ${value(requested)} only ${value(effective)} counts: that is the cap, which venues would use up otherwise.`,
};

function slippageIssue(kind: SlippageKind, requested: string, effective: string): Issue {
  return { kind, requested, effective, message: MESSAGES[kind](requested, effective) };
}

function slackOf({ minOut, expectedOut }: PlannedSwap): Decimal {
  if (expectedOut <= minOut) return ZERO;
  return new Decimal((expectedOut - minOut).toString())
    .div(expectedOut.toString())
    .decimalPlaces(PLACES, Decimal.ROUND_DOWN);
}
