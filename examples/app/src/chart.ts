import { el, svg } from './dom.ts';

export interface Series {
  readonly name: string;
  /** `a` and `b` have colors of their own. */
  readonly color: 'a' | 'b';
  /** Time in ms and percent, in order of time. */
  readonly points: readonly (readonly [number, number])[];
}

const WIDTH = 640;
const HEIGHT = 200;
/** Room for the labels, which are larger on a phone. */
const LEFT = 66;
const BOTTOM = 24;
const TOP = 18;

/** Draw lines over time. The caption describes the lines in words. */
export function lineChart(title: string, all: readonly Series[]): HTMLElement {
  const shown = all.filter(({ points }) => points.length > 1);
  const values = shown.flatMap(({ points }) => points.map(([, value]) => value));
  if (values.length === 0) return el('p', { class: 'muted' }, `${title}: no history yet.`);
  const times = shown.flatMap(({ points }) => points.map(([time]) => time));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const [low, high] = [Math.min(0, ...values), Math.max(...values) * 1.1];
  const x = (time: number) => LEFT + ((time - from) / (to - from || 1)) * (WIDTH - LEFT - 8);
  const y = (value: number) => TOP + (1 - (value - low) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const ticks = [low, (low + high) / 2, high];
  const dates = [from, to].map((time) => new Date(time).toISOString().slice(0, 10));
  const picture = svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `${title}, ${dates.join(' to ')}` },
    ...ticks.flatMap((tick) => [
      svg('line', { class: 'grid', x1: LEFT, x2: WIDTH - 8, y1: y(tick), y2: y(tick) }),
      text(LEFT - 6, y(tick) + 4, 'end', `${tick.toFixed(1)} %`),
    ]),
    text(LEFT, HEIGHT - 6, 'start', dates[0] ?? ''),
    text(WIDTH - 8, HEIGHT - 6, 'end', dates[1] ?? ''),
    ...shown.map(({ color, points }) =>
      svg('polyline', {
        class: `line-${color}`,
        points: points.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
      }),
    ),
  );
  const legend = shown.map(({ name, color, points }) =>
    el('li', { class: `key-${color}` }, `${name}: ${points.at(-1)?.[1].toFixed(2)} % now`),
  );
  return el(
    'figure',
    { class: 'chart' },
    picture as unknown as Node,
    el('figcaption', {}, title, el('ul', { class: 'legend' }, ...legend)),
  );
}

function text(x: number, y: number, anchor: string, content: string): SVGElement {
  const node = svg('text', { x, y, 'text-anchor': anchor });
  node.append(content);
  return node;
}

/** A small line without numbers, for the eye only: the text beside it has them. */
export function sparkline(values: readonly number[]): Node {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (index: number) => (index / (values.length - 1 || 1)) * 96 + 2;
  const y = (value: number) => 30 - ((value - low) / (high - low || 1)) * 28;
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return svg(
    'svg',
    { class: 'spark', viewBox: '0 0 100 32', 'aria-hidden': true },
    svg('polyline', { class: 'line-a', points }),
  );
}
