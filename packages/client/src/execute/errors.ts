import { ClientError } from '../errors.ts';
import type { VerifiedAmount } from '../verify/types.ts';

/** The plan was not executed, or not as planned. `sent` has the hashes of the transactions that were sent before. */
export class ExecutionError extends ClientError {
  /** Hashes of the transactions that were sent before the failure, oldest first. */
  sent: readonly string[] = [];
  /** Whether a manager authorization that this execution granted is revoked again; `undefined` = none is left that it granted. */
  isRevoked: boolean | undefined;
  /** The call that revokes the authorization, where this execution may leave one; `undefined` = it leaves none. */
  revocation: Revocation | undefined;
  /** The token allowances that this execution leaves, or may leave: those of its approvals that were not spent. */
  allowances: readonly Allowance[] = [];
}

/** An allowance that an execution leaves, with the unsigned call that takes it back. */
export interface Allowance {
  readonly chainId: number;
  /** Lower case, as `spender`. */
  readonly token: string;
  readonly spender: string;
  /** Base units. */
  readonly amount: bigint;
  /** Whether the approval is not mined yet, as far as the node tells, and still may be. */
  readonly isPending: boolean;
  /** The parameter of `eth_sendTransaction`: an approval of zero. */
  readonly call: { readonly from: string; readonly to: string; readonly data: string };
  /** The parameter of `eth_call`. Its result is the allowance, base units. */
  readonly check: { readonly to: string; readonly data: string };
}

/** The unsigned call that revokes an authorization, and the read that tells whether there is one. */
export interface Revocation {
  readonly chainId: number;
  /** The parameter of `eth_sendTransaction`. It reverts while there is no authorization. */
  readonly call: { readonly from: string; readonly to: string; readonly data: string };
  /** The parameter of `eth_call`. Its result is 1 while there is an authorization, and 0 otherwise. */
  readonly check: { readonly to: string; readonly data: string };
}

/** The plan is not one, or a rebuilt plan is for something else. `code` is `invalid_plan`. */
export class InvalidPlanError extends ExecutionError {
  constructor(message: string) {
    super('invalid_plan', message);
  }
}

/**
 * The plan is executed by another call of `execute` in this process, or something of it was sent, or may have been. Nothing more
 * was sent. `code` is `already_started`.
 */
export class AlreadyStartedError extends ExecutionError {
  /** Whether the other call is still running. */
  readonly isRunning: boolean;
  /** Hashes and ids of what the other call has sent so far, oldest first; empty = the wallet was asked, and named none. */
  readonly earlier: readonly string[];

  constructor(isRunning: boolean, earlier: readonly string[]) {
    const state = isRunning
      ? 'is being executed by another call: wait for its result'
      : `was started before, and ${earlier.join(', ') || 'something of it'} ${earlier.length > 0 ? 'was' : 'may have been'} sent: look at the account`;
    const next = 'To do the same once more, build a new plan (client.rebuild(plan), or the row with its input).';
    super('already_started', `This plan ${state}. ${next} \`startAgain: true\` sends this one all the same.`);
    this.isRunning = isRunning;
    this.earlier = [...earlier];
  }
}

/** The plan is not proven to have the requested effects; nothing of it was sent. `code` is `unproven`. */
export class UnprovenError extends ExecutionError {
  constructor(cause: Error) {
    super('unproven', `The plan is not proven to do what was asked for: ${cause.message}`, { cause });
  }
}

/** The wallet is on another chain, or its answers about it contradict each other. `code` is `wrong_chain`. */
export class WrongChainError extends ExecutionError {
  readonly expected: number;

  constructor(expected: number, message: string) {
    super('wrong_chain', message);
    this.expected = expected;
  }
}

/** There is no contract at an address that the plan calls. `code` is `no_code`. */
export class NoCodeError extends ExecutionError {
  readonly address: string;

  constructor(address: string) {
    super('no_code', `No contract is at ${address} on the wallet's chain: its node may be on another network.`);
    this.address = address;
  }
}

/** The quotes of the plan have lapsed. `code` is `expired`. */
export class ExpiredError extends ExecutionError {
  constructor(expiresAt: string) {
    super('expired', `The plan was valid until ${expiresAt}: build it again, and check the clock of this machine.`, {
      retryable: true,
    });
  }
}

/** The account holds too little. `code` is `insufficient_balance`. */
export class InsufficientBalanceError extends ExecutionError {
  /** `null` = the native currency. */
  readonly token: string | null;
  /** Base units. */
  readonly needed: bigint;
  readonly available: bigint;

  constructor(token: string | null, needed: bigint, available: bigint) {
    const what = token === null ? 'of the native currency' : `of the token ${token}`;
    super('insufficient_balance', `The account has ${available} base units ${what}, and the plan needs ${needed}.`);
    this.token = token;
    this.needed = needed;
    this.available = available;
  }
}

