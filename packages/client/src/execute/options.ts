import type { Plan } from '../client.ts';
import { InputError } from '../errors.ts';
import { isRecord } from '../json.ts';
import { countOf, percentageOf, requireFunction, textOf, timeLimitOf, timeOf } from '../option-checks.ts';
import { notify, untilAborted, type Wait, wait } from '../wait.ts';
import type { Comparison } from './compare.ts';
import { requireProofOptions } from './given-request.ts';
import type { PlanProof, ProofOptions } from './proof.ts';
import type { Eip1193Provider } from './wallet.ts';

/** A step of an execution, for a display. */
export type Progress =
  /** The effects of the calls are proven. */
  | { readonly kind: 'proven'; readonly proof: PlanProof }
  | { readonly kind: 'checked'; readonly account: string; readonly calls: number }
  /**
   * Somebody has added collateral to a position that is closed, which made the close revert: it is built again so that what is
   * added stays behind (`exact`).
   */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'rebuilt'; readonly plan: Plan; readonly comparison: Comparison }
  /** The wallet is about to be asked for call `index` of `total`, from 0. */
  | { readonly kind: 'signing'; readonly index: number; readonly total: number; readonly to: string }
  | { readonly kind: 'sent'; readonly hash: string; readonly index: number }
  /** The user raised the fee: the same call has another hash. */
  | { readonly kind: 'repriced'; readonly hash: string; readonly replacement: string }
  | { readonly kind: 'mined'; readonly hash: string; readonly index: number }
  | { readonly kind: 'batch_sent'; readonly id: string }
  /** A call failed after a manager was authorized: the wallet is asked to revoke that. */
  | { readonly kind: 'revoking' };

export interface ExecuteOptions {
  /** Account that signs; default: the account of the viem client, or the first one of the wallet. */
  readonly account?: string | undefined;
  /** `auto`: one batch where the wallet runs batches atomically (EIP-5792), else one transaction for each call. */
  readonly mode?: 'auto' | 'batch' | 'transactions' | undefined;
  /**
   * A node of your own that is read instead of the wallet's; both have to be on the chain of the plan. Without it the proof
   * relies on the reports of the wallet, and `proof.readings` is `wallet`.
   */
  readonly reader?: Eip1193Provider | undefined;
  /** Build the plan again when it has expired, e.g. `client.rebuild`. Without it an expired plan is an error. */
  readonly rebuild?: ((plan: Plan) => Promise<Plan>) | undefined;
  /**
   * Largest loss of a rebuilt plan that is accepted without asking, percent; default 0.1. It is measured against the given
   * plan, or the last one that `acceptWorse` has accepted: several rebuilds do not add up. `Infinity` accepts every loss.
   */
  readonly maxWorsePct?: number | undefined;
  /** Decide on a rebuilt plan that is worse than `maxWorsePct`; default: refuse it. */
  readonly acceptWorse?: ((comparison: Comparison, plan: Plan) => boolean | Promise<boolean>) | undefined;
  /**
   * How every plan is proven before anything of it is sent. Default: against the request that it was built with, and the
   * readings of the node. `none` sends a plan that nothing proves.
   */
  readonly proof?: ProofOptions | 'none' | undefined;
  /**
   * Execute the plan also where another call executes it, or has sent something of it: everything is sent once more. Default: that
   * is an `AlreadyStartedError`.
   */
  readonly startAgain?: boolean | undefined;
  /** Your own check of every plan before anything of it is sent; throw to refuse. */
  readonly check?: ((plan: Plan, account: string) => void | Promise<void>) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Ends every wait at once, also for a wallet that never answers. A sent transaction is not taken back, and a request that the
   * wallet shows may still be signed: `onProgress` then reports it as `sent` or `batch_sent`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Blocks, the one of the transaction included: a whole number; default 1. */
  readonly confirmations?: number | undefined;
  /** Longest wait for one receipt, ms; default 600,000; `Infinity` = no limit. */
  readonly receiptTimeoutMs?: number | undefined;
  /** Pause between reads of a receipt, ms; default 1,000. */
  readonly pollMs?: number | undefined;
  /** Time that quotes still have to be valid when their transaction is signed, ms; default 5,000. */
  readonly minValidityMs?: number | undefined;
  /** Now, ms; default: the clock of this machine. */
  readonly now?: (() => number) | undefined;
  readonly wait?: Wait | undefined;
}

const MODES: readonly unknown[] = ['auto', 'batch', 'transactions'];
const CALLBACKS = ['rebuild', 'acceptWorse', 'check', 'onProgress', 'now', 'wait'] as const;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The options with their defaults, all checked: a wrong one must not fail after something was sent. @throws InputError */
export function settingsOf(options: ExecuteOptions) {
  requireForms(options);
  const { now = Date.now, wait: pause = wait } = options;
  timeOf('now', now());
  return {
    options,
    maxWorsePct: percentageOf('maxWorsePct', options.maxWorsePct ?? 0.1),
    receipts: {
      confirmations: countOf('confirmations', options.confirmations ?? 1),
      timeoutMs: timeLimitOf('receiptTimeoutMs', options.receiptTimeoutMs ?? 600_000),
      pollMs: Math.max(1, timeOf('pollMs', options.pollMs ?? 1_000)),
      // The wait of the caller may not heed the signal.
      wait: (ms: number, signal?: AbortSignal) => untilAborted(() => pause(ms, signal), signal),
      signal: options.signal,
    },
    expiry: { now, minValidityMs: timeOf('minValidityMs', options.minValidityMs ?? 5_000) },
    /** A listener that fails does not stop an execution halfway. */
    report: (progress: Progress): void => notify(options.onProgress, progress),
  };
}

export type Settings = ReturnType<typeof settingsOf>;

/** @throws InputError naming an option that is of another form than its type */
function requireForms(options: ExecuteOptions): void {
  if (!isRecord(options)) throw new InputError(`The options of execute are ${textOf(options)}. Give an object.`);
  const { account, mode = 'auto', proof, reader, signal, startAgain = false } = options;
  if (account !== undefined && !(typeof account === 'string' && ADDRESS.test(account))) {
    throw new InputError(`account is ${textOf(account)}. Give an address of 0x and 40 hexadecimal digits.`);
  }
  if (!MODES.includes(mode)) {
    throw new InputError(`mode is ${textOf(mode)}. Give "auto", "batch" or "transactions".`);
  }
  requireProofOptions(proof);
  if (reader !== undefined && typeof (isRecord(reader) ? reader.request : undefined) !== 'function') {
    throw new InputError(`reader is ${textOf(reader)}. Give a provider with a function request (EIP-1193).`);
  }
  if (typeof startAgain !== 'boolean') {
    throw new InputError(`startAgain is ${textOf(startAgain)}. Give true to send once more what was sent, or false.`);
  }
  if (signal !== undefined && typeof (isRecord(signal) ? signal.addEventListener : undefined) !== 'function') {
    throw new InputError(`signal is ${textOf(signal)}. Give the signal of an AbortController.`);
  }
  for (const name of CALLBACKS) requireFunction(name, options[name]);
}
