/** Points of a read that waits for a block, in addition to the read. */
export const WAIT_POINTS = 5;
/** Points of one measurement for a read, in addition to the read. */
export const REFRESH_POINTS = 10;
/** Bounds of `maxAge`, seconds. */
export const MAX_AGE_BOUNDS = { min: 5, max: 86_400 } as const;
