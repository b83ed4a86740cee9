import { AppError } from '../../shared/errors.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { NAMES } from '../../shared/names.ts';

export interface AmbiguousYieldLoopsDetails {
  readonly field: string;
  readonly vaultId: StrategyId;
  /** Ids of the loops that may belong to the vault, ascending. */
  readonly yieldPositionIds: readonly number[];
}

/** The loops of the vault are ambiguous: the wallet must name those to close. */
export class AmbiguousYieldLoopsError extends AppError<AmbiguousYieldLoopsDetails> {
  constructor(details: AmbiguousYieldLoopsDetails) {
    super(
      'bad_request',
      `The chain does not show which yield loops belong to this vault. Send ${NAMES.input(details.field)} with those of ${details.yieldPositionIds.join(', ')} to close; no other loop is closed.`,
      { details },
    );
  }
}
