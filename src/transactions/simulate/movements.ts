import { isAddressEqual } from 'viem';
import { eventDecoder } from '../../abi/events.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { type Read, readOf, required } from '../read/reads.ts';
import { type Fill, fillsOf, type SwapPlace } from './fills.ts';
import type { SimulatedLog } from './steps.ts';

const morphoEvent = eventDecoder(morphoBlueAbi);

/** Movements to measure in a simulation. */
export interface Watched {
  readonly chain: Chain;
  readonly user: Address;
  /** In the order in which the swaps run. */
  readonly places: readonly SwapPlace[];
  /** The market on which the last call opens a position; absent where none is opened. */
  readonly opens?: Market | undefined;
  /** Positions whose debt a call repays. */
  readonly repays: readonly { readonly market: Market; readonly proxy: Address; readonly callIndex: number }[];
}

/** Measured movements of calls. */
export interface Movements {
  /** In the order of the places. */
  readonly fills: readonly Fill[];
  /** The position that was opened. */
  readonly opened?: OpenedPosition | undefined;
  /** Of each debt in `repays`, loan base units. */
  readonly repaid: readonly bigint[];
}

export interface OpenedPosition {
  /** Index among the wallet's positions. */
  readonly id: number;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  /** Deposit basis, loan base units. */
  readonly basis: bigint;
}

/** A wallet's positions with contract and deposit basis of each. */
export type PositionSlots = readonly { readonly userProxy: Address; readonly amountDepositedInLoanToken: bigint }[];

/** Plan to read the wallet's positions, of which the last one is new. */
export function planPositions({ chain, user }: Watched): Read<unknown> {
  return readOf(chain.contracts.flashLeverage, flashLeverageAbi, 'getUserLeveragePositions', [user]);
}

/** Measure movements by the events of the calls. */
export function movementsByLogs(
  watched: Watched,
  logs: readonly (readonly SimulatedLog[])[],
  positions: PositionSlots | undefined,
): Movements {
  const { chain, user, places, opens, repays } = watched;
  const all = logs.flat();
  return {
    fills: fillsOf(chain, user, places, logs),
    opened: opens && openedPosition(chain, opens, positions, all),
    repaid: repays.map(({ market, proxy }) => repaidIn(chain, market, proxy, all)),
  };
}

/** The wallet's last position. Its contract did not exist before, so the protocol's events are all that it holds. */
function openedPosition(
  chain: Chain,
  market: Market,
  positions: PositionSlots | undefined,
  logs: readonly SimulatedLog[],
): OpenedPosition {
  const id = required(positions).length - 1;
  const proxy = required(positions?.at(-1)?.userProxy);
  const events = morphoEvents(chain, logs);
  let [collateral, borrowShares] = [0n, 0n];
  for (const { eventName, args } of events) {
    if (args.id.toLowerCase() !== market.id || args.onBehalf !== proxy) continue;
    if (eventName === 'SupplyCollateral') collateral += args.assets;
    else if (eventName === 'WithdrawCollateral') collateral -= args.assets;
    else if (eventName === 'Borrow') borrowShares += args.shares;
    else borrowShares -= args.shares;
  }
  return { id, collateral, borrowShares, basis: required(positions?.at(-1)).amountDepositedInLoanToken };
}

/** Repaid debt of a position in these logs, loan base units. */
function repaidIn(chain: Chain, market: Market, proxy: Address, logs: readonly SimulatedLog[]): bigint {
  return morphoEvents(chain, logs).reduce((sum, { eventName, args: { id, onBehalf, assets } }) => {
    const isRepaid = eventName === 'Repay' && id.toLowerCase() === market.id && isAddressEqual(onBehalf, proxy);
    return isRepaid ? sum + assets : sum;
  }, 0n);
}

/** The events of the protocol among these logs. */
function morphoEvents({ contracts }: Chain, logs: readonly SimulatedLog[]) {
  return logs.flatMap((log) => (log.address === contracts.morphoBlue ? (morphoEvent(log) ?? []) : []));
}
