import { erc20Abi } from '../../abi/index.ts';
import { selectorsOf } from '../../verify/calldata.ts';
import { type Allowance, ExecutionError, ReplacedError, RevertedError } from '../errors.ts';
import { approvalOf } from '../plan.ts';
import type { AskedCall, SequenceContext } from '../transaction.ts';
import { READ_MS } from './revocation.ts';

const selectors = selectorsOf(erc20Abi);
const word = (hex: string) => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');

/**
 * Record on the failure of an execution which allowances of its approvals are left, or may still be mined. One that the node does
 * not tell about counts as left.
 */
export async function recordAllowances(error: unknown, chainId: number, context: SequenceContext): Promise<void> {
  const isSettled = error instanceof RevertedError || error instanceof ReplacedError;
  const last = new Map(
    context.asked.flatMap((asked) => {
      const approval = approvalOf(asked.call);
      const token = asked.call.to.toLowerCase();
      return approval === undefined
        ? []
        : [[`${token} ${approval.spender}`, { ...asked, ...approval, token }] as const];
    }),
  );
  const found = await Promise.all([...last.values()].map((approval) => leftOf(approval, isSettled, chainId, context)));
  const allowances = found.flatMap((allowance) => allowance ?? []);
  // The reason of a signal may be anything.
  if (allowances.length === 0 || typeof error !== 'object' || error === null) return;
  Reflect.set(error, 'allowances', allowances);
  if (error instanceof ExecutionError) error.message += allowances.map(sentenceOf).join('');
}

interface AskedApproval extends AskedCall {
  readonly token: string;
  readonly spender: string;
  readonly amount: bigint;
}

async function leftOf(
  { token, spender, amount, isMined }: AskedApproval,
  isSettled: boolean,
  chainId: number,
  { account, connect }: SequenceContext,
): Promise<Allowance | undefined> {
  const check = { to: token, data: `${selectors.get('allowance')}${word(account)}${word(spender)}` };
  const { reader } = connect(AbortSignal.timeout(READ_MS));
  const left = await reader.readNumber('eth_call', [check, 'latest']).catch(() => undefined);
  const isPending = !isMined && !isSettled && left !== amount;
  // Without a receipt of its own an approval may be of a batch that has failed as a whole: another amount is from before.
  if (!isPending && left !== undefined && (isMined ? left === 0n : left !== amount)) return undefined;
  const call = { from: account, to: token, data: `${selectors.get('approve')}${word(spender)}${word('')}` };
  return { chainId, token, spender, amount: isMined ? (left ?? amount) : amount, isPending, call, check };
}

function sentenceOf({ amount, token, spender, isPending }: Allowance): string {
  return ` An allowance of ${amount} base units of ${token} for ${spender} ${isPending ? 'may still be mined' : 'is left'}: \`allowances\` has the call that takes it back.`;
}
