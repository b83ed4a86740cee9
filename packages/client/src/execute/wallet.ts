import { isRecord } from '../json.ts';
import { untilAborted, wait } from '../wait.ts';
import { RejectedError, WalletError } from './errors.ts';
import { type LocalAccount, signingOnly } from './local-account.ts';

/** A provider as browsers inject it (EIP-1193). */
export interface Eip1193Provider {
  request(args: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A `WalletClient` of viem, as far as it is used; also one that signs with a local account. */
export interface ViemWallet {
  readonly account?: { readonly address: string; readonly type?: string | undefined } | undefined;
  request(args: never, options?: never): Promise<unknown>;
  sendTransaction(args: never): Promise<string>;
}

export type Wallet = Eip1193Provider | ViemWallet;

/** One unsigned call of a plan. */
export interface PlanCall {
  readonly to: string;
  readonly data: string;
  /** Wei. */
  readonly value: bigint;
}

/** A wallet or node, by its JSON-RPC methods. Every request ends with the reason of the signal when that aborts. */
export interface Rpc {
  readonly signal: AbortSignal | undefined;
  /** `onLate` gets the answer that comes after the signal has aborted. @throws RejectedError | WalletError */
  request(method: string, params?: readonly unknown[], onLate?: (answer: unknown) => void): Promise<unknown>;
  /** A read, with a time limit. @throws WalletError */
  read(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** A read whose answer is a hexadecimal number. @throws WalletError */
  readNumber(method: string, params?: readonly unknown[]): Promise<bigint>;
  /** The accounts that an injected wallet shows; empty = it does not tell. */
  accounts(): Promise<readonly string[]>;
  /**
   * Sign and send; gives the hash. `onLate` gets it when the user has signed after the signal has aborted.
   *
   * @throws RejectedError | WalletError
   */
  send(from: string, call: PlanCall, gas: bigint, chainId: number, onLate?: (hash: string) => void): Promise<string>;
}

const READ_TIMEOUT_MS = 30_000;
const NO_HASH = 'The wallet sent a transaction and gave no hash: look at the account before you go on.';
const HASH = /^0x[0-9a-fA-F]{64}$/;

export function hexOf(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function isViemWallet(wallet: Wallet): wallet is ViemWallet {
  return 'sendTransaction' in wallet && typeof wallet.sendTransaction === 'function';
}

/** The account of a viem client, if it has one. */
export function ownAccountOf(wallet: Wallet): string | undefined {
  return isViemWallet(wallet) ? wallet.account?.address : undefined;
}

export function createRpc(wallet: Wallet, signal?: AbortSignal): Rpc {
  const asked = async (method: string, params: readonly unknown[], mayRepeat = false): Promise<unknown> => {
    try {
      // viem repeats a request that fails for an unknown reason. A wallet may have executed it all the same.
      if (!mayRepeat && isViemWallet(wallet)) return await wallet.request({ method, params } as never, ONCE as never);
      return await (wallet as Eip1193Provider).request({ method, params });
    } catch (error) {
      throw walletError(method, error);
    }
  };
  const request = (method: string, params: readonly unknown[] = [], onLate?: (answer: unknown) => void) =>
    untilAborted(() => asked(method, params), signal, onLate);
  const signed = async (from: string, call: PlanCall, gas: bigint, chainId: number): Promise<unknown> => {
    if (isViemWallet(wallet) && isSignedByClient(wallet)) return sendByViem(wallet, from, call, gas, chainId);
    const { to, data, value } = call;
    const tx = { from, to, data, value: hexOf(value), gas: hexOf(gas), chainId: hexOf(BigInt(chainId)) };
    return asked('eth_sendTransaction', [tx]);
  };
  const read = async (method: string, params?: readonly unknown[]): Promise<unknown> => {
    const done = new AbortController();
    const late = wait(READ_TIMEOUT_MS, done.signal).then(() => {
      throw new WalletError(`The wallet did not answer ${method} within ${READ_TIMEOUT_MS} ms.`);
    });
    const answer = untilAborted(() => asked(method, params ?? [], true), signal);
    try {
      return await Promise.race([answer, late]);
    } finally {
      // The failure of the slower promise has no other handler.
      answer.catch(() => {});
      late.catch(() => {});
      done.abort();
    }
  };
  return {
    signal,
    request,
    read,
    async readNumber(method, params) {
      const answer = await read(method, params);
      if (typeof answer === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(answer)) return BigInt(answer);
      throw new WalletError(`The wallet answered ${method} with no number.`);
    },
    async accounts() {
      if (isViemWallet(wallet)) return [];
      const shown = await read('eth_accounts').catch(() => []);
      return Array.isArray(shown) ? shown.map(String) : [];
    },
    async send(from, call, gas, chainId, onLate) {
      const run = async () => {
        const hash = await signed(from, call, gas, chainId);
        if (typeof hash !== 'string' || !HASH.test(hash)) throw new WalletError(NO_HASH);
        return hash;
      };
      // A request that is shown in the wallet can no longer be withdrawn.
      return untilAborted(run, signal, onLate);
    },
  };
}

/** An option of viem's `request`. */
const ONCE = { retryCount: 0 };

/** Whether a client of viem signs by itself, and does not pass the transaction on to a wallet or node that signs. */
const isSignedByClient = ({ account }: ViemWallet) => account !== undefined && account.type !== 'json-rpc';

async function sendByViem(
  wallet: ViemWallet,
  from: string,
  call: PlanCall,
  gas: bigint,
  chainId: number,
): Promise<unknown> {
  const account = signingOnly((wallet.account ?? from) as LocalAccount, call, chainId);
  const { to, data, value } = call;
  try {
    return await wallet.sendTransaction({
      account: account.given,
      chain: null,
      chainId,
      to,
      data,
      value,
      gas,
    } as never);
  } catch (error) {
    throw account.refusal() ?? walletError('sendTransaction', error);
  }
}

/** The user refused the request (EIP-1193), or the upgrade of the account that a batch needs (EIP-5792). */
const REFUSALS: readonly unknown[] = [4001, 5750];

/** The error of a failed request. The code of a refusal may be anywhere in the chain of causes. */
function walletError(method: string, error: unknown): RejectedError | WalletError {
  let cause = error;
  for (let depth = 0; depth < 8 && isRecord(cause); depth += 1) {
    if (REFUSALS.includes(cause.code)) return new RejectedError(error);
    cause = cause.cause;
  }
  const said = isRecord(error) && typeof error.message === 'string' ? `: ${error.message.slice(0, 300)}` : '.';
  return new WalletError(`The wallet failed in ${method}${said}`, error);
}
