import type { Plan } from '../client.ts';
import { InputError } from '../errors.ts';
import { checkOwner, hasLapsed, refuseExpired } from '../execute/checks.ts';
import { type CheckedPlan, checkPlan } from '../execute/plan.ts';
import type { PlanCall } from '../execute/wallet.ts';
import { keccak256 } from '../hash/keccak.ts';
import { timeOf } from '../option-checks.ts';

/** MultiSendCallOnly 1.4.1 of Safe: it can only call, never delegate. */
export const MULTI_SEND_CALL_ONLY = '0x9641d764fc13c8B624c04430C7356C1C7C8102e2';

export interface SafeOptions {
  /** The Safe that owns the position: the plan was built with it as `userAddress`. */
  readonly safe: string;
  /** Contract that runs several calls; default: MultiSendCallOnly 1.4.1 at its address on most chains. */
  readonly multiSend?: string | undefined;
  /** Time of creation in the file, ms; default: now. A plan that has expired by then, or by now, is refused. */
  readonly createdAt?: number | undefined;
  /** Now, ms; default: the clock of this machine. */
  readonly now?: (() => number) | undefined;
}

/** A file for the app "Transaction Builder" of Safe. */
export interface TransactionBuilderFile {
  readonly version: '1.0';
  readonly chainId: string;
  readonly createdAt: number;
  readonly meta: {
    readonly name: string;
    readonly description: string;
    readonly txBuilderVersion: string;
    readonly createdFromSafeAddress: string;
    readonly createdFromOwnerAddress: string;
    readonly checksum?: string;
  };
  readonly transactions: readonly {
    readonly to: string;
    readonly value: string;
    readonly data: string;
    readonly contractMethod: null;
    readonly contractInputsValues: null;
  }[];
}

export interface SafeTransaction {
  readonly chainId: number;
  readonly safe: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
  /** 1 = delegate call, of MultiSend; 0 = a single call. */
  readonly operation: 0 | 1;
  /** End of the quotes; the minimum outputs hold after it, and the transaction may revert. */
  readonly expiresAt: string | undefined;
  readonly transactionBuilder: TransactionBuilderFile;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const MULTI_SEND = '0x8d80ff0a';

/**
 * Make one Safe transaction of a plan: fields for `execTransaction`, and the same calls as a file for Safe's app.
 *
 * @throws InputError | InvalidPlanError | ExpiredError
 */
export function safeTransaction(plan: Plan, options: SafeOptions): SafeTransaction {
  return transactionOf(checkPlan(plan), options);
}

/** As `safeTransaction`, of a checked plan. */
export function transactionOf(checked: CheckedPlan, options: SafeOptions): SafeTransaction {
  const { safe, multiSend = MULTI_SEND_CALL_ONLY } = options;
  const nowMs = timeOf('now', (options.now ?? Date.now)());
  const createdAt = timeOf('createdAt', options.createdAt ?? nowMs);
  if (!ADDRESS.test(safe) || !ADDRESS.test(multiSend)) throw new InputError('safe and multiSend are addresses.');
  checkOwner(checked, safe);
  const { calls, chainId, expiresAt, action } = checked;
  if (expiresAt !== undefined && hasLapsed(expiresAt, Math.max(nowMs, createdAt))) refuseExpired(checked);
  const [first] = calls;
  const shared = { chainId, safe, expiresAt, transactionBuilder: builderFile(calls, chainId, action, safe, createdAt) };
  if (first !== undefined && calls.length === 1) {
    return { ...shared, to: first.to, value: String(first.value), data: first.data, operation: 0 };
  }
  return { ...shared, to: multiSend, value: '0', data: multiSendData(calls), operation: 1 };
}

const word = (value: number | bigint) => value.toString(16).padStart(64, '0');

/** `multiSend(bytes)`: each call packed as operation, address, value, length and data. */
function multiSendData(calls: readonly PlanCall[]): string {
  const packed = calls
    .map(({ to, data, value }) => `00${to.slice(2)}${word(value)}${word((data.length - 2) / 2)}${data.slice(2)}`)
    .join('')
    .toLowerCase();
  const bytes = packed.length / 2;
  return `${MULTI_SEND}${word(32)}${word(bytes)}${packed.padEnd(Math.ceil(bytes / 32) * 64, '0')}`;
}

function builderFile(
  calls: readonly PlanCall[],
  chainId: number,
  action: string,
  safe: string,
  createdAt: number,
): TransactionBuilderFile {
  const file: TransactionBuilderFile = {
    version: '1.0',
    chainId: String(chainId),
    createdAt,
    meta: {
      name: `spiral-gateway ${action}`,
      description: '',
      txBuilderVersion: '1.16.5',
      createdFromSafeAddress: safe,
      createdFromOwnerAddress: '',
    },
    transactions: calls.map(({ to, data, value }) => ({
      to,
      value: String(value),
      data,
      contractMethod: null,
      contractInputsValues: null,
    })),
  };
  return { ...file, meta: { ...file.meta, checksum: checksumOf(file) } };
}

/** The checksum of a file, which Safe's app compares when it is loaded. The name of the batch is not part of it. */
export function checksumOf(file: TransactionBuilderFile): string {
  const { checksum: _, ...meta } = file.meta;
  return keccak256(serialized({ ...file, meta: { ...meta, name: null } }));
}

/** The text that Safe's app hashes: of an object its sorted names, then its values in that order. */
function serialized(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(serialized).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields).sort();
  return `{${JSON.stringify(names)}${names.map((name) => `${serialized(fields[name])},`).join('')}}`;
}
