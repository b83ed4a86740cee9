import { beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Lease, LeaseAnswer } from '../../src/snapshot/lease.ts';
import { createLeaseHolder, type LeaseHolder } from '../../src/warmers/runner/lease-holder.ts';
import { type FakeTime, fakeTime, settle } from './fake-time.ts';

/** Renewals are asked for every 10 s. */
const TTL_MS = 30_000;

let time: FakeTime;
let lost: boolean;
let renew: () => Promise<boolean>;
/** Grant the lease that was asked for. */
let grant: () => void;
let holder: LeaseHolder;

const fails = () => Promise.reject(new Error('no answer'));

beforeEach(() => {
  time = fakeTime();
  lost = false;
  renew = fails;
  const lease: Lease = { renew: () => renew(), release: async () => {} };
  const acquire = () =>
    new Promise<LeaseAnswer>((resolve) => {
      grant = () => resolve({ lease, freeInMs: null });
    });
  holder = createLeaseHolder({
    job: 'prices',
    lease: { ttlMs: TTL_MS, acquire, isClockOff: () => false, close: async () => {} },
    clock: time.clock,
    timers: time.timers,
    logger: silentLogger,
    onLost: () => {
      lost = true;
    },
  });
});

/** Ask for the lease, and grant it after so many ms. */
async function take(afterMs: number): Promise<void> {
  const held = holder.hold();
  await time.advance(afterMs);
  grant();
  expect(await held).toEqual({ ours: true, freeInMs: null });
}

describe('a lease that cannot be renewed', () => {
  test('behavior: is lost exactly when its time is over', async () => {
    await take(0);
    await time.advance(29_999);
    expect([lost, holder.isOurs()]).toEqual([false, true]);
    await time.advance(1);
    expect([lost, holder.isOurs()]).toEqual([true, false]);
  });

  test('behavior: its time counts from the question, not from a late answer', async () => {
    await take(12_000);
    await time.advance(10_000);
    expect(lost).toBe(false);
    await time.advance(10_000); // 32 s after the question, 20 s after the answer
    expect(lost).toBe(true);
  });

  test('behavior: a renewal counts from its question as well', async () => {
    let answer: (renewed: boolean) => void = () => {};
    renew = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await take(0);
    await time.advance(22_000);
    answer(true); // asked at 10 s
    await settle();
    renew = fails;
    await time.advance(10_000);
    expect(lost).toBe(false);
    await time.advance(10_000); // 32 s after the question, 20 s after the answer
    expect(lost).toBe(true);
  });
});
