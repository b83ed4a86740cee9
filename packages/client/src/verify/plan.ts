import type { Address } from 'viem';
import { VerificationError } from './errors.ts';
import type { PlannedCall, VerifiablePlan } from './types.ts';

/** A call of a plan, its form checked; addresses and data in lower case. */
export interface ReadCall {
  readonly index: number;
  readonly to: Address;
  readonly data: string;
  readonly value: bigint;
}

/** List the calls of a plan in the order of signing. @throws VerificationError for another shape */
export function callsOf(plan: VerifiablePlan, owner: Address): readonly ReadCall[] {
  const { approvals = [], tx, calls } = plan;
  if ((tx === undefined) === (calls === undefined)) {
    throw new VerificationError('shape', 'A plan has either tx (with approvals) or calls.');
  }
  const all = [...approvals, ...(tx ? [tx] : []), ...(calls ?? [])];
  const read = all.map(readCall);
  if (read.length === 0) throw new VerificationError('shape', 'The plan has no call.');
  if (plan.sendCalls !== undefined && plan.sendCalls !== null) requireSame(plan, read, owner);
  return read;
}

/** Read an address. @throws VerificationError */
export function addressOf(value: unknown, name: string): Address {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Address;
  throw new VerificationError('intent', `${name} of the intent is no address: ${String(value)}.`);
}

function readCall({ to, data, value }: PlannedCall, index: number): ReadCall {
  if (typeof to !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(to)) {
    throw new VerificationError('shape', `it goes to ${String(to)}, which is no address.`, index);
  }
  if (typeof data !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(data)) {
    throw new VerificationError('shape', 'its data is not hexadecimal.', index);
  }
  return { index, to: to.toLowerCase() as Address, data: data.toLowerCase(), value: weiOf(value, index) };
}

function weiOf(value: PlannedCall['value'], index: number): bigint {
  if (value === undefined || value === null) return 0n;
  const text = String(value);
  if (/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) return BigInt(text);
  throw new VerificationError('shape', `its value ${text} is no amount of wei.`, index);
}

interface SendCalls {
  readonly chainId?: unknown;
  readonly from?: unknown;
  readonly calls?: readonly PlannedCall[];
}

/** `sendCalls` is what an EIP-5792 wallet is given: it has to be the same calls. */
function requireSame({ chainId, sendCalls }: VerifiablePlan, calls: readonly ReadCall[], owner: Address): void {
  const { chainId: hexId, from, calls: sent } = sendCalls as SendCalls;
  const differs = (what: string) =>
    new VerificationError('shape', `sendCalls differs from the calls of the plan: ${what}.`);
  if (hexId !== `0x${chainId.toString(16)}`) throw differs(`its chainId is ${String(hexId)}`);
  if (String(from).toLowerCase() !== owner) throw differs(`it is sent from ${String(from)}`);
  if (!Array.isArray(sent) || sent.length !== calls.length) throw differs('it has another number of calls');
  for (const [i, call] of calls.entries()) {
    const other = readCall(sent[i] as PlannedCall, i);
    if (other.to !== call.to || other.data !== call.data || other.value !== call.value) {
      throw differs(`its call ${i + 1} is another`);
    }
  }
}
