import { encodeAbiParameters, encodeEventTopics, getAddress, type Hex, pad } from 'viem';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import type { Chain, EquityVault, Market } from '../../../src/catalog/types.ts';
import type { Call } from '../../../src/chain/types.ts';
import { collateralValueInLoan } from '../../../src/domain/leverage/flash-loan.ts';
import type { Address } from '../../../src/shared/ids.ts';
import type { EquityEntryArgs } from '../../../src/transactions/build/equity-router.ts';
import type { LeverageParams } from '../../../src/transactions/build/flash-leverage.ts';
import type { ChainNode } from '../../../src/transactions/deps.ts';
import { SimulationRevertedError } from '../../../src/transactions/errors.ts';
import { movementsByLogs } from '../../../src/transactions/simulate/movements.ts';
import type { SimulatedLog } from '../../../src/transactions/simulate/steps.ts';
import type { BuiltCall, PositionState, SwapData } from '../../../src/transactions/types.ts';
import { functionsBySelector } from './selectors.ts';
import type { ModelFill, ModelVenues } from './venues.ts';

const WAD = 10n ** 18n;
const SHARES = 1_000_000n;
const YIELD_FEE = 5n * 10n ** 16n;
const BUFFER = 25n * 10n ** 14n;
/** More than anything here needs; its shares fit into 128 bits. */
const PLENTY = 10n ** 30n;
const PROXY: Address = getAddress('0x00000000000000000000000000000000000000b1');

/** Balances of a wallet in the model, base units. */
export interface ModelState {
  /** The loop at hand. */
  readonly loop: PositionState;
  /** Its deposit basis, loan base units. */
  readonly basis: bigint;
  readonly stock: PositionState;
  /** Loan tokens that came to the wallet. */
  readonly received: bigint;
}

export interface ModelChainInput {
  readonly chain: Chain;
  readonly market: Market;
  readonly vault?: EquityVault | undefined;
  readonly before: ModelState;
  readonly venues: ModelVenues;
  /** Prices of oracles. */
  readonly priceOf: (oracle: Address) => bigint;
  readonly timestamp: bigint;
  /** Changed answers of views, by name: a value, or a function of the call and the state. `undefined` = they revert. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  /** Why nothing can be simulated. */
  readonly unsimulated?: 'token' | 'node' | undefined;
}

class Revert extends Error {}

/**
 * The contracts as arithmetic, on correlated markets whose clock stands still: the results of their paths for given outputs of swaps.
 * No bytecode runs; test/e2e/leverage/adversarial-venues.sweep.test.ts executes the same paths on the real contracts.
 */
