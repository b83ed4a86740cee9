/** What one source said of the time, against our own clock. */
export interface ClockSample {
  /** E.g. `Postgres`, `RPC_URL_1 #1`. */
  readonly source: string;
  /** How far our clock is ahead of theirs, ms; negative = behind. */
  readonly aheadMs: number;
  /** How far this may be off: half of the time that asking took, and how coarsely the source tells. */
  readonly withinMs: number;
}

/** Collects what sources say of the time while they are asked for other things. */
export interface ClockSamples {
  add(sample: ClockSample): void;
  all(): readonly ClockSample[];
}

/** Create an empty collection. */
export function createClockSamples(): ClockSamples {
  const samples: ClockSample[] = [];
  return { add: (sample) => samples.push(sample), all: () => samples };
}

/** Compare a time that was told between two readings of our clock. */
export function clockSampleOf(
  source: string,
  told: { readonly atMs: number; readonly resolutionMs: number },
  asked: { readonly sentMs: number; readonly answeredMs: number },
): ClockSample {
  const middleMs = (asked.sentMs + asked.answeredMs) / 2;
  return {
    source,
    aheadMs: Math.round(middleMs - told.atMs - told.resolutionMs / 2),
    withinMs: Math.ceil((asked.answeredMs - asked.sentMs) / 2 + told.resolutionMs / 2),
  };
}
