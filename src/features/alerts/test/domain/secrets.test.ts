import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OVERLAP_SEC } from '../../domain/secret-overlap.ts';
import { MAX_SECRETS, rotateSecrets, validEarlierSecrets } from '../../domain/secrets.ts';

const NOW_MS = Date.UTC(2026, 5, 10, 12);
const HOUR_MS = 3_600_000;
const salt = Buffer.alloc(16);
const FIRST = { secret: { salt, version: 1 }, earlierSecrets: [] };

describe('rotateSecrets', () => {
  test('default: the secret before signs until the overlap is over', () => {
    const rotated = rotateSecrets(FIRST, 3_600, NOW_MS);
    const earlier = { version: 1, untilMs: NOW_MS + HOUR_MS };
    expect(rotated).toEqual({ secret: { salt, version: 2 }, earlierSecrets: [earlier] });
    if (!rotated) throw new Error('not rotated');
    expect(validEarlierSecrets(rotated, NOW_MS + HOUR_MS - 1)).toEqual([earlier]);
    expect(validEarlierSecrets(rotated, NOW_MS + HOUR_MS)).toEqual([]);
  });

  test('behavior: without an overlap every earlier secret ends at once', () => {
    const earlierSecrets = [{ version: 2, untilMs: NOW_MS + HOUR_MS }];
    const rotated = rotateSecrets({ secret: { salt, version: 3 }, earlierSecrets }, 0, NOW_MS);
    expect(rotated).toEqual({ secret: { salt, version: 4 }, earlierSecrets: [] });
  });

  test('error: more secrets at once than the most', () => {
    let secrets: ReturnType<typeof rotateSecrets> = FIRST;
    for (let i = 1; i < MAX_SECRETS; i += 1) secrets = secrets && rotateSecrets(secrets, 60, NOW_MS);
    expect(secrets?.earlierSecrets).toHaveLength(MAX_SECRETS - 1);
    if (!secrets) throw new Error('refused too early');
    expect(rotateSecrets(secrets, 60, NOW_MS)).toBeNull();
    expect(rotateSecrets(secrets, 0, NOW_MS)?.earlierSecrets).toEqual([]);
    expect(rotateSecrets(secrets, 60, NOW_MS + 60_000)?.earlierSecrets).toHaveLength(1);
  });

  test('property: after any rotations, no secret signs longer than at any of its rotations, and versions grow by one', () => {
    const steps = fc.array(fc.tuple(fc.integer(OVERLAP_SEC), fc.integer({ min: 0, max: 100_000 })), { maxLength: 12 });
    fc.assert(
      fc.property(steps, (rotations) => {
        let nowMs = NOW_MS;
        let secrets: NonNullable<ReturnType<typeof rotateSecrets>> = FIRST;
        const ends = new Map<number, number>();
        for (const [overlapSec, pauseSec] of rotations) {
          nowMs += pauseSec * 1_000;
          const before = secrets;
          const rotated = rotateSecrets(before, overlapSec, nowMs);
          if (!rotated) continue;
          secrets = rotated;
          const untilMs = nowMs + overlapSec * 1_000;
          for (const version of [before.secret.version, ...ends.keys()])
            ends.set(version, Math.min(ends.get(version) ?? untilMs, untilMs));
          expect(rotated.secret.version).toBe(before.secret.version + 1);
          const expected = [...ends]
            .filter(([, end]) => end > nowMs)
            .map(([version, end]) => ({ version, untilMs: end }));
          const byVersion = (a: { version: number }, b: { version: number }) => b.version - a.version;
          expect(rotated.earlierSecrets).toEqual(expected.toSorted(byVersion));
          expect(rotated.earlierSecrets.length).toBeLessThan(MAX_SECRETS);
        }
      }),
    );
  });
});
