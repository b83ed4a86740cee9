import { prepareEncodeFunctionData } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { irmAbi } from '../../abi/irm.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { uintAt } from '../../abi/words.ts';
import type { Market } from '../../catalog/types.ts';
import type { LendingState } from '../../domain/facts.ts';
import type { Address } from '../../shared/ids.ts';
import { type Decoded, decoded } from '../decode.ts';
import type { BlockRef, Call, CallResult } from '../types.ts';

/** The stored state of a market, which its rate is read with. */
export type StoredState = Omit<LendingState, 'borrowRate'>;

const WAD = 10n ** 18n;
/** The protocol's own ceiling for a fee. */
const MAX_FEE = WAD / 4n;
/** Far above the model's maximum of 800 % a year: a higher rate is implausible. */
const MAX_RATE_PER_SECOND = (100n * WAD) / 31_536_000n;
const BORROW_RATE_GAS = 30_000n;

const MARKET = prepareEncodeFunctionData({ abi: morphoBlueAbi, functionName: 'market' });
const RATE_AT_TARGET = prepareEncodeFunctionData({ abi: irmAbi, functionName: 'rateAtTarget' });
const BORROW_RATE_VIEW = prepareEncodeFunctionData({ abi: irmAbi, functionName: 'borrowRateView' });

/** Plan the first round: the stored state of each market, two calls each. */
export function planStored(morphoBlue: Address, markets: readonly Market[]): readonly Call[] {
  return markets.flatMap(({ id, irm }) => [
    { to: morphoBlue, data: encodeFunctionData({ ...MARKET, args: [id] }) },
    { to: irm, data: encodeFunctionData({ ...RATE_AT_TARGET, args: [id] }) },
  ]);
}

/**
 * Fold the first round's answers, in the order of the markets. A market that was never created is `missing`; one that lent
 * more than its supply, or that was updated after the block, is `implausible`.
 */
export function foldStored(
  markets: readonly Market[],
  results: readonly CallResult[],
  block: BlockRef,
): readonly Decoded<StoredState>[] {
  return markets.map((_, i) => {
    const row = decoded(results[2 * i], 6, (data) => totalsOf(data, block));
    const rate = decoded(results[2 * i + 1], 1, rateOf);
    if (!row.ok) return row;
    return rate.ok ? { ok: true, value: { ...row.value, rateAtTarget: rate.value } } : rate;
  });
}

/** Plan the second round: the rate for the stored state, one call for each market with one. */
export function planBorrowRates(markets: readonly Market[], stored: readonly Decoded<StoredState>[]): readonly Call[] {
  return markets.flatMap(({ loan, collateral, oracle, irm, lltv }, i) => {
    const state = stored[i];
    if (!state?.ok) return [];
    const params = { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
    const data = encodeFunctionData({ ...BORROW_RATE_VIEW, args: [params, state.value] });
    return [{ to: irm, data, gas: BORROW_RATE_GAS }];
  });
}

/** Fold the second round's answers, in the order of `planBorrowRates`, into whole states in the order of the markets. */
export function foldBorrowRates(
  stored: readonly Decoded<StoredState>[],
  results: readonly CallResult[],
): readonly Decoded<LendingState>[] {
  let next = 0;
  return stored.map((state) => {
    if (!state.ok) return state;
    const rate = decoded(results[next++], 1, rateOf);
    return rate.ok ? { ok: true, value: { ...state.value, borrowRate: rate.value } } : rate;
  });
}

function totalsOf(data: `0x${string}`, block: BlockRef) {
  const [totalSupplyAssets, totalSupplyShares, totalBorrowAssets] = [uintAt(data, 0), uintAt(data, 1), uintAt(data, 2)];
  const [totalBorrowShares, lastUpdate, fee] = [uintAt(data, 3), uintAt(data, 4), uintAt(data, 5)];
  if (lastUpdate === 0n) return 'missing';
  if (totalBorrowAssets > totalSupplyAssets || fee > MAX_FEE || lastUpdate > block.timestamp) return 'implausible';
  const { number: blockNumber, timestamp: blockTimestamp } = block;
  const totals = { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares };
  return { ...totals, lastUpdate, fee, blockNumber, blockTimestamp };
}

/** A negative rate reads as one that is far too high. */
function rateOf(data: `0x${string}`) {
  const rate = uintAt(data, 0);
  return rate > MAX_RATE_PER_SECOND ? 'implausible' : rate;
}
