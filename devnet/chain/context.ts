import { type Address, concatHex, encodeDeployData, type Hex, numberToHex } from 'viem';
import type { Chain } from '../../src/catalog/index.ts';
import type { DevnetClient } from './client.ts';
import { type Artifacts, artifactOf } from './compile.ts';

/** Inputs of a deployment step. */
export interface DeployContext {
  readonly chain: Chain;
  readonly client: DevnetClient;
  readonly artifacts: Artifacts;
  /** Owner of every contract of the local world. It has no key: only the local chain's impersonation can act for it. */
  readonly owner: Address;
  /** Run constructors at given addresses, all in one block. */
  construct(contracts: readonly Construction[]): Promise<void>;
  /** Send transactions from any account, in one block; those of one account run in the given order. @throws when one reverts */
  send(transactions: readonly Transaction[]): Promise<void>;
}

export interface Construction {
  readonly address: Address;
  /** Solidity contract name. */
  readonly contract: string;
  readonly args?: readonly unknown[];
}

export interface Transaction {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
  /** Its purpose, for the error message. */
  readonly label?: string;
}

interface BlockReceipt {
  readonly transactionHash: Hex;
  readonly status: Hex;
}

/** Above the gas of every deployment step. An estimate would need the earlier steps to be mined. */
const GAS_PER_TRANSACTION = 8_000_000n;
const DEPLOYMENT_BLOCK_GAS = 1_000_000_000_000n;

/**
 * Prepare a fresh chain for deployment: blocks on request only, without a gas limit, every account impersonated.
 */
export async function beginDeployment(
  chain: Chain,
  client: DevnetClient,
  artifacts: Artifacts,
  owner: Address,
): Promise<DeployContext> {
  await Promise.all([
    client.setAutomine(false),
    client.setBlockGasLimit({ gasLimit: DEPLOYMENT_BLOCK_GAS }),
    client.request({ method: 'anvil_autoImpersonateAccount', params: [true] } as never),
  ]);
  const send = (transactions: readonly Transaction[]) => sendInOneBlock(client, transactions);
  return {
    chain,
    client,
    artifacts,
    owner,
    send,
    construct: (list) => constructInPlace(client, artifacts, owner, list, send),
  };
}

/**
 * Put contracts at chosen addresses, constructor included: the creation code is placed at the address first and
 * run there, so that immutables (Morpho's domain separator), storage and values derived from the address are the same
 * as after a CREATE. Then it is replaced by the runtime code that the run returns.
 */
async function constructInPlace(
  client: DevnetClient,
  artifacts: Artifacts,
  owner: Address,
  list: readonly Construction[],
  send: DeployContext['send'],
): Promise<void> {
  await Promise.all(
    list.flatMap(({ address, contract, args }) => {
      const { abi, bytecode } = artifactOf(artifacts, contract);
      return [
        client.setCode({ address, bytecode: encodeDeployData({ abi, bytecode, args: args ?? [] }) }),
        client.setNonce({ address, nonce: 1 }), // a contract's first CREATE uses nonce 1
      ];
    }),
  );
  const runtimes = await Promise.all(list.map(({ address }) => client.call({ account: owner, to: address })));
  await send(
    list.map(({ address, contract }) => ({ from: owner, to: address, data: '0x', label: `construct ${contract}` })),
  );
  await Promise.all(
    list.map(({ address, contract }, index) => {
      const bytecode = runtimes[index]?.data;
      if (bytecode === undefined) throw new Error(`The constructor of ${contract} returned no code`);
      return client.setCode({ address, bytecode });
    }),
  );
}

async function sendInOneBlock(client: DevnetClient, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return;
  const senders = [...new Set(transactions.map(({ from }) => from))];
  const nonces = new Map(
    await Promise.all(
      senders.map(async (address) => [address, await client.getTransactionCount({ address })] as const),
    ),
  );
  const hashes = await Promise.all(
    transactions.map(({ from, to, data, value }) => {
      const nonce = nonces.get(from) ?? 0;
      nonces.set(from, nonce + 1);
      return client.request({
        method: 'eth_sendTransaction',
        params: [
          {
            from,
            to,
            data,
            nonce: numberToHex(nonce),
            gas: numberToHex(GAS_PER_TRANSACTION),
            value: numberToHex(value ?? 0n),
          },
        ],
      } as never) as Promise<Hex>;
    }),
  );
  await client.mine({ blocks: 1 });
  const receipts = (await client.request({
    method: 'eth_getBlockReceipts',
    params: ['latest'],
  } as never)) as BlockReceipt[];
  const succeeded = new Set(
    receipts.filter(({ status }) => status === '0x1').map(({ transactionHash }) => transactionHash),
  );
  const failed = transactions.find((_, index) => !succeeded.has(hashes[index] as Hex));
  if (failed !== undefined) throw new Error(await explain(client, failed));
}

/** Run a failed transaction again as a call, whose error names the reason. */
async function explain(client: DevnetClient, { from, to, data, value, label }: Transaction): Promise<string> {
  const what = `Deployment step failed: ${label ?? concatHex([data.slice(0, 10) as Hex])} from ${from} to ${to}`;
  try {
    await client.call({ account: from, to, data, value });
    return `${what} (it passes when run again)`;
  } catch (error) {
    return `${what}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
