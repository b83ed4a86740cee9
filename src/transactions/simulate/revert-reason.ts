/** Cause and next step of one revert. */
export interface RevertReason {
  /** Name of the error, or its plain string; one ending in `…` matches all that begin so. */
  readonly reason: string;
  /** The contract that reverts. */
  readonly from: string;
  readonly cause: string;
  /** Whether building again, with fresh quotes, may help. */
  readonly curable: boolean;
  readonly nextStep: string;
}

/** Next steps that many reverts share. */
export const NEXT_STEPS = {
  again: 'Build again for a fresh quote.',
  later: 'Try again later.',
  report: 'Report it with the correlation id: the service built a call that the contract rejects.',
  ownerOnly: 'This is a call of the contract owner. Build actions here instead.',
} as const;

/** Make the reasons of one contract, all of them curable or none; several reasons may share cause and next step. */
export const reasonsOf =
  (from: string, curable: boolean) =>
  (reasons: string | readonly string[], cause: string, nextStep: string): readonly RevertReason[] =>
    [reasons].flat().map((reason) => ({ reason, from, cause, curable, nextStep }));
