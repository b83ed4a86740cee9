import { decodeFunctionResult, type Hex, hexToString, size, slice } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { erc20Abi } from '../../abi/erc20.ts';
import type { Chain } from '../../catalog/types.ts';
import type { TokenContract } from '../../domain/deployment/types.ts';
import type { Address } from '../../shared/ids.ts';
import { readingsOf } from '../decode.ts';
import type { Call, CallResult, Readings } from '../types.ts';

/** Longer symbols are cut. */
const MAX_SYMBOL = 32;
const WORD_BYTES = 32;
const DECIMALS = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
const SYMBOL = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' });

const contractsOf = ({ tokens }: Chain) => tokens.filter(({ isNative }) => !isNative);

/** Plan the reads of the catalog's token contracts: two calls each. */
export function planTokenContracts(chain: Chain): readonly Call[] {
  return contractsOf(chain).flatMap(({ address }) => [
    { to: address, data: DECIMALS },
    { to: address, data: SYMBOL },
  ]);
}

/**
 * Fold the answers, in the order of `planTokenContracts`. A view that a token lacks, or with an implausible value, is left
 * out.
 */
export function foldTokenContracts(chain: Chain, results: readonly CallResult[]): Readings<Address, TokenContract> {
  return readingsOf(
    contractsOf(chain).map(({ address }, i) => {
      const [decimals, symbol] = [results[2 * i] ?? MISSING, results[2 * i + 1] ?? MISSING];
      for (const result of [decimals, symbol]) {
        if (!result.ok && result.reason !== 'reverted') return [address, result] as const;
      }
      return [address, { ok: true, value: tokenContract(decimals, symbol) }] as const;
    }),
  );
}

const MISSING: CallResult = { ok: false, reason: 'malformed' };

function tokenContract(decimals: CallResult, symbol: CallResult): TokenContract {
  // An address without code returns no data for every call.
  const isSilent = [decimals, symbol].every((result) => result.ok && size(result.data) === 0);
  const values = { decimals: decimalsOf(decimals), symbol: symbolOf(symbol) };
  return {
    hasCode: !isSilent,
    decimals: values.decimals,
    symbol: values.symbol,
  };
}

/** The whole word, so that a value beyond uint8 is reported as it is and differs from the catalog. */
function decimalsOf(result: CallResult): bigint | undefined {
  return result.ok && size(result.data) >= WORD_BYTES ? BigInt(slice(result.data, 0, WORD_BYTES)) : undefined;
}

/** Decode a symbol; old tokens return `bytes32`. */
function symbolOf(result: CallResult): string | undefined {
  if (!result.ok) return undefined;
  const { data } = result;
  try {
    if (size(data) === WORD_BYTES) return printable(wordText(data));
    return printable(decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data }));
  } catch {
    return undefined;
  }
}

function wordText(word: Hex): string {
  return hexToString(word).replace(/\0+$/, '');
}

function printable(text: string): string {
  const printed = text.slice(0, MAX_SYMBOL).replace(/[^\x20-\x7e]/g, '?');
  return text.length > MAX_SYMBOL ? `${printed}...` : printed;
}
