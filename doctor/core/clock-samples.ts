/** Time of one source, compared with our own clock. */
export interface ClockSample {
  /** E.g. `Postgres`, `RPC_URL_1 #1`. */
  readonly source: string;
  /** Lead of our clock, ms; negative = behind. */
  readonly aheadMs: number;
  /** Error bound: half of the request's duration, and the resolution of the source's time. */
  readonly withinMs: number;
}

/** Collects the times that sources return with other answers. */
export interface ClockSamples {
  add(sample: ClockSample): void;
  all(): readonly ClockSample[];
}

export function createClockSamples(): ClockSamples {
  const samples: ClockSample[] = [];
  return { add: (sample) => samples.push(sample), all: () => samples };
}

/** Compare a source's time with two readings of our clock around it. */
export function clockSampleOf(
  source: string,
  reading: { readonly atMs: number; readonly resolutionMs: number },
  request: { readonly sentMs: number; readonly answeredMs: number },
): ClockSample {
  const middleMs = (request.sentMs + request.answeredMs) / 2;
  return {
    source,
    aheadMs: Math.round(middleMs - reading.atMs - reading.resolutionMs / 2),
    withinMs: Math.ceil((request.answeredMs - request.sentMs) / 2 + reading.resolutionMs / 2),
  };
}
