import { type Address, type Hex, numberToHex, pad } from 'viem';
import type { ChainClient } from '../../chain/client.ts';
import { ChainReadError, toChainReadError } from '../../chain/errors.ts';
import { SimulationRevertedError } from '../errors.ts';
import type { BuiltCall, PayToken } from '../types.ts';
import { type BalanceSlot, findBalanceSlot } from './balance-slot.ts';
import { decodeRevert, isCurable } from './revert.ts';

export interface SimulationInput {
  readonly user: Address;
  /** In the order in which they are signed. */
  readonly calls: readonly BuiltCall[];
  /** What the wallet pays with, and what it has; absent when nothing is paid. */
  readonly pays?: { readonly token: PayToken; readonly amount: bigint; readonly balance: bigint };
  readonly nativeBalance: bigint;
}

export type SimulationOutcome =
  | { readonly simulated: true; readonly gasUsed: bigint }
  /** The wallet lacks the token and it cannot be lent to it. */
  | { readonly simulated: false };

export interface Simulator {
  /**
   * Execute the calls one after another from the user on the newest state. Missing funds are lent by state override.
   * @throws SimulationRevertedError when their own logic reverts
   * @throws ChainReadError when the node does not answer
   */
  simulate(input: SimulationInput): Promise<SimulationOutcome>;
  /** Find the token's balance slot ahead of time; remembered. A node that does not answer finds none. */
  prepare(token: PayToken): Promise<BalanceSlot | undefined>;
}

interface SimulatedCall {
  readonly status?: unknown;
  readonly returnData?: unknown;
  readonly gasUsed?: unknown;
  readonly error?: { readonly data?: unknown };
}

/** An account that nobody holds: its slots are free of anything real. */
const PROBE: Address = '0x5b1a700000000000000000000000000000005b1a';
const MAX_REMEMBERED = 1_000;

/** Create the simulator of one chain. */
export function createSimulator(client: ChainClient): Simulator {
  const slots = new Map<Address, Promise<BalanceSlot | undefined>>();
  const prepare = (token: PayToken): Promise<BalanceSlot | undefined> => {
    if (token.isNative) return Promise.resolve(undefined);
    const known = slots.get(token.address);
    if (known) return known;
    if (slots.size >= MAX_REMEMBERED) slots.clear();
    const search = findBalanceSlot(client, token.address, PROBE).catch((error: unknown) => {
      slots.delete(token.address);
      if (error instanceof ChainReadError) return undefined;
      throw error;
    });
    slots.set(token.address, search);
    return search;
  };

  return {
    prepare,
    async simulate({ user, calls, pays, nativeBalance }) {
      const overrides: Record<Address, { balance?: Hex; stateDiff?: Record<Hex, Hex> }> = {};
      const value = calls.reduce((sum, call) => sum + call.value, 0n);
      if (nativeBalance < value) overrides[user] = { balance: numberToHex(value) };
      if (pays && !pays.token.isNative && pays.balance < pays.amount) {
        const slotOf = await prepare(pays.token);
        if (!slotOf) return { simulated: false };
        const stateDiff = { [slotOf(user)]: pad(numberToHex(pays.amount), { size: 32 }) };
        overrides[pays.token.address] = { stateDiff };
      }
      const results = await run(client, user, calls, overrides);
      let gasUsed = 0n;
      for (const [callIndex, { status, returnData, error, gasUsed: gas }] of results.entries()) {
        if (status !== '0x1') {
          const revert = decodeRevert(hexOf(error?.data) ?? hexOf(returnData) ?? '0x');
          throw new SimulationRevertedError({ ...revert, callIndex }, isCurable(revert));
        }
        gasUsed += BigInt(hexOf(gas) ?? '0x0');
      }
      return { simulated: true, gasUsed };
    },
  };
}

async function run(
  client: ChainClient,
  from: Address,
  calls: readonly BuiltCall[],
  stateOverrides: object,
): Promise<readonly SimulatedCall[]> {
  const block = {
    stateOverrides,
    calls: calls.map(({ to, data, value }) => ({ from, to, data, value: numberToHex(value) })),
  };
  const answer: unknown = await client
    .request({ method: 'eth_simulateV1', params: [{ blockStateCalls: [block] }, 'latest'] } as never)
    .catch((error: unknown) => {
      throw toChainReadError(error);
    });
  const [first] = Array.isArray(answer) ? (answer as { readonly calls?: unknown }[]) : [];
  if (!Array.isArray(first?.calls) || first.calls.length !== calls.length) throw new ChainReadError('malformed');
  return first.calls as SimulatedCall[];
}

function hexOf(value: unknown): Hex | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? (value as Hex) : undefined;
}
