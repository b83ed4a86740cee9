import type { Address, Hex } from '../../shared/ids.ts';
import type { Read } from '../read/reads.ts';
import type { BuiltCall } from '../types.ts';

/** A read in the middle of a simulation. */
export interface StepObservation {
  /** How many of the calls have run by then: 0 = before the first. */
  readonly afterCalls: number;
  readonly read: Read<unknown>;
  /** A word of an earlier read's answer that is appended to the data: counted from the answer's end, from 1. */
  readonly tail?: { readonly of: Read<unknown>; readonly word: number } | undefined;
}

/** An event as the node reports it. */
export interface SimulatedLog {
  readonly address: Address;
  readonly topics: [] | [Hex, ...Hex[]];
  readonly data: Hex;
}

/** One entry of a simulation: a call of the wallet, or a read. */
export interface Step {
  readonly to: Address;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  readonly observation?: StepObservation | undefined;
}

export interface StepResult {
  readonly ok: boolean;
  /** Data that it returned, or reverted with. */
  readonly data: Hex;
  readonly gasUsed: bigint;
  /** Absent where the way of simulating reports no events. */
  readonly logs?: readonly SimulatedLog[] | undefined;
}

/** Results of the steps, up to a call that reverted. */
export interface StepsRun {
  readonly results: readonly StepResult[];
  /** Of the block that they ran in, unix seconds. */
  readonly timestamp: bigint;
}

/** State that is lent for the time of a simulation, as nodes take it. */
export type Overrides = Readonly<
  Record<
    Address,
    {
      readonly balance?: Hex | undefined;
      readonly code?: Hex | undefined;
      readonly stateDiff?: Readonly<Record<Hex, Hex>> | undefined;
    }
  >
>;

/** Put the reads between the calls that they follow. */
export function interleave(calls: readonly BuiltCall[], observations: readonly StepObservation[]): readonly Step[] {
  const readsAfter = (count: number): Step[] =>
    observations.flatMap((observation) => {
      const { to, data } = observation.read;
      return observation.afterCalls === count ? [{ to, data, value: 0n, observation }] : [];
    });
  return [...readsAfter(0), ...calls.flatMap(({ to, data, value }, i) => [{ to, data, value }, ...readsAfter(i + 1)])];
}

/** Hex data of a node; `undefined` where it is none. */
export function hexOf(value: unknown): Hex | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? (value as Hex) : undefined;
}
