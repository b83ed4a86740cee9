import type { Plan } from '../client.ts';
import { keepOrigin, withExact, withoutClosed } from '../plan-origin.ts';
import { untilAborted } from '../wait.ts';
import { canBatch } from './batch.ts';
import { runBatch } from './batch-run.ts';
import { checkBalances, checkChain, checkCode, checkOwner, isExpired, refuseExpired } from './checks.ts';
import { comparePlans } from './compare.ts';
import { ExecutionError, RevertedError, UnexpectedOutcomeError, WalletError, WorsePlanError } from './errors.ts';
import { missingIn } from './expected.ts';
import { checkGivenRequest } from './given-request.ts';
import { recordAllowances } from './grants/allowances.ts';
import { excessesIn, type Holders, holdersOf, type OutcomeContext } from './limits.ts';
import { type ExecuteOptions, type Settings, settingsOf } from './options.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type CheckedPlan, checkPlan } from './plan.ts';
import { closedBy, type PlanProof, type Proven, provenIfItIs, provenPlan } from './proof.ts';
import { isBlocked, type Receipt } from './receipts.ts';
import { sendInOrder } from './sequence.ts';
import { end, newRun, start } from './started.ts';
import type { SequenceContext } from './transaction.ts';
import { createRpc, ownAccountOf, type Rpc, type Wallet } from './wallet.ts';

export interface Execution {
  /** The plan that was executed: the given one, or the last rebuilt one. */
  readonly plan: Plan;
  readonly account: string;
  /** The proven effects of the plan; `undefined` = it was sent without a proof. */
  readonly proof: PlanProof | undefined;
  readonly mode: 'batch' | 'transactions';
  readonly receipts: readonly Receipt[];
  /** The result, by the events of the receipts. */
  readonly outcome: Outcome;
}

/** Rebuilds of one execution: a plan that expires again and again has another fault, such as a wrong clock. */
const MAX_REBUILDS = 3;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Prove a plan, check it against the wallet and the chain, sign and send it, wait for its receipts and return the result.
 *
 * @throws ExecutionError (one class for each cause), InputError for an option that is not allowed, before anything is asked, or the reason of the signal
 */
export async function execute(plan: Plan, wallet: Wallet, options: ExecuteOptions = {}): Promise<Execution> {
  const settings = settingsOf(options);
  const { signal } = options;
  const rpc = createRpc(wallet, signal);
  const reader = options.reader === undefined ? rpc : createRpc(options.reader, signal);
  const node = { rpc: reader, isOfWallet: options.reader === undefined };
  let current = checkPlan(plan);
  /** The plan that the caller has seen: rebuilt ones are compared with it. */
  let seen = current;
  /** A price that has moved since may be too far from these plans to prove them again. */
  const kept = new Map<CheckedPlan, Proven>();
  const account = await accountOf(wallet, rpc, options.account, (known) =>
    checkGivenRequest(current.content, options.proof ?? {}, known),
  );
  const connect = (signal: AbortSignal) => ({
    wallet: createRpc(wallet, signal),
    reader: createRpc(options.reader ?? wallet, signal),
  });
  const context: SequenceContext = {
    wallet: rpc,
    reader,
    connect,
    account,
    settings,
    sent: [],
    mined: [],
    asked: [],
    executed: [],
  };
  const run = newRun(context.sent);
  const enter = (plan: CheckedPlan) => start(plan, account, run, options.startAgain === true);
  enter(current);
  try {
    await checkChain(current.chainId, rpc, reader);
    let isBatch: boolean | undefined;
    let isBlockedNow = false;
    for (let rebuilds = 0; ; ) {
      if (isBlockedNow || (await isExpired(current, reader, settings.expiry))) {
        isBlockedNow = false;
        if (rebuilds === MAX_REBUILDS) refuseExpired(current);
        const proven = async (plan: CheckedPlan) =>
          (await untilAborted(() => provenIfItIs(plan, account, node, options.proof), signal)) ?? kept.get(plan);
        const next = await rebuilt(current, seen, settings, proven, closedBy(context.executed), enter);
        current = next.plan;
        if (next.isAccepted) seen = current;
        rebuilds += 1;
        continue;
      }
      checkOwner(current, account);
      const { proof: how = {} } = options;
      const proven =
        how === 'none' ? undefined : await untilAborted(() => provenPlan(current.content, account, node, how), signal);
      if (proven !== undefined) kept.set(current, proven);
      const proof = proven?.proof;
      if (proof !== undefined) settings.report({ kind: 'proven', proof });
      const chains = how === 'none' ? undefined : how.chains;
      const holders: Holders = proven === undefined ? new Map() : await holdersOf(proven, account, reader, chains);
      await untilAborted(() => options.check?.(current.source, account), signal);
      await checkCode(current.calls, reader);
      await checkBalances(current, account, reader, proof?.action);
      isBatch ??= await usesBatch(current, context);
      settings.report({ kind: 'checked', account, calls: current.calls.length });
      const ended = await (isBatch ? runBatch : sendInOrder)(current, context).catch(async (error: unknown) => {
        if (!(await isBlocked(error, current, context))) throw error;
        const exact = options.rebuild && withExact(current.source);
        if (!exact || rebuilds === MAX_REBUILDS) {
          throw error instanceof RevertedError ? new RevertedError(error.hash, error.isPartial, true) : error;
        }
        current = { ...current, source: exact };
        isBlockedNow = true;
        settings.report({ kind: 'blocked' });
        return 'expired' as const;
      });
      if (ended === 'expired') continue;
      const { mined } = context;
      const outcome = outcomeOf(mined, account, current.chainId, [...holders.values()]);
      if (proven !== undefined) requireExpected(outcome, proven, { account, holders, chains });
      return {
        plan: current.source,
        account,
        proof,
        mode: isBatch ? 'batch' : 'transactions',
        receipts: mined,
        outcome,
      };
    }
  } catch (error) {
    await recordAllowances(error, current.chainId, context);
    if (error instanceof ExecutionError) {
      error.sent = [...context.sent];
      error.isRevoked ??= context.isRevoked;
      error.revocation ??= context.revocation;
    }
    throw error;
  } finally {
    end(run, context);
  }
}

