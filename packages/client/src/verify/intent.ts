import { VerificationError } from './errors.ts';
import { requireKnownFields } from './intent-fields.ts';
import { MOST_DEPOSIT_FEE, MOST_YIELD_FEE } from './numbers.ts';
import { isFields, quoted } from './plan.ts';
import type { Intent } from './types.ts';

/* An intent of another kind than its type would be compared, and limit nothing. */

const POSITION = ['price', 'collateral', 'debt'];

/** Amounts of an action that have to be there, by their path. */
const NEEDED: Readonly<Record<Intent['action'], readonly string[]>> = {
  open_leverage: ['pay.amount', 'state.price'],
  increase_leverage: POSITION.map((name) => `state.${name}`),
  add_collateral: ['pay.amount'],
  remove_collateral: ['amount'],
  borrow: ['amount'],
  repay: ['pay.amount'],
  close: POSITION.map((name) => `state.${name}`),
  equity_deposit: ['amount', 'state.stock.price', 'state.yield.price'],
  equity_exit: POSITION.map((name) => `state.stock.${name}`),
  revoke_authorization: [],
  manual_exit: ['state.collateral', 'state.borrowShares', 'state.debt'],
};

const OF_POSITION: readonly string[] = [
  'increase_leverage',
  'add_collateral',
  'remove_collateral',
  'borrow',
  'repay',
  'close',
];

/** @throws VerificationError for an intent that is none */
export function requireIntent(intent: unknown): asserts intent is Intent {
  if (!isFields(intent)) {
    throw new VerificationError('intent', `The intent is ${quoted(intent)}, and an object was expected.`);
  }
  const { action } = intent;
  if (typeof action !== 'string' || !Object.hasOwn(NEEDED, action)) {
    const known = Object.keys(NEEDED).join(', ');
    throw new VerificationError('intent', `action of the intent is ${quoted(action)}, and it is one of ${known}.`);
  }
  requireKnownFields(intent, action as Intent['action']);
  for (const path of NEEDED[action as Intent['action']]) {
    requireAmount(intent, path, path.endsWith('price') ? 1n : 0n);
  }
  for (const path of GIVEN) {
    if (valueAt(intent, path) !== undefined) requireAmount(intent, path, path === 'amount' ? 1n : 0n);
  }
  for (const name of idsOf(action)) requireText(intent[name], name);
  if (intent.reallocation !== undefined) requireVaults(valueAt(intent, 'reallocation.vaults'));
  if (OF_POSITION.includes(action)) requireIndex(intent.positionId, 'positionId');
  for (const name of ['full', 'isExact', 'exact']) requireFlag(intent[name], name);
  if (action === 'equity_deposit') requireOptional(intent, ['state.stock', 'state.yield']);
  if (action === 'equity_exit') requireLoops(intent);
}

/** The fields of an action that name its market or vault. */
function idsOf(action: string): readonly string[] {
  if (action === 'revoke_authorization') return [];
  return [action.startsWith('equity') ? 'vaultId' : 'marketId'];
}

function requireText(value: unknown, name: string): void {
  if (typeof value === 'string') return;
  throw new VerificationError('intent', `${name} of the intent is ${quoted(value)}, and text was expected.`);
}

function requireFlag(value: unknown, name: string): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new VerificationError('intent', `${name} of the intent is ${quoted(value)}, and true or false was expected.`);
}

function requireVaults(vaults: unknown): void {
  if (Array.isArray(vaults) && vaults.every((vault) => typeof vault === 'string')) return;
  const message = `reallocation.vaults of the intent is ${quoted(vaults)}, and a list of addresses was expected.`;
  throw new VerificationError('intent', message);
}

function requireLoops(intent: object): void {
  const ids = valueAt(intent, 'positionIds');
  if (!Array.isArray(ids) || new Set(ids).size !== ids.length) {
    throw new VerificationError(
      'intent',
      `positionIds of the intent is ${quoted(ids)}, and different indexes were expected.`,
    );
  }
  for (const id of ids) {
    requireIndex(id, 'positionIds');
    for (const name of POSITION) requireAmount(intent, `state.loops.${id}.${name}`, name === 'price' ? 1n : 0n);
  }
  requireOptional(intent, ['state.stock', ...ids.map((id) => `state.loops.${id}`)]);
}

const feesAt = (state: string) => [`${state}.depositFee`, `${state}.yieldFee`];
const basisAt = (state: string) => [`${state}.basis`, `${state}.maxLtv`];

/** Amounts of several actions that may be left out. */
const GIVEN = [
  ...['pay.worth', 'amount', 'minAmountOut', 'reallocation.maxFee', 'state.debt'],
  ...[...feesAt('state'), ...basisAt('state')],
];

function requireOptional(intent: object, states: readonly string[]): void {
  for (const path of states.flatMap((state) => [...feesAt(state), ...basisAt(state)])) {
    if (valueAt(intent, path) !== undefined) requireAmount(intent, path, 0n);
  }
}

function requireIndex(value: unknown, name: string): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return;
  throw new VerificationError('intent', `${name} of the intent is ${quoted(value)}, and no index of a position.`);
}

/** An amount is a bigint: text and numbers are compared in ways of their own. */
function requireAmount(intent: object, path: string, least: bigint): void {
  const value = valueAt(intent, path);
  if (typeof value !== 'bigint' || value < least) {
    const text =
      typeof value === 'string' || typeof value === 'number' ? `the ${typeof value} ${quoted(value)}` : quoted(value);
    throw new VerificationError(
      'intent',
      `${path} of the intent is ${text}, and a bigint of at least ${least} was expected.`,
    );
  }
  const most = path.endsWith('.depositFee')
    ? MOST_DEPOSIT_FEE
    : path.endsWith('.yieldFee')
      ? MOST_YIELD_FEE
      : undefined;
  if (most === undefined || value <= most) return;
  throw new VerificationError('intent', `${path} of the intent is ${value}, and the contract allows at most ${most}.`);
}

const hasOwn = (value: unknown, name: string): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

function valueAt(value: unknown, path: string): unknown {
  let inner = value;
  for (const name of path.split('.')) inner = hasOwn(inner, name) ? inner[name] : undefined;
  return inner;
}
