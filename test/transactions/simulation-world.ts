import { type AbiParameter, encodeAbiParameters, numberToHex, pad } from 'viem';
import { erc20Abi } from '../../src/abi/erc20.ts';
import type { Reading } from '../../src/chain/reading.ts';
import type { Session } from '../../src/chain/rpc/session.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { readOf } from '../../src/transactions/read/reads.ts';
import { createBalanceSlots } from '../../src/transactions/simulate/balance-slot.ts';
import { createSimulator, type SimulationInput } from '../../src/transactions/simulate/simulate.ts';
import type { BuiltCall, PayToken } from '../../src/transactions/types.ts';

export const USER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const TOKEN: Address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const OTHER: Address = '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8';
export const token: PayToken = { address: TOKEN, symbol: 'USDC', decimals: 6, isNative: false, resetsApproval: false };

export interface Node {
  readonly simulateV1?: 'works' | 'missing';
  readonly stateOverrides?: 'works' | 'missing';
  /** Answers of `eth_simulateV1` and of calls of the executor; an error is thrown. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Answers the read of a balance with overridden slots; `undefined` = no answer. */
  readonly balance?: (stateDiff: Readonly<Record<Hex, Hex>>) => unknown;
}

/** A simulator on one node, with all that it is asked. */
export function simulatorOn({ simulateV1 = 'works', stateOverrides = 'works', answers = {}, balance }: Node) {
  const asked: { readonly method: string; readonly params: readonly never[] }[] = [];
  const [ways, distrusted]: [string[], string[]] = [[], []];
  const reading = {
    at: '0x10',
    capabilities: async () => ({ simulateV1, stateOverrides }),
    distrust: (method: string) => distrusted.push(method),
    client: {
      request: async ({ method, params }: { readonly method: string; readonly params: readonly never[] }) => {
        asked.push({ method, params });
        const [call, , overrides] = params as readonly { readonly to?: Address }[];
        const isProbe = method === 'eth_call' && call?.to !== USER;
        const answer = isProbe
          ? balance?.(
              (overrides as Record<Address, { stateDiff: Record<Hex, Hex> }>)[call?.to ?? TOKEN]?.stateDiff ?? {},
            )
          : answers[method];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  } as unknown as Reading;
  const session = { run: <T>(work: (on: Reading) => Promise<T>) => work(reading) } as unknown as Session;
  const slots = createBalanceSlots();
  const simulator = createSimulator(session, slots, (way) => ways.push(way));
  return { simulator, slots, reading, asked, ways, distrusted };
}

export const call = (data: Hex, value = 0n): BuiltCall => ({ to: OTHER, data, value, action: { type: 'x', args: {} } });
export const decimals = readOf(TOKEN, erc20Abi, 'decimals', []);
export const symbol = readOf(TOKEN, erc20Abi, 'symbol', []);
export const word = (value: bigint | number) => pad(numberToHex(value), { size: 32 });
export const input = (more: Partial<SimulationInput> = {}): SimulationInput => ({
  user: USER,
  calls: [call('0xaa', 3n), call('0xbb', 4n)],
  nativeBalance: 7n,
  observations: [
    { afterCalls: 0, read: decimals },
    { afterCalls: 2, read: symbol },
    { afterCalls: 1, read: decimals },
  ],
  ...more,
});
export const text = encodeAbiParameters([{ type: 'string' }] as const satisfies readonly AbiParameter[], ['USDC']);
export const simulateV1 = (answer: unknown, more: Node = {}) =>
  simulatorOn({ ...more, answers: { ...more.answers, eth_simulateV1: answer } });
