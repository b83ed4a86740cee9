import { type Address, getAddress, type Hex, isAddress, numberToHex, pad } from 'viem';
import { ChainReadError, toChainReadError } from '../../chain/errors.ts';
import type { Session } from '../../chain/nodes.ts';
import type { Reading } from '../../chain/reading.ts';
import { SimulationRevertedError } from '../errors.ts';
import type { Read } from '../requirements/reads.ts';
import type { BuiltCall, PayToken } from '../types.ts';
import type { BalanceSlot, BalanceSlots } from './balance-slot.ts';
import { decodeRevert } from './revert.ts';

/** A read in the middle of a simulation. */
export interface Observation {
  /** How many of the calls have run by then: 0 = before the first. */
  readonly afterCalls: number;
  readonly read: Read<unknown>;
}

export interface SimulationInput {
  readonly user: Address;
  /** In the order in which they are signed. */
  readonly calls: readonly BuiltCall[];
  /** What the wallet pays with, and what it has; absent when nothing is paid. */
  readonly pays?: { readonly token: PayToken; readonly amount: bigint; readonly balance: bigint };
  readonly nativeBalance: bigint;
  /** What is read on the way. */
  readonly observations?: readonly Observation[];
}

/** An event as the node tells it. */
export interface SimulatedLog {
  readonly address: Address;
  readonly topics: [] | [Hex, ...Hex[]];
  readonly data: Hex;
}

export type Simulation =
  | {
      readonly simulated: true;
      /** Of the calls, reads left out. */
      readonly gasUsed: bigint;
      /** Of the simulated block, unix seconds. */
      readonly timestamp: bigint;
      /** What each call emitted, in the order of the calls. */
      readonly logs: readonly (readonly SimulatedLog[])[];
      /** In the order of the observations; `undefined` where a read reverted or made no sense. */
      readonly answers: readonly unknown[];
    }
  /** The wallet lacks the token and it cannot be lent to it. */
  | { readonly simulated: false };

export interface Simulator {
  /**
   * Execute the calls one after another from the user on the state of the session's block. Missing funds are lent by state override.
   * @throws SimulationRevertedError when their own logic reverts
   * @throws ChainReadError when the node does not answer
   */
  simulate(input: SimulationInput): Promise<Simulation>;
  /** Find the token's balance slot ahead of time; remembered. A node that does not answer finds none. */
  prepare(token: PayToken): Promise<BalanceSlot | undefined>;
}

interface SimulatedCall {
  readonly status?: unknown;
  readonly returnData?: unknown;
  readonly gasUsed?: unknown;
  readonly logs?: unknown;
  readonly error?: { readonly data?: unknown };
}

/** One entry of the simulated block: a call of the user, or a read. */
interface Step {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly read?: Read<unknown>;
}

/** Create the simulator of one session: it runs on the block that the session reads. */
export function createSimulator(session: Session, slots: BalanceSlots): Simulator {
  const prepare = async (token: PayToken): Promise<BalanceSlot | undefined> =>
    token.isNative
      ? undefined
      : session
          .run((reading) => slots.find(reading, token.address))
          .catch((error: unknown) => {
            if (error instanceof ChainReadError) return undefined;
            throw error;
          });

  return {
    prepare,
    async simulate({ user, calls, pays, nativeBalance, observations = [] }) {
      const overrides: Record<Address, { balance?: Hex; stateDiff?: Record<Hex, Hex> }> = {};
      const value = calls.reduce((sum, call) => sum + call.value, 0n);
      if (nativeBalance < value) overrides[user] = { balance: numberToHex(value) };
      if (pays && !pays.token.isNative && pays.balance < pays.amount) {
        const slotOf = await prepare(pays.token);
        if (!slotOf) return { simulated: false };
        const stateDiff = { [slotOf(user)]: pad(numberToHex(pays.amount), { size: 32 }) };
        overrides[pays.token.address] = { stateDiff };
      }
      const steps = interleave(calls, observations);
      const { results, timestamp } = await session.run((reading) => run(reading, user, steps, overrides));
      const logs: (readonly SimulatedLog[])[] = [];
      const answers = new Map<Read<unknown>, unknown>();
      let gasUsed = 0n;
      for (const [i, { read }] of steps.entries()) {
        const result = results[i] ?? {};
        if (read) {
          answers.set(read, answerOf(read, result));
          continue;
        }
        if (result.status !== '0x1') throw reverted(result, logs.length);
        gasUsed += BigInt(hexOf(result.gasUsed) ?? '0x0');
        logs.push(logsOf(result));
      }
      return { simulated: true, gasUsed, timestamp, logs, answers: observations.map(({ read }) => answers.get(read)) };
    },
  };
}

function interleave(calls: readonly BuiltCall[], observations: readonly Observation[]): readonly Step[] {
  const readsAfter = (count: number): Step[] =>
    observations.flatMap(({ afterCalls, read }) =>
      afterCalls === count ? [{ to: read.to, data: read.data, value: 0n, read }] : [],
    );
  return [...readsAfter(0), ...calls.flatMap(({ to, data, value }, i) => [{ to, data, value }, ...readsAfter(i + 1)])];
}

async function run(
  { client, at }: Reading,
  from: Address,
  steps: readonly Step[],
  stateOverrides: object,
): Promise<{ readonly results: readonly SimulatedCall[]; readonly timestamp: bigint }> {
  const block = {
    stateOverrides,
    calls: steps.map(({ to, data, value }) => ({ from, to, data, value: numberToHex(value) })),
  };
  const answer: unknown = await client
    .request({ method: 'eth_simulateV1', params: [{ blockStateCalls: [block] }, at] } as never)
    .catch((error: unknown) => {
      throw toChainReadError(error);
    });
  const [first] = Array.isArray(answer) ? (answer as { readonly calls?: unknown; readonly timestamp?: unknown }[]) : [];
  const timestamp = hexOf(first?.timestamp);
  if (!Array.isArray(first?.calls) || first.calls.length !== steps.length || timestamp === undefined) {
    throw new ChainReadError('malformed');
  }
  return { results: first.calls as SimulatedCall[], timestamp: BigInt(timestamp) };
}

function reverted({ error, returnData }: SimulatedCall, callIndex: number): SimulationRevertedError {
  const { curable, ...revert } = decodeRevert(hexOf(error?.data) ?? hexOf(returnData) ?? '0x');
  return new SimulationRevertedError({ ...revert, callIndex }, curable);
}

function answerOf(read: Read<unknown>, { status, returnData }: SimulatedCall): unknown {
  const data = hexOf(returnData);
  if (status !== '0x1' || data === undefined) return undefined;
  try {
    return read.decode(data);
  } catch {
    return undefined;
  }
}

/** @throws ChainReadError for an event that is none */
function logsOf({ logs }: SimulatedCall): readonly SimulatedLog[] {
  if (!Array.isArray(logs)) throw new ChainReadError('malformed');
  return (logs as { readonly address?: unknown; readonly topics?: unknown; readonly data?: unknown }[]).map(
    ({ address, topics, data }) => {
      const emitter = String(address);
      const isLog = isAddress(emitter, { strict: false }) && Array.isArray(topics) && topics.every(hexOf);
      if (!isLog || typeof data !== 'string') throw new ChainReadError('malformed');
      return { address: getAddress(emitter), topics: topics as [Hex, ...Hex[]], data: data as Hex };
    },
  );
}

function hexOf(value: unknown): Hex | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? (value as Hex) : undefined;
}
