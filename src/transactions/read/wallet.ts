import { erc20Abi } from '../../abi/erc20.ts';
import { multicall3Abi } from '../../abi/multicall3.ts';
import type { Chain } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { PayToken } from '../types.ts';
import { type ReadPlan, readOf, required } from './reads.ts';

/** Balances and allowances of a wallet. Base units; native balance in wei. */
export interface WalletState {
  readonly native: bigint;
  readonly balance: bigint;
  readonly allowances: ReadonlyMap<Address, bigint>;
}

/** Plan the native balance, the token's balance and the allowance of each spender. */
export function planWallet(
  chain: Chain,
  user: Address,
  token: PayToken | undefined,
  spenders: readonly Address[],
): ReadPlan<WalletState> {
  const native = readOf(chain.contracts.multicall3, multicall3Abi, 'getEthBalance', [user]);
  if (!token || token.isNative) {
    return {
      reads: [native],
      fold: ([answer]) => {
        const held = required(answer as bigint | undefined);
        return { native: held, balance: token ? held : 0n, allowances: new Map() };
      },
    };
  }
  return {
    reads: [
      native,
      readOf(token.address, erc20Abi, 'balanceOf', [user]),
      ...spenders.map((spender) => readOf(token.address, erc20Abi, 'allowance', [user, spender])),
    ],
    fold: (answers) => {
      const [held, balance, ...allowed] = answers as readonly (bigint | undefined)[];
      const allowances = new Map(spenders.map((spender, i) => [spender, required(allowed[i])] as const));
      return { native: required(held), balance: required(balance), allowances };
    },
  };
}
