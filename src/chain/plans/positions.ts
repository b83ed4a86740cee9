import { decodeFunctionResult, prepareEncodeFunctionData, size } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { flashLeverageAbi, userProxyAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { uintAt } from '../../abi/words.ts';
import type { FailureReason } from '../../domain/facts.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../domain/position/types.ts';
import { MAX_WALLET_POSITIONS } from '../../shared/contract/list-bounds.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { type Decoded, decoded, readingsOf } from '../decode.ts';
import type { Call, CallResult, Readings } from '../types.ts';

/** A position array in FlashLeverage; the holdings of each proxy are read in the second round. */
export type PositionArray = readonly Omit<HeldPosition, 'collateral' | 'borrowShares'>[];

/** Gas of an array: five storage slots per position. */
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

/** An account on one market: a proxy for its position, or a wallet on a stock market. */
export interface Holding {
  readonly marketId: MarketId;
  readonly account: Address;
}

/** List the accounts of the second round: every open position, and every wallet on every stock market. */
export function holdingsOf(
  arrays: ReadonlyMap<Address, PositionArray>,
  stockMarkets: readonly MarketId[],
): readonly Holding[] {
  return [...arrays].flatMap(([wallet, positions]) => [
    ...positions.filter(({ open }) => open).map(({ marketId, proxy }) => ({ marketId, account: proxy })),
    ...stockMarkets.map((marketId) => ({ marketId, account: wallet })),
  ]);
}

export function planHoldings(morphoBlue: Address, holdings: readonly Holding[]): readonly Call[] {
  return holdings.map(({ marketId, account }) => ({
    to: morphoBlue,
    data: encodeFunctionData({ ...POSITION, args: [marketId, account] }),
  }));
}

/**
 * Plan the reads beside the second round: whether each open position is in manual mode, and whether the product's routers are
 * authorized for each wallet, which only an interrupted batch leaves behind.
 */
export function planPermissions(
  morphoBlue: Address,
  arrays: ReadonlyMap<Address, PositionArray>,
  routers: readonly Address[],
): readonly Call[] {
  return [...arrays].flatMap(([wallet, positions]) => [
    ...positions.filter(({ open }) => open).map(({ proxy }) => ({ to: proxy, data: S_MANUAL_MODE, mayBeAbsent: true })),
    ...routers.map((router) => ({
      to: morphoBlue,
      data: encodeFunctionData({ abi: morphoBlueAbi, functionName: 'isAuthorized', args: [wallet, router] }),
      mayBeAbsent: true,
    })),
  ]);
}
const S_MANUAL_MODE = encodeFunctionData({ abi: userProxyAbi, functionName: 's_manualMode' });

/** Permissions, in the order of `planPermissions`. */
export interface PermissionAnswers {
  readonly routers: readonly Address[];
  readonly results: readonly CallResult[];
}

/**
 * Fold the second round's answers, in the order of `holdingsOf`, with the values that all wallets share. A wallet with any
 * unknown holding fails as a whole, because its sums would be wrong. Unknown permissions are left out.
 */
export function foldHoldings(
  shared: Pick<WalletHoldings, 'chainId' | 'block' | 'markets'>,
  arrays: Readings<Address, PositionArray>,
  stockMarkets: readonly MarketId[],
  results: readonly CallResult[],
  permissions?: PermissionAnswers,
): Readings<Address, WalletHoldings> {
  let next = 0;
  let nextPermission = 0;
  const permission = (): boolean | undefined => permissions && decodeFlag(permissions.results[nextPermission++]);
  const read = [...arrays.values].map(([wallet, array]): [Address, Decoded<WalletHoldings>] => {
    let failure: FailureReason | undefined;
    const amounts = (): Amounts => {
      const answer = decodeAmounts(results[next++]);
      if (!answer.ok) failure ??= answer.reason;
      return answer.ok ? answer.value : NOTHING;
    };
    const positions = array.map((position) => {
      if (!position.open) return { ...position, ...NOTHING };
      return { ...position, ...amounts(), manualMode: permission() };
    });
    const authorized = permissions && authorizedOf(permissions.routers, permission);
    const stocks = stockMarkets.map((marketId): HeldStock => ({ marketId, ...amounts() })).filter(holdsSomething);
    const value = { ...shared, wallet, positions, stocks, authorized };
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
  return decoded(result, undefined, (data) => {
    const array = decodeFunctionResult({ abi: flashLeverageAbi, functionName: 'getUserLeveragePositions', data });
    if (array.length > MAX_WALLET_POSITIONS) return 'implausible';
    return array.map((position, id) => ({
      id,
      marketId: position.marketId.toLowerCase() as MarketId,
      proxy: position.userProxy,
      open: position.open,
      depositedAssets: position.amountDepositedInLoanToken,
      returnedAssets: position.amountReturnedInLoanToken,
    }));
  });
}

function decodeAmounts(result: CallResult | undefined): Decoded<Amounts> {
  return decoded(result, 3, (data) => ({ borrowShares: uintAt(data, 1), collateral: uintAt(data, 2) }));
}

/** The authorized routers; `undefined` = one of the answers is not known. */
function authorizedOf(
  routers: readonly Address[],
  isAuthorized: () => boolean | undefined,
): readonly Address[] | undefined {
  const answers = routers.map((router) => ({ router, allowed: isAuthorized() }));
  if (answers.some(({ allowed }) => allowed === undefined)) return undefined;
  return answers.flatMap(({ router, allowed }) => (allowed ? [router] : []));
}

/** Decode a boolean; any other value is unknown. */
function decodeFlag(result: CallResult | undefined): boolean | undefined {
  if (!result?.ok || size(result.data) !== 32) return undefined;
  const word = BigInt(result.data);
  return word > 1n ? undefined : word === 1n;
}
