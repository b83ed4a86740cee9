import type { LoadStats } from './load.ts';
import type { Collection, Sample } from './memory.ts';

export interface Run {
  readonly minutes: number;
  readonly perSecond: number;
  readonly heapLimitMb: number;
  readonly samples: readonly Sample[];
  readonly totals: readonly LoadStats[];
  readonly collections: readonly Collection[];
}

export interface Verdict {
  readonly resident: number;
  readonly heap: number;
  readonly external: number;
  /** MB a minute of what full collections leave; `null` with fewer than two of them. */
  readonly kept: number | null;
  /** Why the run has failed; empty when it has not. */
  readonly faults: readonly string[];
}

/** Share of the run that is left out of the slopes: what is bounded fills up to its bounds first. */
const WARM_UP_SHARE = 0.5;
/**
 * Slopes beyond which memory counts as growing, MB a minute. Resident memory wanders with what V8 and the allocator think
 * that they need; what full collections leave does not.
 */
const MAX_SLOPE = { resident: 1, kept: 0.25 } as const;

/** Judge a run: how memory grew in its second half, and what was answered in all of it. */
export function judge({ minutes, samples, totals, collections }: Run): Verdict {
  const warm = samples.filter(({ atMin }) => atMin >= minutes * WARM_UP_SHARE);
  const left = collections.filter(({ atMin }) => atMin >= minutes * WARM_UP_SHARE);
  const resident = slope(warm, ({ rssMb }) => rssMb);
  const kept = left.length < 2 ? null : slope(left, ({ heapMb }) => heapMb);
  const wrong = Object.entries(sum(totals, (stats) => stats.wrong));
  const leftOut = totals.reduce((all, stats) => all + stats.leftOut, 0);
  const requests = totals.reduce((all, stats) => all + stats.requests, 0);
  return {
    resident,
    heap: slope(warm, ({ heapMb }) => heapMb),
    external: slope(warm, ({ externalMb }) => externalMb),
    kept,
    faults: [
      ...wrong.map(([answer, count]) => `neither asked for nor a refusal: ${answer} x${count}`),
      ...(leftOut > requests / 100 ? [`${leftOut} requests were not sent: the process could not keep up`] : []),
      ...(resident <= MAX_SLOPE.resident ? [] : [`resident memory grows by ${resident.toFixed(2)} MB a minute`]),
      ...(kept === null ? ['there were no two full collections to compare'] : []),
      ...(kept === null || kept <= MAX_SLOPE.kept ? [] : [`the heap keeps ${kept.toFixed(2)} MB more every minute`]),
    ],
  };
}

/** Write a run down, as docs/reliability.md shows it. */
export function reportOf(run: Run, verdict: Verdict): string {
  const { minutes, perSecond, heapLimitMb, samples, totals, collections } = run;
  const warm = samples.filter(({ atMin }) => atMin >= minutes * WARM_UP_SHARE);
  const requests = totals.reduce((all, stats) => all + stats.requests, 0);
  const range = (values: readonly number[]) =>
    values.length === 0 ? '–' : `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)} MB`;
  const row = (name: string, values: readonly number[], grows: number | null) =>
    `| ${name} | ${range(values)} | ${grows === null ? '–' : grows.toFixed(2)} |`;
  const left = collections.filter(({ atMin }) => atMin >= minutes * WARM_UP_SHARE).map(({ heapMb }) => heapMb);
  const columns = Array.from({ length: 7 }, (_, i) => Math.max(1, Math.round((minutes * i) / 6)));
  const at = (minute: number, pick: (sample: Sample) => number) => {
    const sample = samples.findLast(({ atMin }) => atMin <= minute + 0.1);
    return sample === undefined || Number.isNaN(pick(sample)) ? '–' : pick(sample).toFixed(0);
  };
  const line = (name: string, pick: (sample: Sample) => number) =>
    `| ${name} | ${columns.map((minute) => at(minute, pick)).join(' | ')} |`;
  return [
    `${minutes} minutes at ${perSecond} requests a second, ${requests} requests, heap limited to ${heapLimitMb} MB, ${process.version}.`,
    '',
    `| Minute | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    line('Resident, MB', ({ rssMb }) => rssMb),
    line('Kept answers, MB', ({ cacheMb }) => cacheMb),
    '',
    `| Last ${(minutes * (1 - WARM_UP_SHARE)).toFixed(0)} minutes | Range | Slope, MB a minute |`,
    '|---|---|---|',
    row(
      'Resident',
      warm.map(({ rssMb }) => rssMb),
      verdict.resident,
    ),
    row(
      'Heap used',
      warm.map(({ heapMb }) => heapMb),
      verdict.heap,
    ),
    row(`Heap after full collections (${left.length})`, left, verdict.kept),
    row(
      'Outside the heap',
      warm.map(({ externalMb }) => externalMb),
      verdict.external,
    ),
    '',
    '| Call | Answers |',
    '|---|---|',
    ...answersOf(totals),
    '',
    verdict.faults.length === 0 ? 'Passed.' : ['FAILED:', ...verdict.faults.map((fault) => `- ${fault}`)].join('\n'),
  ].join('\n');
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
function slope<T extends { readonly atMin: number }>(points: readonly T[], pick: (point: T) => number): number {
  const mean = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / values.length;
  const [x, y] = [mean(points.map(({ atMin }) => atMin)), mean(points.map(pick))];
  const over = points.reduce((total, point) => total + (point.atMin - x) * (pick(point) - y), 0);
  const under = points.reduce((total, { atMin }) => total + (atMin - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
