import { AppError } from '../../shared/errors.ts';
import type { StrategyId } from '../../shared/ids.ts';

export interface AmbiguousYieldLoopsDetails {
  readonly field: string;
  readonly vaultId: StrategyId;
  /** Ids of the loops that may belong to the vault, ascending. */
  readonly candidates: readonly number[];
}

/** Which loops belong to the vault cannot be told, so the wallet must say which ones to close. */
export class AmbiguousYieldLoopsError extends AppError<AmbiguousYieldLoopsDetails> {
  constructor(details: AmbiguousYieldLoopsDetails) {
    super(
      'bad_request',
      `Which yield loops belong to this vault cannot be told from the chain. Send ${details.field} with those of ${details.candidates.join(', ')} that shall be closed; nothing else is.`,
      { details },
    );
  }
}
