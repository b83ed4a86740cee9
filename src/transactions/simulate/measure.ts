import { MathLib, ORACLE_PRICE_SCALE } from '@morpho-org/blue-sdk';
import { slice } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { oracleAbi } from '../../abi/oracle.ts';
import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { Address } from '../../shared/ids.ts';
import { planMarket } from '../read/market-state.ts';
import { type Read, readOf, required } from '../read/reads.ts';
import type { Fill, SwapPlace } from './fills.ts';
import type { Movements, PositionSlots, Watched } from './movements.ts';
import type { StepObservation } from './steps.ts';

/*
 * Where a node reports no events, movements follow from balances before and after the calls. The amount of a token that came from
 * outside is the gain of the wallet, the protocol, the product's contracts and its treasury together.
 */

/** Of a position's five words, the proxy is the third from the end. */
const PROXY_WORD = 3;

/** Plan the reads that movements follow from; `positions` is the read of the wallet's positions at the end. */
export function planMeasures(watched: Watched, positions: Read<unknown>, calls: number): readonly StepObservation[] {
  const { chain, repays, opens } = watched;
  const treasury = treasuryOf(watched);
  return [
    { afterCalls: 0, read: treasury },
    ...groupsOf(watched.places).flatMap(({ token, callIndex }) =>
      [callIndex, callIndex + 1].flatMap((afterCalls) => [
        ...insidersOf(watched).map((party) => ({ afterCalls, read: balanceOf(token, party) })),
        {
          afterCalls,
          read: { ...balanceOf(token, chain.contracts.flashLeverage), data: BALANCE_OF },
          tail: { of: treasury, word: 1 },
        },
      ]),
    ),
    ...repays.flatMap(({ market, callIndex }) =>
      [callIndex, callIndex + 1].flatMap((afterCalls) =>
        planMarket(chain, market).reads.map((read) => ({ afterCalls, read })),
      ),
    ),
    ...(opens
      ? [
          { afterCalls: calls, read: readOf(opens.oracle, oracleAbi, 'price', []) },
          { afterCalls: calls, read: newPosition(watched, opens), tail: { of: positions, word: PROXY_WORD } },
        ]
      : []),
  ];
}

/** Fold the answers of `planMeasures`. @throws ChainReadError when something of it cannot be read */
export function foldMeasures(
  watched: Watched,
  answers: readonly unknown[],
  positions: PositionSlots | undefined,
  timestamp: bigint,
): Movements {
  const { chain, places, repays, opens } = watched;
  const rest = [...answers];
  const treasury = rest.shift() as Address | undefined;
  const insiders = insidersOf(watched);
  const isCounted = treasury !== undefined && !insiders.includes(treasury);
  const balances = (): readonly bigint[] => {
    const read = rest.splice(0, insiders.length + 1) as readonly (bigint | undefined)[];
    return read.map((balance, i) => (i < insiders.length ? required(balance) : isCounted ? (balance ?? 0n) : 0n));
  };
  const inflows = groupsOf(places).map((group) => {
    const [before, after] = [balances(), balances()];
    const gains = after.map((balance, i) => balance - (before[i] ?? 0n));
    return { ...group, total: gains.reduce((sum, gain) => sum + gain, 0n), fee: gains.at(-1) ?? 0n };
  });
  const repaid = repays.map(({ market }) => {
    const [before, after] = [marketOf(market), marketOf(market)];
    const less = before.sdk.totalBorrowAssets - after.sdk.totalBorrowAssets;
    return less > 0n ? less : 0n;
  });
  const [price, row] = opens ? (rest as [bigint | undefined, readonly [bigint, bigint, bigint] | undefined]) : [];
  const fills: Fill[] = places.map((swap) => ({ swap: swap.swap, received: 0n }));
  for (const { members, total, fee } of inflows) {
    const [first = 0, second] = members;
    const place = places[first] as SwapPlace;
    if (second === undefined) {
      fills[first] = { swap: place.swap, received: total };
      continue;
    }
    const entry = entryOf(required(positions?.at(-1)).amountDepositedInLoanToken, required(price), place, fee);
    fills[first] = { swap: place.swap, received: entry };
    fills[second] = { swap: (places[second] as SwapPlace).swap, received: total - entry };
  }
  const [, borrowShares = 0n, collateral = 0n] = opens ? required(row) : [];
  const opened = opens && {
    id: required(positions).length - 1,
    borrowShares,
    collateral,
    basis: required(positions?.at(-1)).amountDepositedInLoanToken,
  };
  return { fills, repaid, opened };

  function marketOf(market: Market) {
    const plan = planMarket(chain, market);
    return plan.fold(rest.splice(0, plan.reads.length), { timestamp });
  }
}

interface Group {
  readonly token: Address;
  readonly callIndex: number;
  /** Indices of the swaps whose output it is: one, or that of the deposit and that of the flash loan. */
  readonly members: readonly number[];
}

/** Swaps whose outputs can only be measured together: of one token, in one call. */
function groupsOf(places: readonly SwapPlace[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const [i, { swap, callIndex }] of places.entries()) {
    const token = swap.tokenOut.address;
    const key = `${callIndex} ${token}`;
    const known = groups.get(key);
    groups.set(key, { token, callIndex, members: [...(known?.members ?? []), i] });
  }
  return [...groups.values()];
}

/**
 * The fill of the swap of a deposit, where a second swap gave the same token: the deposit as the contract counts it, in loan
 * tokens at the oracle's price, and the fee on it. Rounded to a loan unit; the planned output stands where it leads to the same.
 */
function entryOf(basis: bigint, price: bigint, { swap }: SwapPlace, fee: bigint): bigint {
  const planned = swap.expectedOut - fee;
  if (planned > 0n && collateralValueInLoan(planned, price) === basis) return swap.expectedOut;
  return MathLib.mulDivUp(basis, ORACLE_PRICE_SCALE, price) + fee;
}

/** Accounts that hold tokens during the calls; proxies keep none. */
function insidersOf({ chain: { contracts }, user }: Watched): readonly Address[] {
  const { morphoBlue, flashLeverage, flashLeverageRouter, equityRouter } = contracts;
  return [user, morphoBlue, flashLeverage, flashLeverageRouter, ...(equityRouter ? [equityRouter] : [])];
}

function treasuryOf({ chain }: Watched): Read<unknown> {
  return readOf(chain.contracts.flashLeverage, flashLeverageAbi, 's_treasury', []);
}

function balanceOf(token: Address, account: Address): Read<unknown> {
  return readOf(token, erc20Abi, 'balanceOf', [account]);
}

/** The function alone: the account of the balance follows from another read. */
const BALANCE_OF = slice(
  encodeFunctionData({
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: ['0x0000000000000000000000000000000000000000'],
  }),
  0,
  4,
);

/** A position on the market, of a proxy that is appended. */
function newPosition({ chain }: Watched, { id }: Market): Read<unknown> {
  const { morphoBlue } = chain.contracts;
  const read = readOf(morphoBlue, morphoBlueAbi, 'position', [id, morphoBlue]);
  return { ...read, data: slice(read.data, 0, 4 + 32) };
}
