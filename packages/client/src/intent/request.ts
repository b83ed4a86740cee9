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
  include: ['list of names'],
};

const DECIMAL = /^\d{1,60}(\.\d{1,60})?$/;
const isAbove = (least: number) => (value: unknown) =>
  (typeof value === 'number' || DECIMAL.test(String(value))) && Number(value) > least;
const ABOVE_ZERO = [isAbove(0), 'a decimal above 0'] as const;

/** The values that some fields take, beside their type. */
const VALUES: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, form: string]>> = {
  amount: ABOVE_ZERO,
  minAmountOut: ABOVE_ZERO,
  desiredLtv: ABOVE_ZERO,
  stockLtvPct: ABOVE_ZERO,
  slippage: [isAbove(0), 'a ratio above 0'],
  leverage: [isAbove(1), 'a number above 1'],
  maxSwapLossPct: [(value) => Number(value) >= 0, 'a percentage from 0 on'],
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
    if (value === undefined || value === null) continue;
    if (!types.includes(typeOf(value))) {
      throw new InputError(`${name}.input.${field} is ${textOf(value)}. Give a ${types.join(' or ')}.`);
    }
    const [fits, form] = VALUES[field] ?? [];
    if (fits?.(value) === false) throw new InputError(`${name}.input.${field} is ${textOf(value)}. Give ${form}.`);
  }
  const other = Object.keys(input).find((field) => !Object.hasOwn(TYPES, field));
  if (other !== undefined) {
    throw new InputError(`${name}.input has the field ${other}, which no row takes. Give the body of ${row}.`);
  }
}

/** Numbers are finite, and lists are of whole numbers from 0 on, or of names. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.every((item) => Number.isSafeInteger(item) && item >= 0)) return 'list';
    return value.every((item) => typeof item === 'string') ? 'list of names' : 'other list';
  }
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
  /** Parts of the answer on request, which say nothing about the plan. */
  readonly include?: readonly string[] | undefined;
}
