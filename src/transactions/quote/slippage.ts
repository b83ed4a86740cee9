import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { EffectiveSlippage, Issue, PlannedSwap } from '../types.ts';

const PLACES = 6;

/**
 * Say which slippage the calldata holds once minimums were raised: that of the tightest swap, a ratio rounded down.
 * @param planned the swaps at the slippage that was asked for, beside what became of each
 */
export function heldSlippage(
  asked: EffectiveSlippage,
  planned: readonly { readonly before: PlannedSwap; readonly after: PlannedSwap }[],
): EffectiveSlippage {
  const raised = planned.filter(({ before, after }) => after.minOut > before.minOut).map(({ after }) => slackOf(after));
  const tightest = raised.reduce<Decimal | undefined>((least, next) => (least?.lte(next) ? least : next), undefined);
  if (!tightest?.lt(asked.value)) return asked;
  return { ...asked, value: tightest, tightenedFrom: asked.tightenedFrom ?? asked.value };
}

/** Name a slippage of which less holds than was asked for, as a typed issue; nothing otherwise. */
export function slippageIssues({ value, tightenedFrom }: EffectiveSlippage): readonly Issue[] {
  if (!tightenedFrom) return [];
  const [asked, effective] = [tightenedFrom.toFixed(), value.toFixed()];
  return [
    {
      kind: 'SLIPPAGE_TIGHTENED',
      asked,
      effective,
      message: `Of the slippage ${asked} only ${effective} holds: a fill below that would break the contracts' limit and reverts. Ask for less leverage, or for a smaller size, to allow more.`,
    },
  ];
}

function slackOf({ minOut, expectedOut }: PlannedSwap): Decimal {
  if (expectedOut <= minOut) return ZERO;
  return new Decimal((expectedOut - minOut).toString())
    .div(expectedOut.toString())
    .decimalPlaces(PLACES, Decimal.ROUND_DOWN);
}
