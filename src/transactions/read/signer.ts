import { getAddress, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { flashLeverageAbi, userProxyAbi } from '../../abi/flash-leverage.ts';
import type { Chain } from '../../catalog/types.ts';
import { proxyAddress } from '../../chain/plans/wallets.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { PositionProxyError } from '../errors.ts';
import { notASigner } from '../guards.ts';
import { type LatestReader, type Read, readOf } from './reads.ts';

/** Owner of the position that a proxy holds. */
export interface ProxyOwner {
  readonly owner: Address;
  /** Index of the position among the owner's. */
  readonly positionId: number;
}

const S_USER = encodeFunctionData({ abi: userProxyAbi, functionName: 's_user' });
const ADDRESS_WORD = /^0x0{24}([0-9a-fA-F]{40})$/;
/** FlashLeverage's first contract is the implementation behind the proxies: it has no holdings and no owner. */
const IMPLEMENTATION_NONCE = 1;

/**
 * Plan to ask an address for its owner, as position proxies answer. Belongs at the end of a plan: a foreign contract may burn
 * the gas of the reads after it.
 */
export function planOwner(address: Address): Read<Address | null> {
  return {
    to: address,
    data: S_USER,
    // An address without code returns no data, other contracts may return anything.
    decode: (data) => {
      const word = ADDRESS_WORD.exec(data)?.[1];
      return word === undefined ? null : getAddress(`0x${word}`);
    },
  };
}

/**
 * Refuse to build for a position's proxy, by the answer to `planOwner`. Only an address that names an owner is looked up
 * further, so a wallet costs no extra call.
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
  const hasNoOwner = named === zeroAddress || named === flashLeverage;
  if (hasNoOwner && user === proxyAddress(flashLeverage, IMPLEMENTATION_NONCE)) {
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

/**
 * Find the owners of the positions that addresses hold; `null` = an address is no proxy. Two calls for all of them: the owners
 * that they name, and the positions of those owners. An address that cannot be read has its error in the answer.
 * @throws ChainReadError
 */
export async function readProxyOwners(
  reader: LatestReader,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, ProxyOwner | null | Error>> {
  const named = await readEach(reader, addresses.map(planOwner));
  const owners = [...new Set(named.flatMap((owner) => (isOwner(owner) ? [owner] : [])))];
  const rows = await readEach(
    reader,
    owners.map((owner) => planPositions(chain, owner)),
  );
  const positions = new Map(owners.map((owner, i) => [owner, rows[i]]));
  const found = (address: Address, owner: (typeof named)[number]): ProxyOwner | null | Error => {
    if (!isOwner(owner)) return owner instanceof Error ? owner : null;
    const held = positions.get(owner);
    return held instanceof Error ? held : ownerIn(held ?? [], address, owner);
  };
  return new Map(addresses.map((address, i) => [address, found(address, named[i])]));
}

function isOwner(named: Address | Error | null | undefined): named is Address {
  return typeof named === 'string' && named !== zeroAddress;
}

/**
 * Read everything in one call, and each read without an answer again alone: a contract before it in the call may have burned the
 * gas. A read that fails alone has its error in the answer.
 */
async function readEach<T>(
  reader: LatestReader,
  plan: readonly Read<T>[],
): Promise<readonly (T | undefined | ChainReadError)[]> {
  const orError = (error: unknown): ChainReadError => {
    if (error instanceof ChainReadError) return error;
    throw error;
  };
  const read = (reads: readonly Read<T>[]) =>
    reader.read(reads).then(({ answers }) => answers as readonly (T | undefined)[]);
  const together = plan.length > 1 ? await read(plan).catch(orError) : [];
  const answers = together instanceof ChainReadError ? [] : together;
  return Promise.all(
    plan.map((one, i) => (answers[i] === undefined ? read([one]).then(([answer]) => answer, orError) : answers[i])),
  );
}

/** Confirm the owner that a contract names by the positions of that owner: a foreign contract may name any address. */
async function confirmOwner(
  reader: LatestReader,
  chain: Chain,
  address: Address,
  owner: Address,
): Promise<ProxyOwner | null> {
  if (owner === zeroAddress) return null;
  const { answers } = await reader.read([planPositions(chain, owner)]);
  return ownerIn(answers[0] ?? [], address, owner);
}

type HeldProxies = readonly { readonly userProxy: Address }[];

function planPositions({ contracts }: Chain, owner: Address): Read<HeldProxies> {
  return readOf(contracts.flashLeverage, flashLeverageAbi, 'getUserLeveragePositions', [owner]);
}

function ownerIn(positions: HeldProxies, address: Address, owner: Address): ProxyOwner | null {
  const positionId = positions.findIndex(({ userProxy }) => userProxy === address);
  return positionId === -1 ? null : { owner, positionId };
}
