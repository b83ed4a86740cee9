/** The part of a plan that could not be proven. */
export type RefusalCode =
  | 'intent'
  | 'chain'
  | 'shape'
  | 'target'
  | 'method'
  | 'encoding'
  | 'owner'
  | 'position'
  | 'market'
  | 'token'
  | 'amount'
  | 'value'
  | 'approval'
  | 'authorization'
  | 'router'
  | 'minimum'
  | 'loan'
  | 'reallocation';

/** No proof that the plan has the effects of the intent. Do not sign it. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: RefusalCode;
  /** The call, counted from 0 over approvals and transaction; absent = the plan or the intent itself. */
  readonly callIndex: number | undefined;

  constructor(code: RefusalCode, message: string, callIndex?: number) {
    super(callIndex === undefined ? message : `Call ${callIndex + 1}: ${message}`);
    this.code = code;
    this.callIndex = callIndex;
  }
}
