/*
 * Deterministic numbers that vary. They are shown, charted and averaged, but are not money, so they are plain numbers.
 */

export const DAY_MS = 86_400_000;
export const YEAR_MS = 365 * DAY_MS;

export interface SeriesPoint {
  readonly atMs: number;
  readonly value: number;
}

/** Hash a text into [0, 1) (FNV-1a with a final mix). */
export function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Sums to zero over any seven days in a row: the 7-day average of a wobbling series is its level, exactly. */
const WEEK = [0, 3, -2, 4, -5, 1, -1];

/**
 * Make daily points, oldest first, the last one today's (UTC midnight). The level is reached a week before the world began
 * and stays from then on, so the average of the last seven points is `level` (to 1e-9); before, it drifts by up to 15 %.
 */
export function dailySeries(key: string, level: number, days: number, nowMs: number, startedMs: number): SeriesPoint[] {
  const today = Math.floor(nowMs / DAY_MS);
  const startDay = Math.floor(startedMs / DAY_MS);
  const phase = fraction(key) * 2 * Math.PI;
  return Array.from({ length: days }, (_, i) => {
    const day = today - days + 1 + i;
    const wobble = (WEEK[(((day - startDay) % 7) + 7) % 7] ?? 0) * 0.004 * level;
    const age = Math.max(0, startDay - 7 - day);
    const drift = level * 0.15 * Math.sin(age / 23 + phase) * (1 - Math.exp(-age / 30));
    return { atMs: day * DAY_MS, value: round(level + wobble + drift, 9) };
  });
}

/**
 * Value of a price at a time: `present` now, before that grown at `apy` (a fraction) and swinging by about `swing` (a fraction).
 * The past before the world began is fixed.
 */
export function priceAt(
  key: string,
  present: number,
  atMs: number,
  options: { apy: number; swing: number; nowMs: number; startedMs: number },
): number {
  const age = Math.max(0, options.startedMs - atMs) / DAY_MS;
  const phase = fraction(key) * 2 * Math.PI;
  const waves =
    0.6 * Math.sin(age / 17 + phase) + 0.3 * Math.sin(age / 3.1 + 2 * phase) + 0.1 * Math.sin(age * 7.3 + 3 * phase);
  const swing = options.swing * waves * (1 - Math.exp(-age * 4));
  const value = present * (1 + options.apy) ** (-(options.nowMs - atMs) / YEAR_MS) * Math.exp(swing);
  // Releases of Node differ in the last digits of these functions.
  return Number(value.toPrecision(12));
}

/** Round to that many decimals. */
export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
