import { erc20Abi } from '../../abi/erc20.ts';
import { multicall3Abi } from '../../abi/multicall3.ts';
import type { Chain } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { PayToken } from '../types.ts';
import { type Read, readOf, required } from './reads.ts';

/** What a wallet has of the pay token, and what it lets the contracts take. Base units; native balance in wei. */
export interface WalletState {
  readonly native: bigint;
  readonly balance: bigint;
  readonly allowances: ReadonlyMap<Address, bigint>;
}

export type WalletAnswers = readonly (bigint | undefined)[];

/** Plan the native balance, the token's balance and the allowance of each spender. */
export function planWallet(
  chain: Chain,
  user: Address,
  token: PayToken | undefined,
  spenders: readonly Address[],
): readonly Read<bigint>[] {
  const native = readOf(chain.contracts.multicall3, multicall3Abi, 'getEthBalance', [user]);
  if (!token || token.isNative) return [native];
  return [
    native,
    readOf(token.address, erc20Abi, 'balanceOf', [user]),
    ...spenders.map((spender) => readOf(token.address, erc20Abi, 'allowance', [user, spender])),
  ];
}

/** Fold the answers of `planWallet`. @throws ChainReadError when the token does not answer */
export function foldWallet(
  token: PayToken | undefined,
  spenders: readonly Address[],
  answers: WalletAnswers,
): WalletState {
  const native = required(answers[0]);
  if (!token) return { native, balance: 0n, allowances: new Map() };
  if (token.isNative) return { native, balance: native, allowances: new Map() };
  const allowances = new Map(spenders.map((spender, i) => [spender, required(answers[i + 2])] as const));
  return { native, balance: required(answers[1]), allowances };
}