/** A rebuilt plan is worse than accepted; nothing of it was sent. `code` is `worse_plan`. */
export class WorsePlanError<Comparison> extends ExecutionError {
  readonly comparison: Comparison;

  constructor(comparison: Comparison, message: string) {
    super('worse_plan', message);
    this.comparison = comparison;
  }
}

/** The user refused in the wallet. `code` is `rejected`. */
export class RejectedError extends ExecutionError {
  constructor(cause: unknown) {
    super('rejected', 'The user refused the request in the wallet.', { cause });
  }
}

/** The wallet or its node failed, or gave an answer that cannot be. `code` is `wallet_failed`. */
export class WalletError extends ExecutionError {
  constructor(message: string, cause?: unknown) {
    super('wallet_failed', message, { cause });
  }
}

/** The next call would revert now; it was not sent. `code` is `would_revert`. */
export class WouldRevertError extends ExecutionError {
  constructor(to: string, cause: unknown) {
    super('would_revert', `The call of ${to} would revert now, so it was not sent: build the plan again.`, { cause });
  }
}

/** A transaction was mined and reverted. `code` is `reverted`. */
export class RevertedError extends ExecutionError {
  readonly hash: string | undefined;
  /** Of a batch: whether a part of it took effect. */
  readonly isPartial: boolean;
  /** Whether collateral that somebody has added to a closed position made it revert: `exact: true` in the request leaves it behind. */
  readonly isBlocked: boolean;

  constructor(hash: string | undefined, isPartial = false, isBlocked = false) {
    const next = isBlocked
      ? ', because somebody has added collateral to the position: build it again with exact: true'
      : ': build it again';
    super('reverted', `${hash ?? 'The batch'} reverted${isPartial ? ' in part: look at the wallet' : next}.`);
    this.hash = hash;
    this.isPartial = isPartial;
    this.isBlocked = isBlocked;
  }
}

/**
 * The mined transactions lack events that the plan was proven to cause, or their amounts are outside of its bounds. `code` is
 * `unexpected_outcome`.
 */
export class UnexpectedOutcomeError<Outcome> extends ExecutionError {
  /** By the events of the transactions that the wallet named. */
  readonly outcome: Outcome;
  /** The missing effects, in words. */
  readonly missing: readonly string[];
  /** The amounts that are outside of their proven bounds. */
  readonly excesses: readonly Excess[];

  constructor(outcome: Outcome, missing: readonly string[], excesses: readonly Excess[] = []) {
    const hint = 'The wallet may have named other transactions: look at the account before you build again.';
    const said = [
      ...(missing.length === 0 ? [] : [`What was mined lacks ${missing.join(', ')}.`]),
      ...excesses.map(
        ({ what, amount, limit, isTooMuch }) =>
          `The ${what} is ${amount.text}, and at ${isTooMuch ? 'most' : 'least'} ${limit.text} was proven.`,
      ),
    ];
    super('unexpected_outcome', `${said.join(' ')} ${hint}`);
    this.outcome = outcome;
    this.missing = missing;
    this.excesses = excesses;
  }
}

/** An amount of an outcome that is outside of the proven bounds of the plan. */
export interface Excess {
  /** Name of the compared amount, e.g. `payment` or `loan of position 3`. */
  readonly what: string;
  readonly amount: VerifiedAmount;
  /** The proven bound that it breaks. */
  readonly limit: VerifiedAmount;
  /** Whether the bound is the most; otherwise it is the least. */
  readonly isTooMuch: boolean;
}

/** Another transaction with the same nonce was mined. `code` is `replaced`. */
export class ReplacedError extends ExecutionError {
  readonly hash: string;
  /** The transaction that was mined instead; `undefined` = not found. */
  readonly replacement: string | undefined;

  constructor(hash: string, replacement: string | undefined) {
    super('replaced', `${hash} was replaced by ${replacement ?? 'another transaction'} of the same account.`);
    this.hash = hash;
    this.replacement = replacement;
  }
}

/**
 * No receipt came in time; the transaction or batch may still be mined, and is not followed any longer. `revocation` takes back
 * the authorization that it may leave then. `code` is `receipt_timeout`.
 */
export class ReceiptTimeoutError extends ExecutionError {
  /** Hash of the transaction, or id of the batch. */
  readonly id: string;
  /** Whether `id` is that of a batch, for `wallet_getCallsStatus`. */
  readonly isBatch: boolean;

  constructor(id: string, timeoutMs: number, isBatch = false) {
    super(
      'receipt_timeout',
      `No receipt of ${id} within ${timeoutMs} ms. It may still be mined: look before you build again.`,
    );
    this.id = id;
    this.isBatch = isBatch;
  }
}
