import { decodeFunctionResult, getAddress, getContractAddress, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { userProxyAbi } from '../../abi/flash-leverage.ts';
import type { FailureReason } from '../../domain/facts.ts';
import type { Address } from '../../shared/ids.ts';
import { decoded } from '../decode.ts';
import type { Call, CallResult } from '../types.ts';

/** Owners of the contracts that FlashLeverage has created, by creation nonce. */
export interface ProxyOwners {
  /** `null` = no owner: the implementation behind the proxies, whose owner is FlashLeverage or zero. */
  readonly owners: ReadonlyMap<number, Address | null>;
  readonly failures: ReadonlyMap<number, FailureReason>;
}

/** Gas of the owner's view, which a proxy forwards to its implementation. */
const OWNER_GAS = 12_000n;
const S_USER = encodeFunctionData({ abi: userProxyAbi, functionName: 's_user' });

/** Compute the address of the contract that an account created with a nonce by CREATE. */
export function proxyAddress(flashLeverage: Address, nonce: number): Address {
  return getContractAddress({ from: flashLeverage, nonce: BigInt(nonce) });
}

/** Plan one read of the owner per created contract. */
export function planProxyOwners(flashLeverage: Address, nonces: readonly number[]): readonly Call[] {
  return nonces.map((nonce) => ({ to: proxyAddress(flashLeverage, nonce), data: S_USER, gas: OWNER_GAS }));
}

/** Fold the answers, in the order of `planProxyOwners`. */
export function foldProxyOwners(
  flashLeverage: Address,
  nonces: readonly number[],
  results: readonly CallResult[],
): ProxyOwners {
  const owners = new Map<number, Address | null>();
  const failures = new Map<number, FailureReason>();
  const nobody = new Set<Address>([zeroAddress, getAddress(flashLeverage)]);
  for (const [i, nonce] of nonces.entries()) {
    const owner = decoded(results[i], undefined, (data) => ({
      address: decodeFunctionResult({ abi: userProxyAbi, functionName: 's_user', data }),
    }));
    if (!owner.ok) failures.set(nonce, owner.reason);
    else owners.set(nonce, nobody.has(owner.value.address) ? null : owner.value.address);
  }
  return { owners, failures };
}
