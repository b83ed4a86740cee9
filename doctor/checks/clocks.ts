import { MAX_AHEAD_MS } from '../../src/shared/observed.ts';
import type { ClockSample } from '../core/clock-samples.ts';
import { type Line, linesOf } from '../core/types.ts';

/** A clock that is synchronised by NTP is much nearer than this. */
const MAX_DIFFERENCE_MS = 5_000;

/** Judge our clock by the times of all sources. Where most of them differ from ours, our clock is wrong. */
export function judgeClocks(samples: readonly ClockSample[]): readonly Line[] {
  if (samples.length === 0) {
    return [
      linesOf('clocks', 'this machine').warning(
        'agreement',
        'no answer with a clock for comparison',
        'Repair the failing parts above first, then run the check again.',
      ),
    ];
  }
  const off = samples.filter(({ aheadMs, withinMs }) => Math.abs(aheadMs) - withinMs > MAX_DIFFERENCE_MS);
  const isOurs = off.length > 1 && off.length * 2 > samples.length && sameSide(off);
  const ours = linesOf('clocks', 'this machine');
  const lines: Line[] = [];
  if (isOurs) lines.push(judgeOne(ours, medianOf(off), `${off.length} of ${samples.length} others`));
  else lines.push(ours.ok('agreement', `agrees with ${samples.length - off.length} of ${samples.length} others`));
  if (!isOurs) for (const sample of off) lines.push(judgeOne(linesOf('clocks', sample.source), sample, 'our clock'));
  return lines;
}

/** Beyond the tolerance for observations, values measured by one side are from the future for the other. */
function judgeOne(make: ReturnType<typeof linesOf>, { aheadMs, withinMs }: ClockSample, against: string): Line {
  const isOurs = against !== 'our clock';
  const isAhead = isOurs ? aheadMs > 0 : aheadMs < 0;
  const offset = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s`;
  const found = `${offset} ${isAhead ? 'ahead of' : 'behind'} ${against}${withinMs > 1_000 ? `, within ${(withinMs / 1_000).toFixed(1)} s` : ''}`;
  const todo = isOurs
    ? 'Set the clock of this machine (NTP).'
    : 'Ask its operator to set its clock (NTP); if several differ by the same, check the clock of this machine.';
  const isFar = Math.abs(aheadMs) - withinMs > MAX_AHEAD_MS;
  return isFar
    ? make.failure('agreement', `${found}: its values count as future values, or as older than they are`, todo)
    : make.warning('agreement', found, todo);
}

function sameSide(samples: readonly ClockSample[]): boolean {
  return new Set(samples.map(({ aheadMs }) => Math.sign(aheadMs))).size === 1;
}

function medianOf(samples: readonly ClockSample[]): ClockSample {
  const sorted = samples.toSorted((a, b) => a.aheadMs - b.aheadMs);
  return sorted[Math.floor(sorted.length / 2)] as ClockSample;
}
