import { type Hex, numberToHex, pad } from 'viem';
import type { Reading } from '../../chain/reading.ts';
import type { NodeCapabilities } from '../../chain/rpc/capabilities.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { Session } from '../../chain/rpc/session.ts';
import type { Address } from '../../shared/ids.ts';
import { SimulationRevertedError } from '../errors.ts';
import type { Read } from '../read/reads.ts';
import type { BuiltCall, PayToken } from '../types.ts';
import type { BalanceSlot, BalanceSlots } from './balance-slot.ts';
import { runByExecutor } from './by-executor.ts';
import { runBySimulateV1 } from './by-simulate-v1.ts';
import { foldMeasures, planMeasures } from './measure.ts';
import { type Movements, movementsByLogs, type PositionSlots, planPositions, type Watched } from './movements.ts';
import { decodeRevert } from './revert.ts';
import {
  interleave,
  type Overrides,
  type Step,
  type StepObservation,
  type StepResult,
  type StepsRun,
} from './steps.ts';

export type { StepObservation as Observation } from './steps.ts';

export interface SimulationInput {
  readonly user: Address;
  /** In the order in which they are signed. */
  readonly calls: readonly BuiltCall[];
  /** The wallet's payment and balance; absent when nothing is paid. */
  readonly pays?: { readonly token: PayToken; readonly amount: bigint; readonly balance: bigint } | undefined;
  readonly nativeBalance: bigint;
  /** Reads between the calls. */
  readonly observations?: readonly StepObservation[] | undefined;
  /** Movements to measure; absent = none. */
  readonly watched?: Watched | undefined;
  /** State that differs from that of the block, of contracts that lend nothing to the wallet; absent = none. */
  readonly overrides?: Overrides | undefined;
}

/** Ways to simulate calls: by the node's own simulation, or by code at the wallet's address. */
export type SimulationWay = 'simulate_v1' | 'executor';

/** Calls as a node executed them. */
export interface Simulated {
  readonly simulated: true;
  readonly way: SimulationWay;
  /** Of the calls, reads left out. */
  readonly gasUsed: bigint;
  /** Of the simulated block, unix seconds. */
  readonly timestamp: bigint;
  /** The measured movements. */
  readonly movements: Movements;
  /** In the order of the observations; `undefined` where a read reverted or could not be decoded. */
  readonly answers: readonly unknown[];
}

export type Simulation =
  | Simulated
  /** `token`: the wallet lacks it and it cannot be lent to it. `node`: no node of the chain can simulate. */
  | { readonly simulated: false; readonly lacking: 'token' | 'node' };

export interface Simulator {
  /**
   * Execute the calls one after another from the user on the state of the session's block: by `eth_simulateV1` where its probe
   * passed, else by the executor at the wallet's address. Missing funds are lent by state override.
   * @throws SimulationRevertedError when their own logic reverts
   * @throws ChainReadError when the node does not answer
   */
  simulate(input: SimulationInput): Promise<Simulation>;
  /** Find the token's balance slot ahead of time; remembered. A node that does not answer finds none. */
  prepare(token: PayToken): Promise<BalanceSlot | undefined>;
}

/** Whether a node can try out calls in one of the two ways. */
export function canSimulate({ simulateV1, stateOverrides }: NodeCapabilities): boolean {
  return simulateV1 === 'works' || stateOverrides === 'works';
}

/** Create the simulator of one session: it runs on the block that the session reads. */
export function createSimulator(
  session: Session,
  slots: BalanceSlots,
  onSimulated: (way: SimulationWay | 'none') => void = () => {},
): Simulator {
  const prepare = async (token: PayToken): Promise<BalanceSlot | undefined> =>
    token.isNative
      ? undefined
      : session
          .run((reading) => slots.find(reading, token.address))
          .catch((error: unknown) => {
            if (error instanceof ChainReadError) return undefined;
            throw error;
          });
  /** `undefined` = the token cannot be lent. */
  const lent = async ({ user, calls, pays, nativeBalance, overrides: given }: SimulationInput) => {
    const overrides: Record<Address, Overrides[Address]> = { ...given };
    const value = calls.reduce((sum, call) => sum + call.value, 0n);
    if (nativeBalance < value) overrides[user] = { balance: numberToHex(value) };
    if (pays && !pays.token.isNative && pays.balance < pays.amount) {
      const slotOf = await prepare(pays.token);
      if (!slotOf) return undefined;
      const stateDiff: Record<Hex, Hex> = { [slotOf(user)]: pad(numberToHex(pays.amount), { size: 32 }) };
      overrides[pays.token.address] = { stateDiff };
    }
    return overrides;
  };

  return {
    prepare,
    async simulate(input) {
      const can = canSimulate(await session.run((reading) => reading.capabilities()));
      const overrides = can ? await lent(input) : {};
      if (!overrides) return { simulated: false, lacking: 'token' };
      const done = can ? await session.run((reading) => runInTurn(reading, input, overrides, onSimulated)) : undefined;
      if (!done) onSimulated('none');
      return done ?? { simulated: false, lacking: 'node' };
    },
  };
}

