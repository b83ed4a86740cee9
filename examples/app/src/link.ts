import { amount, percentTick } from './copy/index.ts';

/** The bounds that the maker of a link has set. They hold in the form too, for every change of the request. */
export interface LinkBounds {
  readonly slippage?: number;
  readonly maxSwapLossPct?: number;
  readonly minAmountOut?: string;
}

export function boundsOf(query: URLSearchParams): LinkBounds {
  const [slippage, loss, least] = ['slippage', 'maxSwapLossPct', 'minAmountOut'].map((name) => query.get(name));
  return {
    ...(slippage ? { slippage: Number(slippage) } : {}),
    ...(loss ? { maxSwapLossPct: Number(loss) } : {}),
    ...(least ? { minAmountOut: least } : {}),
  };
}

/** The bounds as a sentence; `undefined` = there are none. */
export function boundsText({ slippage, maxSwapLossPct, minAmountOut }: LinkBounds): string | undefined {
  const parts = [
    slippage === undefined ? undefined : `a slippage of at most ${percentTick(slippage * 100)}`,
    maxSwapLossPct === undefined ? undefined : `swaps that lose at most ${percentTick(maxSwapLossPct)}`,
    minAmountOut === undefined ? undefined : `an output of at least ${amount(minAmountOut)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `The link asks for ${parts.join(', ')}.`;
}

/** A number of a link; `undefined` = there is none, or it is none. */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  const number = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** A range of a slider that has the number of a link on it: a browser would move it to the nearest step. */
export function rangeWith(value: number, { min, max, step }: Range): Range {
  const places = (String(value).split('.')[1] ?? '').length;
  const steps = (value - min) / step;
  const isOnStep = value >= min && Math.abs(steps - Math.round(steps)) < 1e-9;
  return {
    min: Math.min(min, value),
    max: Math.max(max, value),
    step: isOnStep ? step : Math.min(step, 10 ** -places),
  };
}
