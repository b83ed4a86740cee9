import { timeOf } from '../option-checks.ts';
import { ownerOf } from '../plan-origin.ts';
import {
  ExpiredError,
  InsufficientBalanceError,
  InvalidPlanError,
  NoCodeError,
  WalletError,
  WrongChainError,
} from './errors.ts';
import type { CheckedPlan } from './plan.ts';
import { approvedAmount, isPreparation } from './plan.ts';
import type { Rpc } from './wallet.ts';

const BALANCE_OF = '0x70a08231';

/**
 * Check that the wallet, and the node that is read, are on the chain of the plan.
 *
 * @throws WrongChainError, also for a wallet that contradicts itself
 */
export async function checkChain(chainId: number, wallet: Rpc, reader: Rpc): Promise<void> {
  for (const rpc of new Set([wallet, reader])) {
    const found = await rpc.readNumber('eth_chainId');
    const who = rpc === wallet ? 'wallet' : 'reader';
    if (found !== BigInt(chainId)) {
      throw new WrongChainError(chainId, `The plan is for chain ${chainId}, and the ${who} is on chain ${found}.`);
    }
    // Not every wallet has this method; one that answers differently cannot be relied on.
    const version = await rpc.read('net_version').catch(() => undefined);
    if (version !== undefined && /^(0x[0-9a-f]+|\d+)$/i.test(String(version)) && BigInt(String(version)) !== found) {
      throw new WrongChainError(chainId, `The ${who} says chain ${found}, and its node says network ${version}.`);
    }
  }
}

/**
 * Check before a signature that the user has not switched the wallet to another chain or account.
 *
 * @throws WrongChainError | WalletError
 */
export async function checkSigner(chainId: number, account: string, wallet: Rpc): Promise<void> {
  const found = await wallet.readNumber('eth_chainId');
  if (found !== BigInt(chainId)) {
    throw new WrongChainError(chainId, `The plan is for chain ${chainId}, and the wallet is now on ${found}.`);
  }
  const shown = await wallet.accounts();
  if (shown.length > 0 && !shown.some((own) => own.toLowerCase() === account.toLowerCase())) {
    throw new WalletError(`The plan is executed for ${account}, and the wallet now shows ${shown[0]}.`);
  }
}

/** @throws NoCodeError when an address that is called with data has no contract */
export async function checkCode(calls: readonly { readonly to: string }[], reader: Rpc): Promise<void> {
  for (const to of new Set(calls.map((call) => call.to))) {
    const code = await reader.read('eth_getCode', [to, 'latest']);
    if (typeof code !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(code)) {
      throw new WalletError(`The node gave no code for ${to}.`);
    }
    if (code === '0x') throw new NoCodeError(to);
  }
}

/**
 * Check that the account holds the payment of the plan: its native value, and the amounts approved before its first other
 * call. A repayment approves the interest of a minute beside the debt, so its tokens are left to the estimate of the call.
 * `action` is the proven one; without a proof it is the action that the plan states.
 *
 * @throws InsufficientBalanceError
 */
export async function checkBalances(
  { calls, action: stated }: CheckedPlan,
  account: string,
  reader: Rpc,
  action: string = stated,
): Promise<void> {
  const value = calls.reduce((sum, call) => sum + call.value, 0n);
  if (value > 0n) {
    const available = await reader.readNumber('eth_getBalance', [account, 'latest']);
    if (available < value) throw new InsufficientBalanceError(null, value, available);
  }
  if (action === 'repay') return;
  const firstOther = calls.findIndex((call) => !isPreparation(call));
  const needed = new Map<string, bigint>();
  for (const call of calls.slice(0, Math.max(firstOther, 0))) {
    const amount = approvedAmount(call) ?? 0n;
    if (amount > (needed.get(call.to) ?? 0n)) needed.set(call.to, amount);
  }
  for (const [token, amount] of needed) {
    const data = `${BALANCE_OF}${account.slice(2).toLowerCase().padStart(64, '0')}`;
    const available = await reader.readNumber('eth_call', [{ to: token, data }, 'latest']);
    if (available < amount) throw new InsufficientBalanceError(token, amount, available);
  }
}

/**
 * Check whom a plan is for. A call to a smart account by itself may change its owners, so no plan has one.
 *
 * @throws InvalidPlanError when it calls the account itself, or a client of this process built it for another one
 */
export function checkOwner({ source, calls }: CheckedPlan, account: string): void {
  if (calls.some(({ to }) => to.toLowerCase() === account.toLowerCase())) {
    throw new InvalidPlanError(`The plan calls ${account} itself, in its own name.`);
  }
  const owner = ownerOf(source);
  if (owner === undefined || owner.toLowerCase() === account.toLowerCase()) return;
  throw new InvalidPlanError(`The plan was built for ${owner}, and ${account} would execute it: build it again.`);
}

export interface Expiry {
  /** Now, ms. */
  readonly now: () => number;
  /** Time that has to be left, ms. */
  readonly minValidityMs: number;
}

/** Whether the quotes of a plan have lapsed, by the later one of this machine's clock and that of the chain. */
export async function isExpired(
  { expiresAt }: CheckedPlan,
  reader: Rpc,
  { now, minValidityMs }: Expiry,
): Promise<boolean> {
  if (expiresAt === undefined) return false;
  const block = await reader.read('eth_getBlockByNumber', ['latest', false]);
  const time = typeof block === 'object' && block !== null && 'timestamp' in block ? String(block.timestamp) : '0x0';
  const blockMs = /^0x[0-9a-f]{1,12}$/i.test(time) ? Number(time) * 1_000 : 0;
  return hasLapsed(expiresAt, Math.max(timeOf('now', now()), blockMs), minValidityMs);
}

/** The quotes of the service are valid for a minute. */
const MOST_VALIDITY_MS = 24 * 3_600_000;

/** @throws InvalidPlanError for an end that no quotes have */
export function hasLapsed(expiresAt: string, nowMs: number, minValidityMs = 0): boolean {
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs <= MOST_VALIDITY_MS) return leftMs <= minValidityMs;
  throw new InvalidPlanError(
    `meta.expiresAt of the plan is ${expiresAt}, more than a day from now: no quotes are valid for so long. Check the clock of this machine.`,
  );
}

/** @throws ExpiredError */
export function refuseExpired({ expiresAt = 'unknown' }: CheckedPlan): never {
  throw new ExpiredError(expiresAt);
}
