import { describe, expect, it } from 'vitest';
import { createHousekeepingWarmer } from '../../src/warmers/housekeeping.ts';

describe(createHousekeepingWarmer, () => {
  it('default: removes old rows and reports their number', async () => {
    let requested = 0;
    const warmer = createHousekeepingWarmer(async () => {
      requested += 1;
      return 3;
    });
    expect(await warmer.run(new AbortController().signal, 'all')).toEqual({ items: 3, failures: 0, retryable: 0 });
    expect(requested).toBe(1);
    expect(warmer.everySec).toBe(86_400);
  });
});
