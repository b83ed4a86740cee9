import { ltv } from '../copy/index.ts';
import { el } from '../dom.ts';

export interface LtvLimits {
  /** Percent; `undefined` = unknown. */
  readonly safe?: string | undefined;
  readonly max?: string | undefined;
  readonly liquidation?: string | undefined;
}

/** The share of the bar below each limit, percent: they lie so close that a bar to scale would not show them apart. */
const PLACES = { safe: 70, max: 82, liquidation: 94 } as const;

/** How near to its liquidation a position is: a bar, with each limit in words. `now` is the LTV before a change. */
export function ltvBar(value: string | null | undefined, limits: LtvLimits, now?: string | null): HTMLElement {
  const at = (number: string | null | undefined) => placeOf(Number(number ?? 0), limits);
  const has = now !== undefined && now !== null && now !== value;
  const track = el(
    'div',
    { class: 'track', 'aria-hidden': 'true', title: 'Not to scale above the safe LTV' },
    el('i', { class: 'zone amber' }),
    el('i', { class: 'zone rose' }),
    el('i', { class: 'zone red' }),
    el('i', { class: `fill ${levelOf(value, limits)}` }),
    has ? el('i', { class: 'mark' }) : null,
  );
  // The content security policy takes no style attributes; a script may set them.
  const place = (selector: string, name: 'left' | 'width', share: number) =>
    (track.querySelector(selector) as HTMLElement | null)?.style.setProperty(name, `${share}%`);
  place('.fill', 'width', at(value));
  if (has) place('.mark', 'left', at(now));
  return el(
    'div',
    { class: 'ltv' },
    el(
      'p',
      {},
      'LTV ',
      el('b', { 'data-ltv': '' }, value === undefined ? 'unknown' : ltv(value ?? '0')),
      has ? el('span', { class: 'muted' }, ` now ${ltv(now)}`) : null,
    ),
    track,
    el(
      'ul',
      { class: 'limits' },
      ...(
        [
          ['safe', 'Safe', limits.safe],
          ['max', 'Max', limits.max],
          ['liquidation', 'Liquidation', limits.liquidation],
        ] as const
      ).map(([kind, name, limit]) => el('li', { class: kind }, `${name} `, el('b', {}, ltv(limit)))),
    ),
  );
}

function levelOf(value: string | null | undefined, { safe, max }: LtvLimits): string {
  const number = Number(value ?? 0);
  if (max !== undefined && number > Number(max)) return 'over';
  return safe !== undefined && number > Number(safe) ? 'high' : 'ok';
}

/** The place of an LTV on the bar, percent of its width: even between two limits. */
export function placeOf(value: number, { safe, max, liquidation }: LtvLimits): number {
  const end = Number(liquidation ?? 100);
  const steps: readonly (readonly [number, number])[] = [
    [0, 0],
    [Number(safe ?? end * 0.9), PLACES.safe],
    [Number(max ?? end * 0.95), PLACES.max],
    [end, PLACES.liquidation],
    [100, 100],
  ];
  const above = steps.findIndex(([limit]) => value < limit);
  const [[low, from] = [0, 0], [high, to] = [100, 100]] =
    above < 1 ? [steps[4], steps[4]] : [steps[above - 1], steps[above]];
  return high === low ? to : from + ((value - low) / (high - low)) * (to - from);
}
