import { describe, expect, test } from 'vitest';
import { createVerdicts, type KnownKey, RECHECK_MS, VERDICT_TTL_MS } from '../../src/keys/verdict-cache.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { fakeTime } from '../warmers/fake-time.ts';

const GRACE_MS = 300_000;
const PARTNER: KnownKey = { keyId: 'k', tier: 'partner', label: 'Acme', expiresAtMs: null };
const OPS: KnownKey = { ...PARTNER, tier: 'ops' };

/** Verdicts over a scripted database. */
function judging(graceMs = GRACE_MS) {
  const time = fakeTime();
  const logger = rememberingLogger();
  const database: { answer: KnownKey | null | 'away' | 'hangs'; requested: number } = { answer: PARTNER, requested: 0 };
  const verdicts = createVerdicts({ clock: time.clock, timers: time.timers, logger, graceMs });
  const lookUp = async (): Promise<KnownKey | null> => {
    database.requested += 1;
    if (database.answer === 'hangs') return new Promise(() => {});
    if (database.answer === 'away') throw new UpstreamUnavailableError('database', 'unreachable');
    return database.answer;
  };
  return { verdicts, database, time, logger, of: (id = 'id') => verdicts.of(id, lookUp) };
}

describe('of', () => {
  test('default: asks once per validity of a verdict', async () => {
    const { of, database, time } = judging();
    expect(await of()).toEqual({ key: PARTNER, grace: false });
    await time.advance(VERDICT_TTL_MS - 1);
    await of();
    expect(database.requested).toBe(1);
    await time.advance(1);
    database.answer = null;
    expect(await of()).toEqual({ key: null, grace: false });
    expect(database.requested).toBe(2);
  });

  test('behavior: while the database is away a partner key is valid for the grace period, then unavailable', async () => {
    const { of, database, time, verdicts, logger } = judging();
    await of();
    const checkedMs = time.clock.now();
    database.answer = 'away';
    await time.advance(VERDICT_TTL_MS);
    expect(await of()).toEqual({ key: PARTNER, grace: true });
    expect(verdicts.checks()).toEqual({ ok: false, sinceMs: checkedMs + VERDICT_TTL_MS });
    await time.advance(GRACE_MS - VERDICT_TTL_MS - 1);
    expect(await of()).toEqual({ key: PARTNER, grace: true });
    await time.advance(1);
    await expect(of()).rejects.toBeInstanceOf(UpstreamUnavailableError);
    database.answer = PARTNER;
    expect(await of()).toEqual({ key: PARTNER, grace: false });
    expect(verdicts.checks()).toEqual({ ok: true, sinceMs: null });
    expect(logger.messages).toEqual(['keys cannot be checked', 'keys are checked again']);
  });

  test('behavior: a clock that was set back by an hour does not prolong a revoked key', async () => {
    const { of, database, time, verdicts } = judging();
    await of();
    await time.advance(-3_600_000);
    database.answer = null;
    expect(await of()).toEqual({ key: null, grace: false });
    database.answer = PARTNER;
    await time.advance(VERDICT_TTL_MS);
    await of();
    database.answer = 'away';
    await time.advance(VERDICT_TTL_MS);
    expect(await of()).toEqual({ key: PARTNER, grace: true });
    database.answer = PARTNER;
    await time.advance(-3_600_000);
    expect(await of()).toEqual({ key: PARTNER, grace: false });
    expect(verdicts.checks().ok).toBe(true);
  });

  test('behavior: does not ask the database for every request during an outage', async () => {
    const { of, database, time } = judging();
    await of();
    database.answer = 'away';
    await time.advance(VERDICT_TTL_MS);
    await of();
    for (let i = 0; i < 5; i++) await of();
    expect(database.requested).toBe(2);
    await time.advance(RECHECK_MS);
    await of();
    expect(database.requested).toBe(3);
  });

  test('behavior: a hanging database delays a valid key only briefly', async () => {
    const { of, database, time } = judging();
    await of();
    database.answer = 'hangs';
    await time.advance(VERDICT_TTL_MS);
    const waiting = of();
    await time.advance(1_000);
    expect(await waiting).toEqual({ key: PARTNER, grace: true });
    expect(await of()).toEqual({ key: PARTNER, grace: true });
    // It is asked again now and then, more briefly.
    await time.advance(RECHECK_MS);
    const again = of();
    await time.advance(100);
    expect(await again).toEqual({ key: PARTNER, grace: true });
  });

  test('behavior: a refused key stays refused, also a formerly valid one', async () => {
    const { of, database, time } = judging();
    await of();
    database.answer = null;
    await time.advance(VERDICT_TTL_MS);
    expect(await of()).toEqual({ key: null, grace: false });
    database.answer = 'away';
    await time.advance(VERDICT_TTL_MS + 1);
    expect(await of()).toEqual({ key: null, grace: false });
  });

  test.each([
    ['an ops key', OPS, GRACE_MS],
    ['no grace', PARTNER, 0],
  ])('error: UpstreamUnavailableError with %s', async (_name, key, graceMs) => {
    const { of, database, time } = judging(graceMs);
    database.answer = key;
    await of();
    database.answer = 'away';
    await time.advance(VERDICT_TTL_MS);
    await expect(of()).rejects.toBeInstanceOf(UpstreamUnavailableError);
  });

  test('error: UpstreamUnavailableError for an unknown key', async () => {
    const { of, database } = judging();
    await of();
    database.answer = 'away';
    await expect(of('another')).rejects.toBeInstanceOf(UpstreamUnavailableError);
  });
});

describe('dueInMs', () => {
  test("default: the earlier of the verdict's validity and the key's expiry", async () => {
    const { of, verdicts, database, time } = judging();
    expect(verdicts.dueInMs('id')).toBe(0);
    await of();
    await time.advance(10_000);
    expect(verdicts.dueInMs('id')).toBe(VERDICT_TTL_MS - 10_000);
    database.answer = { ...PARTNER, expiresAtMs: time.clock.now() + 5_000 };
    await of('short');
    expect(verdicts.dueInMs('short')).toBe(5_000);
  });
});
