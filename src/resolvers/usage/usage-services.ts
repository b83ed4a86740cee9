/** Use of one key on one UTC day. */
export interface UsedDay {
  /** Start of the day, ms. */
  readonly dayMs: number;
  readonly calls: number;
  readonly points: number;
  readonly refusals: number;
}

/** The use of keys by day. */
export interface UsagePort {
  /** The days of a key since a time on which it was used, oldest first. @throws UpstreamUnavailableError */
  since(keyId: string, fromMs: number): Promise<readonly UsedDay[]>;
}

export interface UsageServices {
  readonly keyUsage: UsagePort;
}
