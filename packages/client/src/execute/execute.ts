import type { Plan } from '../client.ts';
import { canBatch, receiptOfBatch, sendBatch, waitForBatch } from './batch.ts';
import { checkBalances, checkChain, checkCode, checkOwner, checkSigner, isExpired, refuseExpired } from './checks.ts';
import { comparePlans } from './compare.ts';
import { ExecutionError, InvalidPlanError, WalletError, WorsePlanError } from './errors.ts';
import { type ExecuteOptions, type Settings, settingsOf } from './options.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type CheckedPlan, checkPlan } from './plan.ts';
import type { Receipt } from './receipts.ts';
import { type SequenceContext, sendInOrder } from './sequence.ts';
import { createRpc, ownAccountOf, type Wallet } from './wallet.ts';

export interface Execution {
  /** The plan that was executed: the given one, or the last rebuilt one. */
  readonly plan: Plan;
  readonly account: string;
  readonly mode: 'batch' | 'transactions';
  readonly receipts: readonly Receipt[];
  /** The result, by the events of the receipts. */
  readonly outcome: Outcome;
}

/** Rebuilds of one execution: a plan that expires again and again has another fault, such as a wrong clock. */
const MAX_REBUILDS = 3;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Check a plan against the wallet and the chain, sign and send it, wait for its receipts and return the result.
 *
 * @throws ExecutionError (one class for each cause), or the reason of the signal
 */
export async function execute(plan: Plan, wallet: Wallet, options: ExecuteOptions = {}): Promise<Execution> {
  const settings = settingsOf(options);
  const rpc = createRpc(wallet);
  const reader = options.reader === undefined ? rpc : createRpc(options.reader);
  let current = checkPlan(plan);
  options.signal?.throwIfAborted();
  const account = await accountOf(wallet, options.account);
  const context: SequenceContext = { wallet: rpc, reader, account, settings, sent: [], mined: [] };
  try {
    await checkChain(current.chainId, rpc, reader);
    let isBatch: boolean | undefined;
    for (let rebuilds = 0; ; ) {
      if (await isExpired(current, reader, settings.expiry)) {
        if (rebuilds === MAX_REBUILDS) refuseExpired(current);
        current = await rebuilt(current, settings);
        rebuilds += 1;
        continue;
      }
      checkOwner(current, account);
      await options.check?.(current.source, account);
      await checkCode(current.calls, reader);
      await checkBalances(current, account, reader);
      isBatch ??= await usesBatch(current, context);
      settings.report({ kind: 'checked', account, calls: current.calls.length });
      const ended = isBatch ? await runBatch(current, context) : await sendInOrder(current, context);
      if (ended === 'expired') continue;
      const { mined } = context;
      const outcome = outcomeOf(mined, account, current.chainId);
      return { plan: current.source, account, mode: isBatch ? 'batch' : 'transactions', receipts: mined, outcome };
    }
  } catch (error) {
    if (error instanceof ExecutionError) {
      error.sent = [...context.sent];
      error.isRevoked ??= context.isRevoked;
    }
    throw error;
  }
}

async function accountOf(wallet: Wallet, given: string | undefined): Promise<string> {
  const own = ownAccountOf(wallet);
  if (given !== undefined && own !== undefined && given.toLowerCase() !== own.toLowerCase()) {
    throw new WalletError(`"account" is ${given}, and the viem client signs for ${own}.`);
  }
  const account = given ?? own ?? firstOf(await createRpc(wallet).request('eth_accounts'));
  if (typeof account === 'string' && ADDRESS.test(account)) return account;
  throw new WalletError('The wallet shows no account: connect it (eth_requestAccounts), or pass "account".');
}

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/** Build a plan again and judge the new one. @throws ExpiredError | WorsePlanError | InvalidPlanError */
async function rebuilt(old: CheckedPlan, { options, report }: Settings): Promise<CheckedPlan> {
  if (options.rebuild === undefined) return refuseExpired(old);
  const plan = await options.rebuild(old.source);
  const fresh = checkPlan(plan);
  const comparison = comparePlans(old, fresh);
  report({ kind: 'rebuilt', plan, comparison });
  if (comparison.worsePct <= (options.maxWorsePct ?? 0.1)) return fresh;
  if (await options.acceptWorse?.(comparison, plan)) return fresh;
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

async function runBatch(plan: CheckedPlan, context: SequenceContext): Promise<'done' | 'expired'> {
  const { wallet, reader, account, settings, sent, mined } = context;
  const [first] = plan.calls;
  if (first === undefined) throw new InvalidPlanError('The plan has no calls.');
  settings.options.signal?.throwIfAborted();
  // The own check of the caller may have taken a while.
  if (await isExpired(plan, reader, settings.expiry)) return 'expired';
  const block = await reader.readNumber('eth_blockNumber');
  await checkSigner(plan.chainId, account, wallet);
  settings.report({ kind: 'signing', index: 0, total: plan.calls.length, to: first.to });
  const id = await sendBatch(wallet, account, plan);
  settings.report({ kind: 'batch_sent', id });
  sent.push(id);
  for (const hash of new Set(await waitForBatch(wallet, { id, chainId: plan.chainId }, settings.receipts))) {
    const receipt = await receiptOfBatch(reader, { hash, block }, settings.receipts);
    mined.push(receipt);
    settings.report({ kind: 'mined', hash, index: plan.calls.length - 1 });
  }
  if (mined.length === 0) throw new WalletError(`The wallet says that batch ${id} is done, and names no transaction.`);
  return 'done';
}
