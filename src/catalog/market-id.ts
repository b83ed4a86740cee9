import { encodeAbiParameters, keccak256 } from 'viem';
import type { Address, MarketId } from '../shared/ids.ts';

export interface MarketParams {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  readonly lltv: bigint;
}

const PARAMETERS = [
  { type: 'address' },
  { type: 'address' },
  { type: 'address' },
  { type: 'address' },
  { type: 'uint256' },
] as const;

/** Compute the Morpho Blue id of a market: keccak256(abi.encode(loanToken, collateralToken, oracle, irm, lltv)). */
export function computeMarketId(params: MarketParams): MarketId {
  return keccak256(
    encodeAbiParameters(PARAMETERS, [params.loanToken, params.collateralToken, params.oracle, params.irm, params.lltv]),
  ) as MarketId;
}
