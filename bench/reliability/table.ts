import type { LoadStats } from './load.ts';

export interface Row {
  readonly name: string;
  readonly stats: LoadStats;
  /** Time from the repair to the previous state; `null` = no recovery was needed. */
  readonly recoverySec: number | null;
  /** Oldest market state in an answer during the outage, s; `null` = not watched. */
  readonly oldestSec: number | null;
  readonly looks: number;
  readonly untrue: readonly string[];
}

/** Write the rows as a Markdown table. */
export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map(({ name, stats, recoverySec, oldestSec, looks, untrue }) => {
    const lost = stats.statuses.lost ?? 0;
    const statuses = Object.entries(stats.statuses)
      .filter(([status]) => status !== 'lost')
      .map(([status, count]) => `${status}: ${count}${blamed(stats, status)}`)
      .join(', ');
    const ages =
      looks === 0 ? '–' : untrue.length === 0 ? `correct in ${looks} checks` : `${untrue.length} of ${looks} wrong`;
    return [
      name,
      stats.requests,
      statuses,
      lost,
      `${stats.p50Ms} / ${stats.p99Ms} ms`,
      oldestSec === null ? '–' : `${oldestSec} s`,
      ages,
      recoverySec === null ? '–' : `${recoverySec.toFixed(1)} s`,
    ].join(' | ');
  });
  return [
    '| Fault | Requests | Statuses | Lost | Median / p99 | Oldest market state | Reported ages | Recovery |',
    '|---|---|---|---|---|---|---|---|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n');
}

/** Calls that were answered with a server error. */
function blamed({ failures }: LoadStats, status: string): string {
  const calls = Object.entries(failures).flatMap(([call, count]) =>
    call.endsWith(` ${status}`) ? [`${call.slice(0, -status.length - 1)} ${count}`] : [],
  );
  return calls.length === 0 ? '' : ` (${calls.join(', ')})`;
}
