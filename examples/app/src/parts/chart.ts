import UPlot from 'uplot';
import { clock, day, minute } from '../copy/index.ts';
import { el, svg } from '../dom.ts';

export interface Series {
  readonly name: string;
  /** Time in ms and value, in order of time. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Chart {
  readonly node: HTMLElement;
  /** Show other points. */
  show(series: Series): void;
  /** Say that there is nothing to show, or that it is being read. */
  say(text: string): void;
}

const HEIGHT = 210;
const DAY_MS = 86_400_000;

/** How values are written. */
export interface Format {
  readonly value: (value: number) => string;
  /** At the axis. */
  readonly tick: (value: number) => string;
}

/** A line over time with the value under the pointer, or under the arrow keys. */
export function lineChart(title: string, format: Format, signal: AbortSignal): Chart {
  const place = el('div', { class: 'plot' });
  const at = el('span', { class: 'muted' });
  const name = el('span', { class: 'key' });
  const value = el('b', {});
  const readout = el('p', { class: 'readout' }, at, el('span', {}, name, ' ', value));
  const note = el('p', { class: 'muted', hidden: true });
  const node = el(
    'figure',
    { class: 'chart', tabindex: '0', role: 'group', 'aria-label': title },
    readout,
    place,
    note,
  );
  let plot: UPlot | undefined;
  let shown: Series = { name: '', points: [] };

  const spanMs = () => (shown.points.at(-1)?.[0] ?? 0) - (shown.points[0]?.[0] ?? 0);
  const timeText = (ms: number) => (spanMs() > 3 * DAY_MS ? day(ms) : minute(ms));
  const point = (index: number | null | undefined) => {
    const [ms, number] = shown.points[index ?? shown.points.length - 1] ?? [];
    if (ms === undefined || number === undefined) return;
    at.textContent = timeText(ms);
    value.textContent = format.value(number);
  };
  const draw = () => {
    plot?.destroy();
    place.replaceChildren();
    if (shown.points.length < 2 || place.clientWidth === 0) return;
    plot = new UPlot(optionsOf(place, format, point), dataOf(shown), place);
  };
  node.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (plot === undefined || step === 0) return;
    event.preventDefault();
    const last = shown.points.length - 1;
    const index = Math.min(last, Math.max(0, (plot.cursor.idx ?? (step < 0 ? last + 1 : -1)) + step));
    plot.setCursor({ left: plot.valToPos((shown.points[index]?.[0] ?? 0) / 1_000, 'x'), top: HEIGHT / 2 });
  });
  const resized = new ResizeObserver(() => {
    if (plot === undefined) draw();
    else if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  resized.observe(place);
  signal.addEventListener('abort', () => resized.disconnect());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw, { signal });
  const say = (text: string) => {
    note.textContent = text;
    note.hidden = text === '';
    readout.hidden = text !== '';
    place.hidden = text !== '';
  };
  return {
    node,
    say,
    show(series) {
      shown = series;
      if (series.points.length < 2) return say('There is no history yet.');
      say('');
      name.textContent = series.name;
      point(undefined);
      node.setAttribute('aria-label', summaryOf(title, series, format.value, timeText));
      if (plot === undefined) draw();
      else plot.setData(dataOf(series));
    },
  };
}

const dataOf = ({ points }: Series): [number[], number[]] => [
  points.map(([ms]) => ms / 1_000),
  points.map(([, number]) => number),
];

/** The line in words. */
function summaryOf(
  title: string,
  { points }: Series,
  format: (value: number) => string,
  time: (ms: number) => string,
): string {
  const values = points.map(([, number]) => number);
  const [from, to] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
  return `${title}, ${time(from)} to ${time(to)}: from ${format(values[0] ?? 0)} to ${format(values.at(-1) ?? 0)}, lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}. Arrow keys move along it.`;
}

function optionsOf(
  place: HTMLElement,
  format: Format,
  point: (index: number | null | undefined) => void,
): UPlot.Options {
  const styles = getComputedStyle(place);
  const color = (variable: string) => styles.getPropertyValue(variable).trim();
  const font = `12px ${styles.fontFamily}`;
  const axis = { stroke: color('--muted'), font, ticks: { show: false }, grid: { stroke: color('--line'), width: 1 } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 12, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: color('--accent') } },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: { x: { time: true }, y: { range: (_, low, high) => rangeOf(low, high) } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 70,
        values: (_, ticks) => tickTexts(ticks),
      },
      { ...axis, size: 66, space: 44, values: (_, ticks) => ticks.map(format.tick) },
    ],
    series: [{}, { stroke: color('--accent'), width: 2, fill: color('--tint'), points: { show: false } }],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx)] },
  };
}

/** Days, or hours of a short past. */
function tickTexts(ticks: readonly number[]): string[] {
  const isShort = (ticks[1] ?? 0) - (ticks[0] ?? 0) < 86_400;
  const texts = ticks.map((seconds) => (isShort ? clock(seconds * 1_000) : day(seconds * 1_000)));
  return texts.map((text, i) => (text === texts[i - 1] ? '' : text));
}

/** With zero where it is near, and never so narrow that noise looks like a fall. */
function rangeOf(low: number, high: number): [number, number] {
  const middle = (low + high) / 2;
  const least = Math.abs(middle) * 0.02 || 1;
  const half = Math.max((high - low) / 2, least / 2) * 1.15;
  const isNearZero = low >= 0 && low < half * 4;
  return [isNearZero ? 0 : middle - half, middle + half];
}

/** A small line, for the eye only: the text beside it has the numbers. */
export function sparkline(values: readonly number[]): Node {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (index: number) => (index / (values.length - 1 || 1)) * 104 + 2;
  const y = (number: number) => 30 - ((number - low) / (high - low || 1)) * 28;
  const points = values.map((number, index) => `${x(index).toFixed(1)},${y(number).toFixed(1)}`).join(' ');
  const isUp = (values.at(-1) ?? 0) >= (values[0] ?? 0);
  return svg(
    'svg',
    { class: `spark ${isUp ? 'up' : 'down'}`, viewBox: '0 0 108 32', 'aria-hidden': true },
    svg('polyline', { points }),
  );
}
