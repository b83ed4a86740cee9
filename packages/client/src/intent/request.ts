import { InputError } from '../errors.ts';
import { isRecord } from '../json.ts';
import { textOf } from '../option-checks.ts';
import type { RowInput } from '../rows.ts';

/** A request for a plan, as the body of the row that builds it. */
export type BuildRequest =
  | { readonly row: 'leverageBuild'; readonly input: RowInput<'leverageBuild'> }
  | { readonly row: 'manageBuild'; readonly input: RowInput<'manageBuild'> }
  | { readonly row: 'equityDepositBuild'; readonly input: RowInput<'equityDepositBuild'> }
  | { readonly row: 'equityExitBuild'; readonly input: RowInput<'equityExitBuild'> };

/** The rows that build plans. */
const ROWS: readonly unknown[] = ['leverageBuild', 'manageBuild', 'equityDepositBuild', 'equityExitBuild'];

/** The types of the fields, by the interface of the service. */
const TYPES: Readonly<Record<keyof RequestFields, readonly string[]>> = {
  action: ['string'],
  strategyId: ['string'],
  chainId: ['number'],
  userAddress: ['string'],
  positionId: ['string'],
  id: ['number'],
  payToken: ['string'],
  amount: ['string'],
  full: ['boolean'],
  exact: ['boolean'],
  leverage: ['number', 'string'],
  desiredLtv: ['string'],
  stockLtvPct: ['string'],
  yieldPositionIds: ['list'],
  slippage: ['number'],
  maxSwapLossPct: ['number'],
  minAmountOut: ['string'],
  allowUnsimulated: ['boolean'],
};

/** Check the form of a request that a caller gives. @throws InputError naming the part of another form */
export function requireRequest(name: string, request: unknown): void {
  if (!isRecord(request)) {
    throw new InputError(
      `${name} is ${textOf(request)}. Give { row, input }: the row that built the plan, and its body.`,
    );
  }
  const { row, input } = request;
  if (!ROWS.includes(row)) throw new InputError(`${name}.row is ${textOf(row)}. Give one of ${ROWS.join(', ')}.`);
  if (!isRecord(input)) throw new InputError(`${name}.input is ${textOf(input)}. Give the body of ${row}.`);
  for (const [field, types] of Object.entries(TYPES)) {
    const value = input[field];
    // null is the same as a field that is left out.
    if (value === undefined || value === null || types.includes(typeOf(value))) continue;
    throw new InputError(`${name}.input.${field} is ${textOf(value)}. Give a ${types.join(' or ')}.`);
  }
}

/** Numbers are finite, and lists are of whole numbers from 0 on. */
function typeOf(value: unknown): string {
  if (Array.isArray(value))
    return value.every((item) => Number.isSafeInteger(item) && item >= 0) ? 'list' : 'other list';
  return typeof value === 'number' && !Number.isFinite(value) ? 'infinity' : typeof value;
}

/** The fields of a request without those that are null. */
export function fieldsOf({ input }: BuildRequest): RequestFields {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

/** The fields of all bodies. A caller of JavaScript may leave out fields that the types require. */
export interface RequestFields {
  readonly action?: string | undefined;
  readonly strategyId?: string | undefined;
  readonly chainId?: number | undefined;
  readonly userAddress?: string | undefined;
  readonly positionId?: string | undefined;
  readonly id?: number | undefined;
  readonly payToken?: string | undefined;
  readonly amount?: string | undefined;
  readonly full?: boolean | undefined;
  readonly exact?: boolean | undefined;
  readonly leverage?: number | string | null | undefined;
  readonly desiredLtv?: string | null | undefined;
  readonly stockLtvPct?: string | undefined;
  readonly yieldPositionIds?: readonly number[] | undefined;
  readonly slippage?: number | undefined;
  readonly maxSwapLossPct?: number | undefined;
  readonly minAmountOut?: string | undefined;
  /** Of a rebuild only: a simulation proves nothing. */
  readonly allowUnsimulated?: boolean | undefined;
}
