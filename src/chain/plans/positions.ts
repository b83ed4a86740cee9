import { decodeFunctionResult, encodeFunctionData, prepareEncodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { FailureReason } from '../../domain/facts.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../domain/position/types.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { type Decoded, decoded, readingsOf } from '../decode.ts';
import type { Call, CallResult, Readings } from '../types.ts';

/** Position arrays as FlashLeverage keeps them; what each proxy holds is asked next. */
export type PositionArray = readonly Omit<HeldPosition, 'collateral' | 'borrowShares'>[];

/** Each position takes five storage slots to read. */
const ARRAY_GAS = 400_000n;
const POSITION = prepareEncodeFunctionData({ abi: morphoBlueAbi, functionName: 'position' });

/** Plan the first round: every wallet's array of positions. */
export function planPositionArrays(flashLeverage: Address, wallets: readonly Address[]): readonly Call[] {
  return wallets.map((wallet) => ({
    to: flashLeverage,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName: 'getUserLeveragePositions', args: [wallet] }),
    gas: ARRAY_GAS,
  }));
}

/** Fold the first round's answers, in the order of `planPositionArrays`. */
export function foldPositionArrays(
  wallets: readonly Address[],
  results: readonly CallResult[],
): Readings<Address, PositionArray> {
  return readingsOf(wallets.map((wallet, i) => [wallet, decodeArray(results[i])] as const));
}

/** What one account holds on one market: a proxy for its position, or a wallet on a stock market. */
export interface Holding {
  readonly marketId: MarketId;
  readonly account: Address;
}

/** List what is asked in the second round: every open position, and every wallet on every stock market. */
export function holdingsOf(
  arrays: ReadonlyMap<Address, PositionArray>,
  stockMarkets: readonly MarketId[],
): readonly Holding[] {
  return [...arrays].flatMap(([wallet, positions]) => [
    ...positions.filter(({ open }) => open).map(({ marketId, proxy }) => ({ marketId, account: proxy })),
    ...stockMarkets.map((marketId) => ({ marketId, account: wallet })),
  ]);
}

/** Plan the second round. */
export function planHoldings(morphoBlue: Address, holdings: readonly Holding[]): readonly Call[] {
  return holdings.map(({ marketId, account }) => ({
    to: morphoBlue,
    data: encodeFunctionData({ ...POSITION, args: [marketId, account] }),
  }));
}

/**
 * Fold the second round's answers, in the order of `holdingsOf`; what all wallets share is theirs as well. A wallet of which any part is not known fails as a
 * whole: part of somebody's money is not a picture of it.
 */
export function foldHoldings(
  shared: Pick<WalletHoldings, 'chainId' | 'block' | 'markets'>,
  arrays: Readings<Address, PositionArray>,
  stockMarkets: readonly MarketId[],
  results: readonly CallResult[],
): Readings<Address, WalletHoldings> {
  let next = 0;
  const read = [...arrays.values].map(([wallet, array]): [Address, Decoded<WalletHoldings>] => {
    let failure: FailureReason | undefined;
    const amounts = (): Amounts => {
      const answer = decodeAmounts(results[next++]);
      if (!answer.ok) failure ??= answer.reason;
      return answer.ok ? answer.value : NOTHING;
    };
    const positions = array.map((position) => ({ ...position, ...(position.open ? amounts() : NOTHING) }));
    const stocks = stockMarkets.map((marketId): HeldStock => ({ marketId, ...amounts() })).filter(holdsSomething);
    const value = { ...shared, wallet, positions, stocks };
    return [wallet, failure === undefined ? { ok: true, value } : { ok: false, reason: failure }];
  });
  const { values, failures } = readingsOf(read);
  return { values, failures: new Map([...arrays.failures, ...failures]) };
}

type Amounts = Pick<HeldPosition, 'collateral' | 'borrowShares'>;

const NOTHING: Amounts = { collateral: 0n, borrowShares: 0n };

function holdsSomething({ collateral, borrowShares }: Amounts): boolean {
  return collateral > 0n || borrowShares > 0n;
}

function decodeArray(result: CallResult | undefined): Decoded<PositionArray> {
  return decoded(result, undefined, (data) =>
    decodeFunctionResult({ abi: flashLeverageAbi, functionName: 'getUserLeveragePositions', data }).map(
      (position, id) => ({
        id,
        marketId: position.marketId.toLowerCase() as MarketId,
        proxy: position.userProxy,
        open: position.open,
        depositedAssets: position.amountDepositedInLoanToken,
        returnedAssets: position.amountReturnedInLoanToken,
      }),
    ),
  );
}

function decodeAmounts(result: CallResult | undefined): Decoded<Amounts> {
  return decoded(result, undefined, (data) => {
    const [, borrowShares, collateral] = decodeFunctionResult({ abi: morphoBlueAbi, functionName: 'position', data });
    return { collateral, borrowShares };
  });
}
