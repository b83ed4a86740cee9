import { Gauge, type Registry } from 'prom-client';

/** The part of a request budget that is shown. */
interface BudgetView {
  readonly requestsPerMinute: number;
  used(): number;
}

export interface BudgetMetrics {
  /** Register the gauges of the request budget of a provider, read at scrape time. */
  upstreamBudget(provider: string, budget: BudgetView): void;
}

/** Create the gauges of the request budgets of providers. */
export function budgetMetrics(registers: Registry[]): BudgetMetrics {
  const budgets = new Map<string, BudgetView>();
  const gauge = (name: string, help: string, read: (budget: BudgetView) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['provider'],
      registers,
      collect() {
        for (const [provider, budget] of budgets) this.set({ provider }, read(budget));
      },
    });
  gauge(
    'spiral_upstream_budget',
    'Requests that a provider permits in a minute.',
    (budget) => budget.requestsPerMinute,
  );
  gauge('spiral_upstream_budget_used', 'Requests to a provider in the last minute.', (budget) => budget.used());
  return {
    upstreamBudget(provider, budget) {
      budgets.set(provider, budget);
    },
  };
}
