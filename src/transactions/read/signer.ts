import { encodeFunctionData, getAddress, zeroAddress } from 'viem';
import { flashLeverageAbi, userProxyAbi } from '../../abi/flash-leverage.ts';
import type { Chain } from '../../catalog/types.ts';
import { proxyAddress } from '../../chain/plans/wallets.ts';
import type { Address } from '../../shared/ids.ts';
import { PositionProxyError } from '../errors.ts';
import { notASigner } from '../guards.ts';
import { type LatestReader, type Read, readOf } from './reads.ts';

/** Whose position a proxy holds. */
export interface ProxyOwner {
  readonly owner: Address;
  /** Index of the position among the owner's. */
  readonly positionId: number;
}

const S_USER = encodeFunctionData({ abi: userProxyAbi, functionName: 's_user' });
const ADDRESS_WORD = /^0x0{24}([0-9a-fA-F]{40})$/;
/** FlashLeverage's first contract is the implementation behind the proxies: it holds nothing and is nobody's. */
const IMPLEMENTATION_NONCE = 1;

/**
 * Plan to ask an address for its owner, as position proxies tell it. Belongs at the end of a plan: a contract of somebody
 * else may burn the gas of whatever comes after it.
 */
export function planOwner(address: Address): Read<Address | null> {
  return {
    to: address,
    data: S_USER,
    // No code answers with nothing, other contracts with anything.
    decode: (data) => {
      const word = ADDRESS_WORD.exec(data)?.[1];
      return word === undefined ? null : getAddress(`0x${word}`);
    },
  };
}

/**
 * Refuse to build for a position's proxy, by the answer to `planOwner`. Only an address that names an owner is looked up
 * further: a wallet costs nothing more.
 * @throws PositionProxyError naming the owner; BadRequestError for the proxies' implementation; ChainReadError
 */
export async function requireWallet(
  reader: LatestReader,
  chain: Chain,
  user: Address,
  named: Address | null | undefined,
): Promise<void> {
  if (!named) return;
  const { flashLeverage } = chain.contracts;
  const isNobodys = named === zeroAddress || named === flashLeverage;
  if (isNobodys && user === proxyAddress(flashLeverage, IMPLEMENTATION_NONCE)) {
    throw notASigner(user, 'a contract that cannot sign');
  }
  const found = await confirmOwner(reader, chain, user, named);
  if (found) throw new PositionProxyError({ field: 'userAddress', value: user, ...found });
}

/** Ask an address for its owner, where nothing else is read of it, and refuse as `requireWallet` does. */
export async function refuseProxy(reader: LatestReader, chain: Chain, user: Address): Promise<void> {
  const { answers } = await reader.read([planOwner(user)]);
  await requireWallet(reader, chain, user, answers[0]);
}

/** Tell whose position an address holds; `null` = it is no proxy. @throws ChainReadError */
export async function readProxyOwner(reader: LatestReader, chain: Chain, address: Address): Promise<ProxyOwner | null> {
  const { answers } = await reader.read([planOwner(address)]);
  return answers[0] ? confirmOwner(reader, chain, address, answers[0]) : null;
}

/** What a contract says of itself is no proof: the positions of the owner that it names are. */
async function confirmOwner(
  reader: LatestReader,
  { contracts }: Chain,
  address: Address,
  owner: Address,
): Promise<ProxyOwner | null> {
  if (owner === zeroAddress) return null;
  const { answers } = await reader.read([
    readOf(contracts.flashLeverage, flashLeverageAbi, 'getUserLeveragePositions', [owner]),
  ]);
  const positionId = (answers[0] ?? []).findIndex(({ userProxy }) => userProxy === address);
  return positionId === -1 ? null : { owner, positionId };
}
