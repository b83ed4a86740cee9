import type { LoadStats } from './load.ts';
import type { Collection, Sample } from './memory.ts';

export interface Run {
  readonly minutes: number;
  /** Part that is left out of the slopes, in which bounded structures fill. */
  readonly warmMinutes: number;
  readonly perSecond: number;
  readonly heapLimitMb: number;
  readonly samples: readonly Sample[];
  readonly warmUp: readonly LoadStats[];
  readonly measured: readonly LoadStats[];
  readonly collections: readonly Collection[];
}

/** Growth of one kind of memory in the measured part of a run. */
export interface Measure {
  readonly name: string;
  readonly values: readonly number[];
  /** MB per minute; `null` = too few samples. */
  readonly slope: number | null;
  /** Slope above which it counts as growing. */
  readonly maxSlope?: number | undefined;
}

export interface Verdict {
  readonly measures: readonly Measure[];
  /** Reasons of a failed run; empty = passed. */
  readonly faults: readonly string[];
}

/**
 * MB per minute. Resident memory varies with the estimates of V8 and of the allocator; the heap after full collections
 * does not.
 */
const MAX_RESIDENT_SLOPE = 1;
const MAX_LEFT_SLOPE = 0.25;
/** Share of requests that may stay unsent because too many were open. */
const MAX_UNSENT = 0.01;

/** Judge a run by the growth of memory once it was warm, and by all answers. */
export function judge({ warmMinutes, samples, warmUp, measured, collections }: Run): Verdict {
  const isWarm = ({ atMin }: { readonly atMin: number }) => atMin >= warmMinutes;
  const warm = samples.filter(isWarm);
  const ofSamples = (name: string, pick: (sample: Sample) => number, maxSlope?: number) =>
    measureOf(name, warm, pick, maxSlope);
  const left = collections.filter(isWarm);
  const measures = [
    ofSamples('Resident', ({ rssMb }) => rssMb, MAX_RESIDENT_SLOPE),
    ofSamples('Heap, taken from the system', ({ heapTotalMb }) => heapTotalMb),
    ofSamples('Heap, used', ({ heapMb }) => heapMb),
    measureOf(`Heap, left by ${left.length} full collections`, left, ({ heapMb }) => heapMb, MAX_LEFT_SLOPE),
    ofSamples('Outside the heap', ({ externalMb }) => externalMb),
    ofSamples('Cached answers', ({ cacheMb }) => cacheMb),
  ];
  const requests = countOf(measured, (stats) => stats.requests);
  const unsent = countOf(measured, (stats) => stats.leftOut);
  const wrong = Object.entries(sum([...warmUp, ...measured], (stats) => stats.wrong));
  return {
    measures,
    faults: [
      ...wrong.map(([answer, count]) => `neither asked for nor a refusal: ${answer} x${count}`),
      ...(unsent > requests * MAX_UNSENT ? [`${unsent} requests were not sent: the process could not keep up`] : []),
      ...measures.flatMap(({ name, slope, maxSlope }) => {
        if (maxSlope === undefined || (slope !== null && slope <= maxSlope)) return [];
        return [slope === null ? `${name}: too little to tell` : `${name}: grows by ${slope.toFixed(2)} MB a minute`];
      }),
    ],
  };
}

/** Write a run down, as docs/reliability.md shows it. */
export function reportOf(run: Run, { measures, faults }: Verdict): string {
  const { minutes, warmMinutes, perSecond, heapLimitMb, samples, warmUp, measured } = run;
  const totals = [...warmUp, ...measured];
  const columns = [...new Set([0, 1, 2, 3, 4, 5, 6].map((sixth) => Math.max(1, Math.round((minutes * sixth) / 6))))];
  const line = (name: string, pick: (sample: Sample) => number) => {
    const values = columns.map((minute) => samples.findLast(({ atMin }) => atMin <= minute + 0.1));
    return `| ${name} | ${values.map((sample) => (sample === undefined ? '–' : pick(sample).toFixed(0))).join(' | ')} |`;
  };
  const [first, then] = [warmUp, measured].map((part) => countOf(part, (stats) => stats.requests));
  return [
    `${minutes} minutes: ${first} requests in ${warmMinutes.toFixed(0)} minutes to warm up, then ${then} at ${perSecond} a second; heap limited to ${heapLimitMb} MB, ${process.version}:`,
    '',
    `| Minute | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    line('Resident, MB', ({ rssMb }) => rssMb),
    line('Cached answers, MB', ({ cacheMb }) => cacheMb),
    '',
    `| Last ${(minutes - warmMinutes).toFixed(0)} minutes | MB | Slope, MB a minute | At most |`,
    '|---|---|---|---|',
    ...measures.map(
      ({ name, values, slope, maxSlope }) =>
        `| ${name} | ${rangeOf(values)} | ${slope === null ? '–' : slope.toFixed(2)} | ${maxSlope ?? ''} |`,
    ),
    '',
    '| Call | Answers |',
    '|---|---|',
    ...answersOf(totals),
    '',
    faults.length === 0 ? 'Passed.' : ['FAILED:', ...faults.map((fault) => `- ${fault}`)].join('\n'),
  ].join('\n');
}

function measureOf<T extends { readonly atMin: number }>(
  name: string,
  points: readonly T[],
  pick: (point: T) => number,
  maxSlope?: number,
): Measure {
  const slope = points.length < 2 ? null : slopeOf(points, pick);
  return { name, values: points.map(pick), slope, maxSlope };
}

function rangeOf(values: readonly number[]): string {
  return values.length === 0 ? '–' : `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
}

/** One row per kind of call. */
function answersOf(totals: readonly LoadStats[]): readonly string[] {
  const rows = new Map<string, string[]>();
  for (const [key, count] of Object.entries(sum(totals, ({ answers }) => answers)).sort()) {
    const [, name = '', answer = ''] = /^(.*?) ((?:\d{3}|lost).*)$/.exec(key) ?? [];
    rows.set(name, [...(rows.get(name) ?? []), `${answer}: ${count}`]);
  }
  return [...rows].map(([name, answers]) => `| ${name} | ${answers.join(', ')} |`);
}

function countOf(totals: readonly LoadStats[], pick: (stats: LoadStats) => number): number {
  return totals.reduce((all, stats) => all + pick(stats), 0);
}

function sum(
  totals: readonly LoadStats[],
  pick: (stats: LoadStats) => Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const stats of totals)
    for (const [key, count] of Object.entries(pick(stats))) all[key] = (all[key] ?? 0) + count;
  return all;
}

/** Least squares, MB per minute. */
function slopeOf<T extends { readonly atMin: number }>(points: readonly T[], pick: (point: T) => number): number {
  const mean = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / values.length;
  const [x, y] = [mean(points.map(({ atMin }) => atMin)), mean(points.map(pick))];
  const over = points.reduce((total, point) => total + (point.atMin - x) * (pick(point) - y), 0);
  const under = points.reduce((total, { atMin }) => total + (atMin - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
