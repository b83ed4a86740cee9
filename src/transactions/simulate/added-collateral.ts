import { concat, encodeAbiParameters, type Hex, keccak256, numberToHex, pad } from 'viem';
import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { Overrides } from './steps.ts';

/** Where the lending protocol keeps its positions, a mapping by market and account. */
const POSITIONS_SLOT = 2n;

/** A position at the lending protocol, as it is stored. */
export interface StoredPosition {
  readonly market: Market;
  readonly holder: Address;
  readonly borrowShares: bigint;
  /** Base units. */
  readonly collateral: bigint;
}

/** State in which somebody has added one base unit of collateral to each of the positions, as anybody can. */
export function withAddedUnits({ contracts }: Chain, positions: readonly StoredPosition[]): Overrides {
  const stateDiff = Object.fromEntries(
    positions.map(({ market, holder, borrowShares, collateral }): [Hex, Hex] => [
      slotOf(market, holder),
      concat([word(collateral + 1n, 16), word(borrowShares, 16)]),
    ]),
  );
  return { [contracts.morphoBlue]: { stateDiff } };
}

/** The second slot of a position: borrow shares in its lower half, collateral in its upper one. */
function slotOf({ id }: Market, holder: Address): Hex {
  const ofMarket = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, POSITIONS_SLOT]));
  const first = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [holder, ofMarket]));
  return word(BigInt(first) + 1n, 32);
}

function word(value: bigint, size: number): Hex {
  return pad(numberToHex(value), { size });
}
