import { el } from './dom.js';
import { shortUsd, usd } from './format.js';

/** @type {Map<Element, { chart: uPlot | null, draw: () => void }>} */
const drawn = new Map();

/** Read a colour of the style sheet, so that both follow light and dark. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Draw now, and again when the size or the colours change. */
function keepDrawn(host, make) {
  const entry = drawn.get(host) ?? { chart: null, draw: () => {} };
  entry.draw = () => {
    entry.chart?.destroy();
    host.replaceChildren();
    entry.chart = host.clientWidth === 0 ? null : make(host);
  };
  if (!drawn.has(host)) new ResizeObserver(() => resized(host)).observe(host);
  drawn.set(host, entry);
  entry.draw();
}

function resized(host) {
  const entry = drawn.get(host);
  if (entry?.chart && Math.abs(entry.chart.width - host.clientWidth) < 2) return;
  entry?.draw();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const { draw } of drawn.values()) draw();
});

const HEIGHT = 230;

function axis(overrides) {
  return {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
    ...overrides,
  };
}

/** Draw totals over time. Chains are sampled separately: each time uses the latest sample of each. */
export function drawPnl(host, samples) {
  const latest = new Map();
  const times = [];
  const totals = [];
  const incentives = [];
  for (const sample of samples) {
    latest.set(sample.chainId, sample);
    const seconds = Math.floor(Date.parse(sample.at) / 1_000);
    const sum = (name) => [...latest.values()].reduce((total, one) => total + Number(one[name]), 0);
    if (times.at(-1) === seconds) {
      totals[totals.length - 1] = sum('totalUsd');
      incentives[incentives.length - 1] = sum('incentivesUsd');
    } else {
      times.push(seconds);
      totals.push(sum('totalUsd'));
      incentives.push(sum('incentivesUsd'));
    }
  }
  const last = totals.at(-1);
  host.setAttribute(
    'aria-label',
    last === undefined
      ? 'No samples yet.'
      : `P&L from ${usd(totals[0], { signed: true })} to ${usd(last, { signed: true })}.`,
  );
  if (times.length < 2) {
    host.replaceChildren(el('p', { class: 'none' }, 'The chart needs two hourly samples.'));
    return;
  }
  keepDrawn(host, (root) => {
    const options = {
      width: root.clientWidth,
      height: HEIGHT,
      cursor: { y: false, points: { size: 6 } },
      scales: { x: { time: true } },
      axes: [
        axis({ space: 64, values: (_chart, ticks) => ticks.map((tick) => day.format(new Date(tick * 1_000))) }),
        axis({ size: 64, values: (_chart, ticks) => ticks.map(shortUsd) }),
      ],
      series: [
        {},
        line('P&L', '--accent', 2, { fill: colour('--accent-soft') }),
        line('Incentives', '--second', 1.5, { dash: [5, 4] }),
      ],
    };
    return new uPlot(options, [times, totals, incentives], root);
  });
}

function line(label, name, width, more) {
  return {
    label,
    stroke: colour(name),
    width,
    points: { show: false },
    value: (_chart, value) => (value === null || value === undefined ? '–' : usd(value, { signed: true })),
    ...more,
  };
}

/** Upper ends of the groups of headroom, points. */
const BOUNDS = [0.5, 1, 2, 5, 10, 20, Number.POSITIVE_INFINITY];
const NAMES = ['0.5', '1', '2', '5', '10', '20', 'more'];
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Draw the net value by headroom. */
export function drawHeadroom(host, positions) {
  const values = BOUNDS.map(() => 0);
  const counts = BOUNDS.map(() => 0);
  for (const { headroom, value } of positions) {
    const group = BOUNDS.findIndex((bound) => headroom < bound);
    values[group] += value;
    counts[group] += 1;
  }
  const near = counts[0] + counts[1];
  host.setAttribute('aria-label', `${positions.length} open positions; ${near} with less than 1 point of headroom.`);
  if (positions.length === 0) {
    host.replaceChildren(el('p', { class: 'none' }, 'No open position matches.'));
    return;
  }
  keepDrawn(host, (root) => {
    const bars = uPlot.paths.bars({ size: [0.66, 64], radius: 0.06 });
    const series = (label, name, from, to) => ({
      label,
      stroke: colour(name),
      fill: colour(name),
      width: 0,
      paths: bars,
      points: { show: false },
      value: (_chart, _raw, _series, index) =>
        index === null || index < from || index >= to ? '–' : `${usd(values[index])} in ${counts[index]}`,
    });
    const part = (from, to) => values.map((value, index) => (index >= from && index < to ? value : null));
    const options = {
      width: root.clientWidth,
      height: HEIGHT,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: false, range: [-0.6, BOUNDS.length - 0.4] },
        y: { range: (_chart, _min, max) => [0, max * 1.1] },
      },
      axes: [
        axis({
          splits: NAMES.map((_name, index) => index),
          values: () => NAMES,
          grid: { show: false },
          label: 'points of LTV left, up to',
          labelSize: 22,
          labelFont: '12px system-ui, sans-serif',
        }),
        axis({ size: 64, values: (_chart, ticks) => ticks.map(shortUsd) }),
      ],
      series: [
        {
          label: 'Headroom',
          value: (_chart, _raw, _series, index) =>
            index === null ? '–' : index === BOUNDS.length - 1 ? 'above 20' : `up to ${NAMES[index]}`,
        },
        series('Close', '--bad', 0, 2),
        series('Watch', '--warn', 2, 3),
        series('Far', '--accent', 3, BOUNDS.length),
      ],
    };
    const data = [NAMES.map((_name, index) => index), part(0, 2), part(2, 3), part(3, BOUNDS.length)];
    return new uPlot(options, data, root);
  });
}
