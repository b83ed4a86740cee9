import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

export interface BatchedHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelName: string;
  /** Upper bounds in seconds, ascending. */
  readonly buckets: readonly number[];
  readonly register: Registry;
}

export interface BatchedHistogram {
  observe(label: string, ms: number): void;
}

interface Series {
  readonly counts: number[];
  sumMs: number;
  count: number;
}

/**
 * Measure what happens with every request: prom-client's own histogram finds its numbers by hashing the labels each time.
 * What Prometheus reads is the same.
 */
export function createBatchedHistogram(options: BatchedHistogramOptions): BatchedHistogram {
  const { name, help, labelName, buckets, register } = options;
  const boundsMs = buckets.map((bound) => bound * 1_000);
  const all = new Map<string, Series>();

  const valuesOf = ([label, { counts, sumMs, count }]: [string, Series]): MetricValueWithName<string>[] => {
    const labels = { [labelName]: label };
    let below = 0;
    const lines = buckets.map((le, i) => {
      below += counts[i] ?? 0;
      return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...lines,
      { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
      { labels, value: sumMs / 1_000, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  };
  const get = async (): Promise<MetricObjectWithValues<MetricValueWithName<string>>> => ({
    name,
    help,
    type: 'histogram' as never,
    aggregator: 'sum',
    collect: () => {},
    values: [...all].flatMap(valuesOf),
  });
  register.registerMetric({ name, help, get, reset: () => all.clear() } as unknown as Metric);

  return {
    observe(label, ms) {
      let series = all.get(label);
      if (!series) {
        series = { counts: buckets.map(() => 0), sumMs: 0, count: 0 };
        all.set(label, series);
      }
      series.sumMs += ms;
      series.count += 1;
      const bucket = boundsMs.findIndex((bound) => ms <= bound);
      if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    },
  };
}
