import { erc20Abi } from '../../abi/erc20.ts';
import { eventDecoder } from '../../abi/events.ts';
import type { Chain } from '../../catalog/types.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { lossPct } from '../quote/loss.ts';
import type { PlannedSwap } from '../types.ts';
import type { SimulatedLog } from './steps.ts';

const tokenEvent = eventDecoder(erc20Abi);

/** Where the output of a swap arrives. */
export interface SwapPlace {
  readonly swap: PlannedSwap;
  /** The contract that calls the venue and is paid by it. */
  readonly executor: Address;
  /** Which of the simulated calls runs it, from 0. */
  readonly callIndex: number;
}

/** A swap as the simulation executed it. */
export interface Fill {
  readonly swap: PlannedSwap;
  /** Output that reached the contract that swapped, base units of `tokenOut`. */
  readonly received: bigint;
}

/**
 * Measure the fill of each swap: the amount of its output token that its executor received from outside. Transfers between the
 * wallet, the protocol and the product's own contracts are no output of a venue.
 */
export function fillsOf(
  chain: Chain,
  user: Address,
  places: readonly SwapPlace[],
  logs: readonly (readonly SimulatedLog[])[],
): readonly Fill[] {
  const inside = new Set<Address>([user, ...Object.values(chain.contracts)]);
  return places.map(({ swap, executor, callIndex }) => {
    let received = 0n;
    for (const log of logs[callIndex] ?? []) {
      const transfer = log.address === swap.tokenOut.address ? tokenEvent(log)?.args : undefined;
      if (transfer?.to === executor && !inside.has(transfer.from)) received += transfer.value;
    }
    return { swap, received };
  });
}

/** The swap with its simulated fill in place of its quote. */
export function filledSwap({ swap, received }: Fill): PlannedSwap {
  const { reference } = swap;
  const lost = reference === undefined ? {} : { lossPct: Decimal.max(0, lossPct(reference, received)) };
  return { ...swap, expectedOut: received, ...lost };
}
