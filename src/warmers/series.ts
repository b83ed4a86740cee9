import type { Logger } from '../shared/logger.ts';
import type { RateHistory } from '../shared/rate-history.ts';

const DAY_MS = 86_400_000;
/** A year and the longest trailing window, with some days of margin. */
export const RETENTION_DAYS = 400;

/**
 * Merge two daily histories: a UTC day of the preferred one counts alone, and missing days are filled from the other, so that
 * an answer with holes or without history removes no points. At most 400 days back from the newest.
 */
export function continueSeries(preferred: RateHistory, other: RateHistory): RateHistory;
export function continueSeries(preferred?: RateHistory, other?: RateHistory): RateHistory | undefined;
export function continueSeries(preferred?: RateHistory, other?: RateHistory): RateHistory | undefined {
  if (preferred === undefined || other === undefined) return preferred ?? other;
  const fresh = preferred;
  const days = new Set(fresh.map(({ atMs }) => dayOf(atMs)));
  const filled = other.filter(({ atMs }) => !days.has(dayOf(atMs)));
  const points = [...filled, ...fresh].sort((a, b) => a.atMs - b.atMs);
  const oldestDay = dayOf(points.at(-1)?.atMs ?? 0) - RETENTION_DAYS;
  return points.filter(({ atMs }) => dayOf(atMs) > oldestDay);
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/**
 * Run an optional step of a refresh: a failure is logged once, and its recovery once, and `otherwise` is returned in its
 * place.
 */
export function bestEffort(logger: Logger, about: Readonly<Record<string, unknown>>) {
  const failing = new Set<string>();
  return async <T>(step: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const done = await work();
      if (failing.delete(step)) logger.info({ ...about, step }, 'optional step works again');
      return done;
    } catch (error) {
      if (!failing.has(step)) logger.warn({ ...about, step, error }, 'optional step failed');
      failing.add(step);
      return otherwise;
    }
  };
}