/** Try the ways in their order. `undefined` = the node has neither. @throws SimulationRevertedError, ChainReadError */
async function runInTurn(
  reading: Reading,
  input: SimulationInput,
  overrides: Overrides,
  onSimulated: (way: SimulationWay) => void,
): Promise<Simulation | undefined> {
  /** Counted with every outcome: a revert is an answer too. */
  const by = (way: SimulationWay) => {
    onSimulated(way);
    return simulateBy(way, reading, input, overrides);
  };
  const can = await reading.capabilities();
  let failure: ChainReadError | undefined;
  if (can.simulateV1 === 'works') {
    try {
      return await by('simulate_v1');
    } catch (error) {
      if (!isMethods(error) || can.stateOverrides !== 'works') throw error;
      failure = error;
    }
  }
  if (can.stateOverrides !== 'works') return undefined;
  const done = await by('executor');
  // The same calls pass another way: the method is to blame, not they.
  if (failure) reading.distrust('simulateV1');
  return done;
}

/** A node that answered, and could not do it, as opposed to one that did not answer. */
function isMethods(error: unknown): error is ChainReadError {
  return error instanceof ChainReadError && (error.reason === 'server_error' || error.reason === 'malformed');
}

async function simulateBy(
  way: SimulationWay,
  reading: Reading,
  { user, calls, observations = [], watched }: SimulationInput,
  overrides: Overrides,
): Promise<Simulation> {
  const positions = watched?.opens && planPositions(watched);
  const measures = way === 'executor' && watched ? planMeasures(watched, positions ?? NO_READ, calls.length) : [];
  const all: readonly StepObservation[] = [
    ...observations,
    ...(positions ? [{ afterCalls: calls.length, read: positions }] : []),
    ...measures,
  ];
  const steps = interleave(calls, all);
  const run = way === 'executor' ? runByExecutor : runBySimulateV1;
  const { results, timestamp } = await run(reading, user, steps, overrides);
  const answers = answersOf(steps, results);
  const done = callsOf(steps, results);
  const opened = positions && (answers.get(positions) as PositionSlots | undefined);
  const movements = (): Movements => {
    if (!watched) return { fills: [], repaid: [] };
    if (way === 'simulate_v1') {
      return movementsByLogs(
        watched,
        done.map(({ logs = [] }) => logs),
        opened,
      );
    }
    const measured = measures.map(({ read }) => answers.get(read));
    return foldMeasures(watched, measured, opened, timestamp);
  };
  return {
    simulated: true,
    way,
    gasUsed: done.reduce((sum, { gasUsed }) => sum + gasUsed, 0n),
    timestamp,
    movements: movements(),
    answers: observations.map(({ read }) => answers.get(read)),
  };
}

/** Stands for a read that is not made. */
const NO_READ: Read<unknown> = {
  to: '0x0000000000000000000000000000000000000000',
  data: '0x',
  decode: () => undefined,
};

function answersOf(steps: readonly Step[], results: StepsRun['results']): ReadonlyMap<Read<unknown>, unknown> {
  return new Map(
    steps.flatMap(({ observation }, i) => {
      const result = results[i];
      return observation && result ? [[observation.read, answerOf(observation.read, result)] as const] : [];
    }),
  );
}

/** The results of the calls alone. @throws SimulationRevertedError of the first that reverted */
function callsOf(steps: readonly Step[], results: StepsRun['results']): readonly StepResult[] {
  const done: StepResult[] = [];
  for (const [i, { observation }] of steps.entries()) {
    const result = results[i];
    if (observation || !result) continue;
    if (!result.ok) {
      const { curable, ...revert } = decodeRevert(result.data);
      throw new SimulationRevertedError({ ...revert, callIndex: done.length }, curable);
    }
    done.push(result);
  }
  return done;
}

function answerOf(read: Read<unknown>, { ok, data }: StepResult): unknown {
  if (!ok) return undefined;
  try {
    return read.decode(data);
  } catch {
    return undefined;
  }
}
