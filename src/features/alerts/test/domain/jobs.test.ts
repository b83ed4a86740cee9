import { describe, expect, test } from 'vitest';
import { type AlertJobRun, deliveryJobStatus, evaluationJobStatus } from '../../domain/jobs.ts';

const NOW_MS = 1_000_000_000;
const run = { ranMs: NOW_MS - 10_000, failure: null, failingSinceMs: null };
const outbox = { pending: 0, dead: 0, oldestPendingMs: null, dueSinceMs: null };

const runs: readonly (readonly [string, AlertJobRun | null])[] = [
  ['never', null],
  ['running', run],
  ['running', { ...run, ranMs: NOW_MS - 600_000 }],
  ['stopped', { ...run, ranMs: NOW_MS - 600_001 }],
  ['failing', { ...run, failure: 'timeout', failingSinceMs: 1, ranMs: NOW_MS - 700_000 }],
  // Recorded by a process whose clock is ahead.
  ['running', { ...run, ranMs: NOW_MS + 60_000 }],
  ['unknown', { ...run, ranMs: NOW_MS + 120_001 }],
  ['failing', { ...run, failure: 'timeout', failingSinceMs: 1, ranMs: NOW_MS + 120_001 }],
];

describe('evaluationJobStatus', () => {
  test.each(runs)('default: %s, case %#', (status, evaluation) => {
    expect(evaluationJobStatus({ evaluation }, NOW_MS)).toBe(status);
  });
});

describe('deliveryJobStatus', () => {
  test.each(runs)('default: %s, case %#', (status, delivery) => {
    expect(deliveryJobStatus({ delivery, outbox }, NOW_MS)).toBe(status);
  });

  test.each([
    ['running', 900_000],
    ['late', 900_001],
  ])('behavior: %s when the most overdue delivery is due for %i ms', (status, overdueMs) => {
    const late = { ...outbox, pending: 1, dueSinceMs: NOW_MS - overdueMs };
    expect(deliveryJobStatus({ delivery: run, outbox: late }, NOW_MS)).toBe(status);
    // The reason why it is late comes first.
    const failing = { ...run, failure: 'timeout', failingSinceMs: 1 };
    expect(deliveryJobStatus({ delivery: failing, outbox: late }, NOW_MS)).toBe('failing');
  });
});
