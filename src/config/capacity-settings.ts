import { count, seconds } from './numbers.ts';

/** What one process has a number of, and how long reads may wait. */
export const capacitySettings = {
  READ_WAIT_SEC: seconds
    .max(30)
    .default(10)
    .describe('Longest wait of a read for the block of `afterTx` or `minBlock`, seconds.'),
  MAX_WAITS_PER_CLIENT: count
    .min(1)
    .max(100)
    .default(5)
    .describe('Maximum number of reads of one key or address that wait for a block at a time, in one process.'),
  MAX_WAITS: count
    .min(1)
    .default(500)
    .describe(
      'Maximum number of reads that wait for a block at a time, in one process: half of them without a key, 40 % with partner keys, 10 % with ops keys.',
    ),
  MAX_QUEUED_REQUESTS: count
    .min(1)
    .default(2000)
    .describe('Maximum number of requests that wait for their turn in one process, shared like MAX_WAITS.'),
  MAX_TURN_WAIT_MS: count
    .default(1000)
    .describe(
      'Longest time that a new request may have to wait for its turn, ms: beyond it, it is refused (503); 0 = no limit.',
    ),
  MAX_SUBSCRIPTIONS: count
    .default(500)
    .describe('Maximum number of open subscriptions in one process, shared like MAX_WAITS.'),
  MAX_CONNECTIONS_PER_ADDRESS: count
    .default(1000)
    .describe('Maximum number of open connections of one address or key, also of a proxy in front; 0 = no limit.'),
  MAX_CONNECTIONS: count
    .default(10_000)
    .describe(
      'Maximum number of open connections in one process, shared like MAX_WAITS, and a fifth more for a second; 0 = no limit.',
    ),
};
