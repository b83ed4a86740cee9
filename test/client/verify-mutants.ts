import { type Abi, type AbiFunction, decodeAbiParameters, type Hex, toFunctionSelector } from 'viem';
import {
  equityRouterAbi,
  erc20Abi,
  flashLeverageAbi,
  flashLeverageRouterAbi,
  morphoBlueAbi,
  userProxyAbi,
} from '../../packages/client/src/abi/index.ts';
import type { PlannedCall, VerifiablePlan } from '../../packages/client/src/verify/index.ts';

/** Of every function that a plan calls. */
export const planAbi: Abi = [
  ...erc20Abi,
  ...flashLeverageAbi,
  ...flashLeverageRouterAbi,
  ...equityRouterAbi,
  ...morphoBlueAbi,
  ...userProxyAbi,
];

/** One byte of one call that differs. */
export interface Mutant {
  readonly plan: VerifiablePlan;
  readonly callIndex: number;
  /** Place in the calldata. */
  readonly byte: number;
}

/** The calls of a plan in the order of signing. */
export const callsIn = ({ approvals = [], tx, calls = [] }: VerifiablePlan): readonly PlannedCall[] => [
  ...approvals,
  ...(tx ? [tx] : []),
  ...calls,
];

/** The plan with another call in a place. */
export function withCall(plan: VerifiablePlan, callIndex: number, changed: PlannedCall): VerifiablePlan {
  const before = plan.approvals?.length ?? 0;
  const replaced = (list: readonly PlannedCall[], index: number) =>
    list.map((call, i) => (i === index ? changed : call));
  if (callIndex < before) return { ...plan, approvals: replaced(plan.approvals ?? [], callIndex) };
  return plan.tx ? { ...plan, tx: changed } : { ...plan, calls: replaced(plan.calls ?? [], callIndex - before) };
}

/** Values that a byte is xored with, never 0. */
export type Masks = (byte: number, callIndex: number) => readonly number[];

/** Change every byte of every call, each to the values that its masks give. */
export function* mutantsOf(plan: VerifiablePlan, masksOf: Masks): Generator<Mutant> {
  for (const [callIndex, call] of callsIn(plan).entries()) {
    const { data } = call;
    for (let byte = 0; byte < data.length / 2 - 1; byte++) {
      const at = 2 + byte * 2;
      const value = Number.parseInt(data.slice(at, at + 2), 16);
      for (const mask of masksOf(byte, callIndex)) {
        const changed = (value ^ mask).toString(16).padStart(2, '0');
        const mutated = `${data.slice(0, at)}${changed}${data.slice(at + 2)}`;
        yield { plan: withCall(plan, callIndex, { ...call, data: mutated }), callIndex, byte };
      }
    }
  }
}

/** Selectors are hashes: computed for each of many thousand calls, they took more time than the decoding. */
const functionsBySelector: ReadonlyMap<string, AbiFunction> = new Map(
  planAbi.flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item] as const] : [])),
);

/** The arguments of a call by their paths, as viem decodes it. */
export function argumentsOf(plan: VerifiablePlan, callIndex: number): ReadonlyMap<string, unknown> {
  const data = callsIn(plan)[callIndex]?.data as Hex;
  const item = functionsBySelector.get(data.slice(0, 10));
  if (!item) throw new Error(`no function of the plans has the selector ${data.slice(0, 10)}`);
  const args = decodeAbiParameters(item.inputs, `0x${data.slice(10)}`);
  const named = Object.fromEntries(args.map((value, i) => [item.inputs[i]?.name, value]));
  return new Map(flatten(item.name, named));
}

/** Name the argument in which a mutant differs from the arguments of its original. */
export function changedArgument(
  before: ReadonlyMap<string, unknown>,
  { plan, callIndex }: Mutant,
): { path: string; from: unknown; to: unknown } {
  const after = argumentsOf(plan, callIndex);
  const changed = [...before].filter(([path, value]) => value !== after.get(path));
  const [first] = changed;
  if (changed.length !== 1 || !first || before.size !== after.size) throw new Error('more than one argument changed');
  return { path: first[0].replaceAll(/\.\d+/g, ''), from: first[1], to: after.get(first[0]) };
}

function flatten(path: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(`${path}.${key}`, inner));
}
