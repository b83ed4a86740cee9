import { readFileSync } from 'node:fs';
import {
  type Address,
  createWalletClient,
  encodeDeployData,
  getContractAddress,
  type Hex,
  http,
  numberToHex,
  parseEventLogs,
} from 'viem';
import type { LocalAccount } from 'viem/accounts';
import { compileContracts } from '../../devnet/chain/compile.ts';
import type { LocalChain } from '../../devnet/chain/index.ts';
import { OWNER } from '../../devnet/seed/accounts.ts';
import type { Eip1193Provider, SafeTransaction } from '../../packages/client/src/index.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Json } from './service.ts';

type Method = (params: readonly Json[]) => unknown;

/** A wallet of a browser: its node is a local chain, whose development accounts it signs for. Methods can be replaced. */
export function injectedWallet(chain: LocalChain, methods: Readonly<Record<string, Method>> = {}): Eip1193Provider {
  return {
    async request({ method, params = [] }) {
      const own = methods[method];
      if (own !== undefined) return own(params);
      return chain.client.request({ method, params } as never);
    },
  };
}

/** A viem client that signs with the account's own key. */
export function viemWallet(chain: LocalChain, account: LocalAccount) {
  return createWalletClient({ account, transport: http(chain.rpcUrl) });
}

/** An error with a code, as wallets throw it. */
export const walletFailure = (code: number, message: string) => () =>
  Promise.reject(Object.assign(new Error(message), { code }));

/**
 * A smart wallet that runs batches (EIP-5792): all calls of a batch in one transaction on the chain, as the account itself.
 * `requests` are the batches that it was asked for.
 */
export async function batchingWallet(chain: LocalChain, account: Address, status: Json = {}) {
  const { BatchExecutor } = await compileContracts();
  if (!BatchExecutor) throw new Error('contracts/product/testing/BatchExecutor.sol was not compiled');
  const requests: Json[] = [];
  const receipts: Json[] = [];
  const run = async (batch: Json): Promise<void> => {
    requests.push(batch);
    const calls = batch.calls.map(({ to, data, value = '0x0' }: Json) => ({ to, data, value: BigInt(value) }));
    const data = encodeFunctionData({ abi: BatchExecutor.abi, functionName: 'execute', args: [calls] });
    await chain.client.setCode({ address: account, bytecode: BatchExecutor.deployedBytecode });
    try {
      const { transactionHash } = await chain.send({ from: OWNER, to: account, data });
      receipts.splice(0, 1, { transactionHash, status: '0x1' });
    } finally {
      await chain.client.setCode({ address: account, bytecode: '0x' });
    }
  };
  const provider = injectedWallet(chain, {
    eth_accounts: () => [account],
    wallet_getCapabilities: ([, [chainId]]) => ({ [chainId]: { atomic: { status: 'supported' } } }),
    wallet_sendCalls: async ([batch]) => {
      if (status.status === undefined) await run(batch);
      return { id: '0xba7c4' };
    },
    wallet_getCallsStatus: ([id]) => ({
      version: '2.0.0',
      id,
      chainId: numberToHex(chain.chain.chainId),
      status: 200,
      atomic: true,
      receipts,
      ...status,
    }),
  });
  return { provider, requests };
}

const artifact = (path: string): { abi: Json; bytecode: Hex } =>
  JSON.parse(
    readFileSync(`node_modules/@safe-global/safe-smart-account/build/artifacts/contracts/${path}.json`, 'utf8'),
  );

/** Deploy Safe's own contracts and a Safe with one owner. */
export async function deploySafe(chain: LocalChain, owner: LocalAccount) {
  const wallet = viemWallet(chain, owner);
  const send = async (call: { to?: Address; data: Hex }) => {
    const hash = await wallet.sendTransaction({ chain: null, ...call });
    return chain.client.waitForTransactionReceipt({ hash });
  };
  const deploy = async (path: string): Promise<Address> => {
    const nonce = await chain.client.getTransactionCount({ address: owner.address });
    await send({ data: encodeDeployData({ ...artifact(path), args: [] }) });
    return getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
  };
  const singleton = await deploy('Safe.sol/Safe');
  const factory = await deploy('proxies/SafeProxyFactory.sol/SafeProxyFactory');
  const multiSend = await deploy('libraries/MultiSendCallOnly.sol/MultiSendCallOnly');
  const { abi } = artifact('Safe.sol/Safe');
  const none = numberToHex(0, { size: 20 });
  const setup = encodeFunctionData({
    abi,
    functionName: 'setup',
    args: [[owner.address], 1n, none, '0x', none, none, 0n, none],
  });
  const { abi: factoryAbi } = artifact('proxies/SafeProxyFactory.sol/SafeProxyFactory');
  const data = encodeFunctionData({
    abi: factoryAbi,
    functionName: 'createProxyWithNonce',
    args: [singleton, setup, 0n],
  });
  const { logs } = await send({ to: factory, data });
  const [created] = parseEventLogs({ abi: factoryAbi, logs, eventName: 'ProxyCreation' }) as Json[];
  const safe: Address = created.args.proxy;
  return {
    safe,
    multiSend,
    /** Sign as the owner and execute. */
    async execute({ to, value, data: calldata, operation }: SafeTransaction) {
      const fields = [to, BigInt(value), calldata, operation, 0n, 0n, 0n, none, none] as const;
      const nonce = await chain.client.readContract({ address: safe, abi, functionName: 'nonce' });
      const hash = (await chain.client.readContract({
        address: safe,
        abi,
        functionName: 'getTransactionHash',
        args: [...fields, nonce],
      })) as Hex;
      const signature = await owner.sign?.({ hash });
      const call = encodeFunctionData({ abi, functionName: 'execTransaction', args: [...fields, signature] });
      return send({ to: safe, data: call });
    },
  };
}
