import { describe, expect, it } from 'vitest';
import { createHousekeepingWarmer } from '../../src/warmers/housekeeping.ts';

describe(createHousekeepingWarmer, () => {
  it('default: removes old rows and of every store and reports their number', async () => {
    const pruned: string[] = [];
    const store = (name: string, removed: number) => async () => {
      pruned.push(name);
      return removed;
    };
    const warmer = createHousekeepingWarmer([store('samples', 3), store('alerts', 4)]);
    expect(await warmer.run(new AbortController().signal, 'all')).toEqual({ items: 7, failures: 0, retryable: 0 });
    expect(pruned).toEqual(['samples', 'alerts']);
    expect(warmer.everySec).toBe(86_400);
  });
});
