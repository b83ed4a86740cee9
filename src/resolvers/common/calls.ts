import type { Address } from '../../shared/ids.ts';
import { type BuiltCall, type Intent, intentOf } from '../../transactions/index.ts';

/** A call with the way to its words: decoding costs time that most callers do not need. */
export interface CallView {
  readonly call: BuiltCall;
  intent(): Intent;
}

/** Format calls for their signer. */
export function formatCalls(calls: readonly BuiltCall[], signer: Address): CallView[] {
  return calls.map((call) => ({ call, intent: () => intentOf(call, signer) }));
}
