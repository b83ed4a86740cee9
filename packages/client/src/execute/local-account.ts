import { WalletError, WrongChainError } from './errors.ts';

/** An account of viem, as far as it is used; one with a key of its own signs what the client of viem has prepared. */
export interface LocalAccount {
  readonly address: string;
  readonly type?: string | undefined;
  readonly nonceManager?: unknown;
  signTransaction?(transaction: Transaction, ...rest: readonly unknown[]): Promise<unknown>;
}

interface Transaction {
  readonly chainId?: number | undefined;
  readonly to?: string | null | undefined;
  readonly data?: string | undefined;
  readonly value?: bigint | undefined;
}

interface Call {
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
}

/**
 * An account that signs one call for one chain and nothing else: a node fills in what the client of viem leaves open, and may
 * name another chain than a moment before. The signature would hold there.
 */
export function signingOnly(account: LocalAccount, call: Call, chainId: number) {
  let refused: WalletError | WrongChainError | undefined;
  const { address, type, nonceManager } = account;
  if (type !== 'local' || account.signTransaction === undefined) return { given: account, refusal: () => undefined };
  const signTransaction: LocalAccount['signTransaction'] = async (transaction, ...rest) => {
    refused = refusalOf(transaction, call, chainId);
    if (refused !== undefined) throw refused;
    return account.signTransaction?.(transaction, ...rest);
  };
  return { given: { ...account, address, type, nonceManager, signTransaction }, refusal: () => refused };
}

function refusalOf({ chainId, to, data = '0x', value = 0n }: Transaction, call: Call, expected: number) {
  if (chainId !== expected) {
    const message = `The plan is for chain ${expected}, and the node had the transaction signed for chain ${chainId}.`;
    return new WrongChainError(expected, message);
  }
  const isSame = (a: string | null | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
  if (isSame(to, call.to) && isSame(data, call.data) && value === call.value) return undefined;
  return new WalletError('The node had another transaction signed than the call of the plan.');
}
