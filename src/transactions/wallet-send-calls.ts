import { numberToHex } from 'viem';
import type { Address, ChainId } from '../shared/ids.ts';
import type { BuiltCall } from './types.ts';

interface SendCalls {
  readonly chainId: ChainId;
  readonly from: Address;
  readonly calls: readonly BuiltCall[];
  /** Whether the calls must happen together or not at all. */
  readonly atomicRequired: boolean;
}

/** Make the first parameter of `wallet_sendCalls` (EIP-5792), which wallets take with these names and no others. */
export function sendCallsParameters({ chainId, from, calls, atomicRequired }: SendCalls) {
  return {
    version: '2.0.0',
    chainId: numberToHex(chainId),
    from,
    atomicRequired,
    calls: calls.map(({ to, data, value }) => ({ to, data, value: numberToHex(value) })),
  };
}
