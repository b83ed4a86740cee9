import { getAddress, type Hex, isAddress, numberToHex } from 'viem';
import type { Reading } from '../../chain/reading.ts';
import { ChainReadError, toChainReadError } from '../../chain/rpc/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { hexOf, type Overrides, type SimulatedLog, type Step, type StepResult, type StepsRun } from './steps.ts';

interface SimulatedCall {
  readonly status?: unknown;
  readonly returnData?: unknown;
  readonly gasUsed?: unknown;
  readonly logs?: unknown;
  readonly error?: { readonly data?: unknown } | undefined;
}

/** Run steps by `eth_simulateV1`, each as a transaction of one simulated block. @throws ChainReadError */
export async function runBySimulateV1(
  { client, at }: Reading,
  from: Address,
  steps: readonly Step[],
  stateOverrides: Overrides,
): Promise<StepsRun> {
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
  const calls = first.calls as readonly SimulatedCall[];
  return { results: calls.map((call, i) => resultOf(call, steps[i])), timestamp: BigInt(timestamp) };
}

function resultOf({ status, returnData, gasUsed, logs, error }: SimulatedCall, step: Step | undefined): StepResult {
  const ok = status === '0x1';
  const data = (ok ? undefined : hexOf(error?.data)) ?? hexOf(returnData) ?? '0x';
  const isCall = step?.observation === undefined;
  return { ok, data, gasUsed: BigInt(hexOf(gasUsed) ?? '0x0'), logs: ok && isCall ? logsOf(logs) : undefined };
}

/** @throws ChainReadError for an event that is none */
function logsOf(logs: unknown): readonly SimulatedLog[] {
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
