import { Gauge, type Registry } from 'prom-client';

/** The part of a provider's quota that is shown. */
interface QuotaView {
  readonly publicName: string;
  readonly windows: readonly {
    readonly window: string;
    readonly limit: number;
    readonly forecast?: number | undefined;
  }[];
}

export interface BudgetMetrics {
  /** Register the gauges of the quotas of providers, read at scrape time. */
  watchQuotas(read: () => readonly QuotaView[]): void;
}

/** Create the gauges of the quotas of providers. */
export function budgetMetrics(registers: Registry[]): BudgetMetrics {
  let quotas: () => readonly QuotaView[] = () => [];
  const gauge = (name: string, help: string, read: (window: QuotaView['windows'][number]) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['provider', 'window'],
      registers,
      collect() {
        this.reset();
        for (const { publicName: provider, windows } of quotas()) {
          for (const one of windows) {
            const value = read(one);
            if (value !== undefined) this.set({ provider, window: one.window }, value);
          }
        }
      },
    });
  gauge('spiral_upstream_quota', 'Units that a provider permits in a window.', ({ limit }) => limit);
  gauge(
    'spiral_upstream_quota_forecast',
    'Units of a provider in a whole window at the rate of the last day.',
    ({ forecast }) => forecast,
  );
  return {
    watchQuotas(next) {
      quotas = next;
    },
  };
}