export function modelChain(input: ModelChainInput) {
  const { chain, market, vault, before, venues, priceOf, timestamp } = input;
  const { flashLeverage, flashLeverageRouter, equityRouter, morphoBlue } = chain.contracts;

  function answer({ to, data }: Call, state: ModelState): unknown {
    const name = functionsBySelector.get(data.slice(0, 10) as Hex)?.name;
    if (name !== undefined && input.answers && name in input.answers) {
      const given = input.answers[name];
      return typeof given === 'function' ? given({ to, data }, state) : given;
    }
    switch (name) {
      case 'market':
        return [PLENTY * 4n, PLENTY * 4n * SHARES, PLENTY, PLENTY * SHARES, timestamp, 0n];
      case 'rateAtTarget':
        return 1_000_000_000n;
      case 'price':
        return priceOf(to);
      case 'balanceOf':
        return to === market.loan.address ? PLENTY + state.received : PLENTY;
      case 'getEthBalance':
      case 'allowance':
        return PLENTY;
      // No feeds: the price is as old as the block.
      case 'aggregate3':
        return [];
      case 'LIQUIDATION_BUFFER':
        return BUFFER;
      case 's_yieldFee':
        return YIELD_FEE;
      case 's_depositFee':
        return 0n;
      case 's_isCorrelated':
      case 'isSupportedMarket':
        return true;
      case 'paused':
      case 's_manualMode':
      case 'isAuthorized':
        return false;
      case 's_user':
        return null;
      case 'getUserLeveragePosition':
        return positionRow();
      case 'getUserLeveragePositions':
        return [positionRow()];
      case 'position': {
        const isStock = vault !== undefined && data.slice(10, 74) === vault.stockMarket.id.slice(2);
        const held = isStock ? state.stock : state.loop;
        return [0n, held.debt * SHARES, held.collateral];
      }
      default:
        throw new Error(`the model knows no read ${name ?? data.slice(0, 10)}`);
    }
  }

  function positionRow() {
    return {
      open: true,
      marketId: market.id,
      userProxy: PROXY,
      amountDepositedInLoanToken: before.basis,
      amountReturnedInLoanToken: 0n,
    };
  }

  /** Run calls one after the other. @returns the state after each, and its events @throws Revert */
  function run(calls: readonly Pick<BuiltCall, 'action'>[], phase: keyof Pick<ModelFill, 'simulated' | 'onChain'>) {
    const states: ModelState[] = [];
    const logs: SimulatedLog[][] = [];
    let state = before;
    for (const { action } of calls) {
      const emitted: SimulatedLog[] = [];
      const fill = ({ extCalldata }: SwapData, minOut: bigint, executor: Address): bigint => {
        const found = venues.fillOf(extCalldata);
        if (found[phase] < minOut) throw new Revert('MinTokenOutNotMet');
        emitted.push(transferLog(found.tokenOut, found.router, executor, found[phase]));
        return found[phase];
      };
      state = after(action.type, action.args as never, state, fill, emitted);
      states.push(state);
      logs.push(emitted);
    }
    return { states, logs, state };
  }

  /** The state after so many of the calls. */
  const stateIn = ({ states }: ReturnType<typeof run>, count: number): ModelState => states[count - 1] ?? before;

  type Fill = (swap: SwapData, minOut: bigint, executor: Address) => bigint;

  // biome-ignore lint/suspicious/noExplicitAny: the arguments of any function.
  function after(type: string, args: any, state: ModelState, fill: Fill, logs: SimulatedLog[]): ModelState {
    const { loop, basis } = state;
    switch (type) {
      case 'leverage':
        return opened(state, args.params, args.params.amountCollateral, fill, logs);
      case 'swapAndLeverage': {
        const paid = fill(args.swapData, args.minTokenOut, flashLeverageRouter);
        return opened(state, args.leverageParams, paid, fill, logs);
      }
      case 'increaseLeverage': {
        const bought = fill(args.swapData, args.minTokenOut, flashLeverage);
        return {
          ...state,
          loop: within({ collateral: loop.collateral + bought, debt: loop.debt + args.amountFlashLoan }),
        };
      }
      case 'deleverage': {
        const amount = args.amountCollateral === 0n ? loop.collateral : args.amountCollateral;
        const debt = divideUp(loop.debt * amount, loop.collateral);
        const sold = fill(args.swapData, args.minTokenOut, flashLeverage);
        if (sold < debt) throw new Revert('the flash loan is not repaid');
        const share = (basis * amount) / loop.collateral;
        const yielded = sold - debt > share ? sold - debt - share : 0n;
        logs.push(morphoLog('Repay', { id: market.id, caller: PROXY, onBehalf: PROXY }, [debt, debt * SHARES]));
        return {
          ...state,
          basis: basis - share,
          loop: { collateral: loop.collateral - amount, debt: loop.debt - debt },
          received: state.received + sold - debt - (yielded * YIELD_FEE) / WAD,
        };
      }
      case 'swapAndRepay': {
        const given = fill(args.swapData, args.minTokenOut, flashLeverageRouter);
        const repaid = given < loop.debt ? given : loop.debt;
        return { ...state, loop: { ...loop, debt: loop.debt - repaid }, received: state.received + given - repaid };
      }
      case 'swapAndSupplyCollateral': {
        const given = fill(args.swapData, args.minTokenOut, flashLeverageRouter);
        return { ...state, loop: { ...loop, collateral: loop.collateral + given } };
      }
      case 'equityEntry': {
        const entry = args as EquityEntryArgs;
        const router = equityRouter as Address;
        const stock = fill(entry.stockSwapData, entry.stockMinOut, router);
        const zapped = fill(entry.yieldSwapData, entry.yieldMinOut, router);
        const held = opened(state, entry.leverageParams, zapped, fill, logs);
        const { collateral, debt } = state.stock;
        return { ...held, stock: { collateral: collateral + stock, debt: debt + entry.stockBorrowAmount } };
      }
      case 'equityExit': {
        const sold = fill(args.stockSwapData, args.minLoanOut, equityRouter as Address);
        if (sold < state.stock.debt) throw new Revert('the flash loan is not repaid');
        return { ...state, stock: { collateral: 0n, debt: 0n }, received: state.received + sold - state.stock.debt };
      }
      case 'reallocateAndLeverage':
        return opened(state, args.leverageParams, args.leverageParams.amountCollateral, fill, logs);
      case 'reallocateSwapAndLeverage': {
        const paid = fill(args.swapData, args.minTokenOut, flashLeverageRouter);
        return opened(state, args.leverageParams, paid, fill, logs);
      }
      case 'repay': {
        const repaid = args.borrowShares > 0n || args.amountRepay > loop.debt ? loop.debt : args.amountRepay;
        return { ...state, loop: { ...loop, debt: loop.debt - repaid }, received: state.received - repaid };
      }
      case 'borrow':
        return {
          ...state,
          loop: within({ ...loop, debt: loop.debt + args.amountBorrow }),
          received: state.received + args.amountBorrow,
        };
      case 'supplyCollateral':
        return { ...state, loop: { ...loop, collateral: loop.collateral + args.amountCollateral } };
      case 'withdrawCollateral':
        return { ...state, loop: within({ ...loop, collateral: loop.collateral - args.amountWithdraw }) };
      case 'approve':
      case 'setAuthorization':
        return state;
      default:
        throw new Error(`the model knows no call ${type}`);
    }
  }

  function opened(
    state: ModelState,
    params: LeverageParams,
    paid: bigint,
    fill: Fill,
    logs: SimulatedLog[],
  ): ModelState {
    const collateral = paid + fill(params.swapData, params.minTokenOut, flashLeverage);
    const debt = params.amountFlashLoan;
    const of = { id: market.id, caller: PROXY, onBehalf: PROXY, receiver: flashLeverage };
    logs.push(morphoLog('SupplyCollateral', of, [collateral]), morphoLog('Borrow', of, [PROXY, debt, debt * SHARES]));
    return { ...state, loop: within({ collateral, debt }) };
  }

  function within(position: PositionState): PositionState {
    const most = (collateralValueInLoan(position.collateral, priceOf(market.oracle)) * (market.lltv - BUFFER)) / WAD;
    if (position.debt > most) throw new Revert('ExceedsMaxLTV');
    return position;
  }

  function morphoLog(eventName: 'Repay' | 'SupplyCollateral' | 'Borrow', args: object, values: readonly unknown[]) {
    const event = morphoBlueAbi.find((item) => item.type === 'event' && item.name === eventName);
    if (event?.type !== 'event') throw new Error(`no event ${eventName}`);
    const data = encodeAbiParameters(
      event.inputs.filter((input) => !('indexed' in input)),
      values as never,
    );
    const topics = encodeEventTopics({ abi: morphoBlueAbi, eventName, args: args as never });
    return { address: morphoBlue, topics: topics as SimulatedLog['topics'], data };
  }

  const read = async (plan: readonly Call[]) => ({
    block: { timestamp, number: 1n },
    answers: plan.map((requested) => answer(requested, before)),
  });
  const node = {
    reader: { read, readSettled: read },
    simulator: {
      prepare: async () => undefined,
      async simulate({ calls, observations = [], watched }) {
        if (input.unsimulated) return { simulated: false, lacking: input.unsimulated };
        let ended: ReturnType<typeof run>;
        try {
          ended = run(calls, 'simulated');
        } catch (error) {
          if (!(error instanceof Revert)) throw error;
          throw new SimulationRevertedError({ reason: error.message, args: [], callIndex: 0 }, true);
        }
        const answers = observations.map(({ afterCalls, read: request }) =>
          answer(request, stateIn(ended, afterCalls)),
        );
        const movements = watched ? movementsByLogs(watched, ended.logs, [positionRow()]) : { fills: [], repaid: [] };
        return { simulated: true, way: 'simulate_v1', gasUsed: 1n, timestamp, movements, answers };
      },
    },
  } as ChainNode;
  return {
    node,
    proxy: PROXY,
    answer,
    run,
    stateIn,
    /** The wallet after the calls; `undefined` = they revert without a change. */
    execute(calls: readonly BuiltCall[]): ModelState | undefined {
      try {
        return run(calls, 'onChain').state;
      } catch (error) {
        if (error instanceof Revert) return undefined;
        throw error;
      }
    },
  };
}

function transferLog(token: Address, from: Address, to: Address, value: bigint): SimulatedLog {
  const [signature] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });
  return {
    address: token,
    topics: [signature as Hex, pad(from), pad(to)],
    data: pad(`0x${value.toString(16)}`),
  };
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
