import { decodeFunctionResult, type Hex, hexToBytes } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { WALLET_EXECUTOR_CODE } from '../../abi/generated/wallet-executor.ts';
import { walletExecutorAbi } from '../../abi/wallet-executor.ts';
import type { Reading } from '../../chain/reading.ts';
import { ChainReadError, toChainReadError } from '../../chain/rpc/errors.ts';
import type { Address } from '../../shared/ids.ts';
import type { Overrides, Step, StepsRun } from './steps.ts';

/** Gas of a transaction before its first opcode, and per byte of its calldata. */
const TRANSACTION_GAS = 21_000n;
const [ZERO_BYTE_GAS, BYTE_GAS] = [4n, 16n];

/**
 * Run steps by one `eth_call`, with the executor's code at the wallet's own address. They run within one transaction: state that
 * one has touched is cheaper for the next, so the gas is somewhat less than that of transactions of their own.
 * @throws ChainReadError
 */
export async function runByExecutor(
  { client, at }: Reading,
  from: Address,
  steps: readonly Step[],
  overrides: Overrides,
): Promise<StepsRun> {
  const places = new Map(steps.map(({ observation }, i) => [observation?.read, i + 1] as const));
  const data = encodeFunctionData({
    abi: walletExecutorAbi,
    functionName: 'run',
    args: [
      steps.map((step) => {
        const { observation } = step;
        const tail = observation?.tail;
        return {
          to: step.to,
          value: step.value,
          data: step.data,
          isRead: observation !== undefined,
          tailOf: BigInt((tail && places.get(tail.of)) ?? 0),
          tailWord: BigInt(tail?.word ?? 0),
        };
      }),
    ],
  });
  const withCode = { ...overrides, [from]: { ...overrides[from], code: WALLET_EXECUTOR_CODE } };
  const answer = await client
    .request({ method: 'eth_call', params: [{ from, to: from, data }, at as Hex, withCode] } as never)
    .catch((error: unknown) => {
      throw toChainReadError(error);
    });
  const [timestamp, results] = decoded(answer as Hex);
  if (results.length !== steps.length) throw new ChainReadError('malformed');
  return {
    timestamp,
    results: results.map(({ ok, data: returned, gasUsed }, i) => ({
      ok,
      data: returned,
      gasUsed: gasUsed + intrinsicGas(steps[i]?.data ?? '0x'),
    })),
  };
}

function decoded(data: Hex) {
  try {
    return decodeFunctionResult({ abi: walletExecutorAbi, functionName: 'run', data });
  } catch {
    throw new ChainReadError('malformed');
  }
}

function intrinsicGas(data: Hex): bigint {
  return hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? ZERO_BYTE_GAS : BYTE_GAS), TRANSACTION_GAS);
}