/** @throws UnexpectedOutcomeError for mined transactions without the proven effects */
function requireExpected(outcome: Outcome, proven: Proven, context: OutcomeContext): void {
  const missing = missingIn(outcome, proven);
  const excesses = excessesIn(outcome, proven, context);
  if (missing.length > 0 || excesses.length > 0) throw new UnexpectedOutcomeError(outcome, missing, excesses);
}

/** `check` is called before the wallet is asked, with the account as far as it is known then, and with the one of the wallet. */
async function accountOf(
  wallet: Wallet,
  rpc: Rpc,
  given: string | undefined,
  check: (account: string | undefined) => void,
): Promise<string> {
  rpc.signal?.throwIfAborted();
  const own = ownAccountOf(wallet);
  if (given !== undefined && own !== undefined && given.toLowerCase() !== own.toLowerCase()) {
    throw new WalletError(`"account" is ${given}, and the viem client signs for ${own}.`);
  }
  const known = given ?? own;
  check(known);
  const account = known ?? firstOf(await rpc.read('eth_accounts'));
  if (typeof account === 'string' && ADDRESS.test(account)) {
    check(account);
    return account;
  }
  throw new WalletError('The wallet shows no account: connect it (eth_requestAccounts), or pass "account".');
}

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/**
 * Build a plan again and judge the new one by the plan that the caller has seen. `closed` are the positions that its calls have
 * closed already. `onBuilt` may refuse the new one.
 *
 * @throws ExpiredError | WorsePlanError | InvalidPlanError | AlreadyStartedError
 */
async function rebuilt(
  old: CheckedPlan,
  seen: CheckedPlan,
  { options, maxWorsePct, report }: Settings,
  provenOf: (plan: CheckedPlan) => Promise<Proven | undefined>,
  closed: readonly number[],
  onBuilt: (plan: CheckedPlan) => void,
): Promise<{ readonly plan: CheckedPlan; readonly isAccepted: boolean }> {
  const { rebuild, acceptWorse, signal } = options;
  if (rebuild === undefined) return refuseExpired(old);
  const left = withoutClosed(old.source, closed, closedBy(old.calls));
  const plan = await untilAborted(() => rebuild(left), signal);
  onBuilt(checkPlan(plan));
  // The rebuilt plan answers the same request, also when it comes from a callback of the caller.
  keepOrigin(left, plan);
  const fresh = checkPlan(plan);
  const proven = options.proof === 'none' ? undefined : { before: await provenOf(seen), after: await provenOf(fresh) };
  const comparison = comparePlans(seen, fresh, proven, closed);
  report({ kind: 'rebuilt', plan, comparison });
  if (comparison.worsePct <= maxWorsePct) return { plan: fresh, isAccepted: false };
  if (await untilAborted(() => acceptWorse?.(comparison, plan), signal)) return { plan: fresh, isAccepted: true };
  const reasons = comparison.worse.map(({ what, before, after }) => `${what} ${after} (before: ${before})`);
  throw new WorsePlanError(comparison, `The rebuilt plan is worse than accepted: ${reasons.join(', ')}.`);
}

async function usesBatch(plan: CheckedPlan, { wallet, account, settings }: SequenceContext): Promise<boolean> {
  const { mode = 'auto' } = settings.options;
  if (mode === 'transactions' || (mode === 'auto' && plan.calls.length === 1)) return false;
  const can = await canBatch(wallet, account, plan.chainId);
  if (mode === 'batch' && !can) throw new WalletError('The wallet runs no atomic batches on this chain (EIP-5792).');
  return can;
}
