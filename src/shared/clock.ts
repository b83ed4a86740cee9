/** Return the current time, in milliseconds since the epoch. Injected everywhere, so that tests can set it. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
