/** What is known about one way to revert. */
export interface RevertReason {
  /** Name of the error, or the plain string as the contract says it; one ending in `…` stands for all that begin so. */
  readonly reason: string;
  /** Who says it. */
  readonly from: string;
  readonly cause: string;
  /** Whether building again, with fresh quotes, may help. */
  readonly curable: boolean;
  readonly nextStep: string;
}

/** What to do, where many reverts share it. */
export const NEXT_STEPS = {
  again: 'Build again for a fresh quote.',
  later: 'Try again later.',
  report: 'Report it with the correlation id: the service built a call that the contract does not take.',
  ownerOnly: 'This is a call of the contract owner. Build actions here instead.',
} as const;

/** Make the reasons of one contract, all of them curable or none. */
export const reasonsOf =
  (from: string, curable: boolean) =>
  (reason: string, cause: string, nextStep: string): RevertReason => ({ reason, from, cause, curable, nextStep });
