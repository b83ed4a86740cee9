import { REST_NAMES, type SurfaceNames } from '../../shared/contract/surface-names.ts';
import { AppError } from '../../shared/errors.ts';
import type { StrategyId } from '../../shared/ids.ts';

export interface AmbiguousYieldLoopsDetails {
  readonly field: string;
  readonly vaultId: StrategyId;
  /** Ids of the loops that may belong to the vault, ascending. */
  readonly yieldPositionIds: readonly number[];
}

/** The loops of the vault are ambiguous: the wallet must name those to close. */
export class AmbiguousYieldLoopsError extends AppError<AmbiguousYieldLoopsDetails> {
  constructor(details: AmbiguousYieldLoopsDetails, { input }: Pick<SurfaceNames, 'input'> = REST_NAMES) {
    super(
      'bad_request',
      `The chain does not show which yield loops belong to this vault. Send ${input(details.field)} with those of ${details.yieldPositionIds.join(', ')} to close; no other loop is closed.`,
      { details },
    );
  }
}
