import type { Plan } from '../client.ts';
import { type Wait, wait } from '../wait.ts';
import { timeOf } from './checks.ts';
import type { Comparison } from './compare.ts';
import type { PlanProof, ProofOptions } from './proof.ts';
import type { Eip1193Provider } from './wallet.ts';

/** A step of an execution, for a display. */
export type Progress =
  /** The effects of the calls are proven. */
  | { readonly kind: 'proven'; readonly proof: PlanProof }
  | { readonly kind: 'checked'; readonly account: string; readonly calls: number }
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
   * plan, or the last one that `acceptWorse` has accepted: several rebuilds do not add up.
   */
  readonly maxWorsePct?: number | undefined;
  /** Decide on a rebuilt plan that is worse than `maxWorsePct`; default: refuse it. */
  readonly acceptWorse?: ((comparison: Comparison, plan: Plan) => boolean | Promise<boolean>) | undefined;
  /**
   * How every plan is proven before anything of it is sent. Default: against the request that it was built with, and the
   * readings of the node. `none` sends a plan that nothing proves.
   */
  readonly proof?: ProofOptions | 'none' | undefined;
  /** Your own check of every plan before anything of it is sent; throw to refuse. */
  readonly check?: ((plan: Plan, account: string) => void | Promise<void>) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Ends every wait at once, also for a wallet that never answers. A sent transaction is not taken back, and a request that the
   * wallet shows may still be signed: `onProgress` then reports it as `sent`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Blocks, the one of the transaction included; default 1. */
  readonly confirmations?: number | undefined;
  /** Longest wait for one receipt, ms; default 600,000. */
  readonly receiptTimeoutMs?: number | undefined;
  /** Pause between reads of a receipt, ms; default 1,000. */
  readonly pollMs?: number | undefined;
  /** Time that quotes still have to be valid when their transaction is signed, ms; default 5,000. */
  readonly minValidityMs?: number | undefined;
  /** Now, ms; default: the clock of this machine. */
  readonly now?: (() => number) | undefined;
  readonly wait?: Wait | undefined;
}

/** The options with their defaults. @throws InputError */
export function settingsOf(options: ExecuteOptions) {
  return {
    options,
    receipts: {
      confirmations: options.confirmations ?? 1,
      timeoutMs: options.receiptTimeoutMs ?? 600_000,
      pollMs: Math.max(1, options.pollMs ?? 1_000),
      wait: options.wait ?? wait,
      signal: options.signal,
    },
    expiry: { now: options.now ?? Date.now, minValidityMs: timeOf('minValidityMs', options.minValidityMs ?? 5_000) },
    /** A listener that fails does not stop an execution halfway. */
    report(progress: Progress): void {
      try {
        options.onProgress?.(progress);
      } catch {}
    },
  };
}

export type Settings = ReturnType<typeof settingsOf>;
