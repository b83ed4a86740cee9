import type { Address } from 'viem';
import { VerificationError } from './errors.ts';
import type { VerifiablePlan } from './types.ts';

/** A call of a plan, its form checked; addresses and data in lower case. */
export interface ReadCall {
  readonly index: number;
  readonly to: Address;
  readonly data: string;
  readonly value: bigint;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that an answer adds to a call; no wallet takes them for a part of a transaction. */
const BESIDE_CALLS = ['intent', '__typename'];
const CALL_FIELDS: readonly string[] = ['to', 'data', 'value', ...BESIDE_CALLS];
const SEND_CALLS_FIELDS: readonly string[] = ['version', 'chainId', 'from', 'atomicRequired', 'calls'];
/** The version whose fields those are. */
const SEND_CALLS_VERSION = '2.0.0';
const NATURAL = /^(0|[1-9][0-9]{0,77})$/;
const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/;

/** List the calls of a plan in the order of signing. @throws VerificationError for another shape */
export function callsOf(plan: VerifiablePlan, owner: Address): readonly ReadCall[] {
  const { approvals, tx, calls } = plan;
  if ((tx === undefined) === (calls === undefined) || (calls !== undefined && approvals !== undefined)) {
    throw new VerificationError('shape', 'A plan has either tx (with approvals) or calls.');
  }
  const all = calls === undefined ? [...listOf(approvals ?? [], 'approvals'), tx] : listOf(calls, 'calls');
  const read = all.map(readCall);
  if (read.length === 0) throw new VerificationError('shape', 'The plan has no call.');
  for (const sendCalls of sendCallsOf(plan)) requireSame(plan.chainId, sendCalls, read, owner);
  return read;
}

/**
 * The plan as an object, without a field that replaces its prototype when it is copied. @throws VerificationError
 */
export function requirePlan(plan: unknown): void {
  if (!isFields(plan)) throw new VerificationError('shape', `The plan is ${quoted(plan)}, and an object was expected.`);
  if (Object.hasOwn(plan, '__proto__')) {
    throw new VerificationError('shape', 'The plan has the field __proto__, which changes the content of a copy.');
  }
}

/**
 * Prove that nothing of a plan lets a wallet send its calls one by one. @throws VerificationError
 */
export function requireAtomic(plan: VerifiablePlan): void {
  const message = (name: string, value: unknown) =>
    `${name} is ${quoted(value)}, and a plan that authorizes a contract for the time of a call has to be atomic.`;
  if (plan.atomic !== undefined && plan.atomic !== true) {
    throw new VerificationError('authorization', message('atomic of the plan', plan.atomic));
  }
  for (const { atomicRequired } of sendCallsOf(plan)) {
    if (atomicRequired !== true) {
      throw new VerificationError('authorization', message('atomicRequired of sendCalls', atomicRequired));
    }
  }
}

/** Read an address. @throws VerificationError */
export function addressOf(value: unknown, name: string): Address {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Address;
  throw new VerificationError('intent', `${name} of the intent is no address: ${quoted(value)}.`);
}

/** A value of unknown kind in a message, short. */
export function quoted(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listOf(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return Array.from(value);
  throw new VerificationError('shape', `${name} of the plan is ${quoted(value)}, and a list was expected.`);
}

function readCall(call: unknown, index: number): ReadCall {
  if (!isFields(call)) throw new VerificationError('shape', `it is ${quoted(call)}, which is no call.`, index);
  const { to, data, value } = call;
  requireFields(call, CALL_FIELDS, (message) => new VerificationError('shape', `it has ${message}`, index));
  if (typeof to !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(to)) {
    throw new VerificationError('shape', `it goes to ${quoted(to)}, which is no address.`, index);
  }
  if (typeof data !== 'string' || data.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(data)) {
    throw new VerificationError('shape', 'its data is not hexadecimal.', index);
  }
  return { index, to: to.toLowerCase() as Address, data: data.toLowerCase(), value: weiOf(value, index) };
}

/** Refuse unknown fields: a wallet may use them (`input`, `gasPrice`, `authorizationList`), and they are not verified. */
function requireFields(given: object, known: readonly string[], error: (message: string) => VerificationError): void {
  const unknown = Object.getOwnPropertyNames(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw error(`the field ${quoted(unknown)}, which a wallet may obey. Known are ${known.join(', ')}.`);
}

/** Only forms that all readers take for the same number. */
function weiOf(value: unknown, index: number): bigint {
  if (value === undefined) return 0n;
  if (typeof value === 'bigint' && value >= 0n) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === 'string' && (NATURAL.test(value) || QUANTITY.test(value))) return BigInt(value);
  throw new VerificationError('shape', `its value ${quoted(value)} is no amount of wei.`, index);
}

/** `sendCalls` of a plan, and that of its `meta`, where the REST interface has it. @throws VerificationError */
function sendCallsOf({ sendCalls, meta }: VerifiablePlan): readonly Fields[] {
  const given = [sendCalls, isFields(meta) ? meta.sendCalls : undefined];
  return given
    .filter((one) => one !== undefined && one !== null)
    .map((one) => {
      if (isFields(one)) return one;
      throw new VerificationError('shape', `sendCalls of the plan is ${quoted(one)}, and an object was expected.`);
    });
}

/** An EIP-5792 wallet is given `sendCalls`: they have to be the same calls. */
function requireSame(chainId: number, sendCalls: Fields, calls: readonly ReadCall[], owner: Address): void {
  const { version, chainId: hexId, from, atomicRequired, calls: sent } = sendCalls;
  const differs = (what: string) =>
    new VerificationError('shape', `sendCalls differs from the calls of the plan: ${what}.`);
  requireFields(sendCalls, SEND_CALLS_FIELDS, (message) => differs(`it has ${message.replace(/\.$/, '')}`));
  if (version !== SEND_CALLS_VERSION) throw differs(`its version is ${quoted(version)}`);
  if (typeof atomicRequired !== 'boolean') throw differs(`its atomicRequired is ${quoted(atomicRequired)}`);
  if (hexId !== `0x${chainId.toString(16)}`) throw differs(`its chainId is ${quoted(hexId)}`);
  if (typeof from !== 'string' || from.toLowerCase() !== owner) throw differs(`it is sent from ${quoted(from)}`);
  if (!Array.isArray(sent) || sent.length !== calls.length) throw differs('it has another number of calls');
  for (const [i, call] of calls.entries()) {
    const given: unknown = sent[i];
    if (!isFields(given)) throw differs(`its call ${i + 1} is ${quoted(given)}`);
    requireFields(given, CALL_FIELDS, (message) => differs(`its call ${i + 1} has ${message.replace(/\.$/, '')}`));
    // A wallet reads it as hexadecimal: "10" would be another number to some.
    if (typeof given.value !== 'string' || !QUANTITY.test(given.value)) {
      throw differs(
        `the value of its call ${i + 1} is ${quoted(given.value)}, and 0x-prefixed hexadecimal was expected`,
      );
    }
    const other = readCall(given, i);
    if (other.to !== call.to || other.data !== call.data || other.value !== call.value) {
      throw differs(`its call ${i + 1} is another`);
    }
  }
}
