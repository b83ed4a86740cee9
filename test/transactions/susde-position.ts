import { Market as SdkMarket } from '@morpho-org/blue-sdk';
import type { EquityVault } from '../../src/catalog/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type LiveMarket, paramsOf } from '../../src/transactions/read/market-state.ts';
import { loopMarket, servedChain, whole } from './model/scene.ts';

export const market = loopMarket(1, 'sUSDe', 'PYUSD');
export const chain = servedChain(1);
export const [vault] = servedChain(4663).equityVaults as [EquityVault];
export const d = (value: string | number) => new Decimal(value);
export const PRICE = 107n * 10n ** 22n;
export const [loan, collateral] = [market.loan, market.collateral];
export const before = {
  loop: { collateral: whole(8_000, collateral), debt: whole(6_000, loan) },
  basis: whole(2_400, loan),
};
export const refused = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return 'accepted';
};
export const refusal = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

/** A market whose debt is worth one share each, with so much lent and held. */
export function liveOf(supplied: bigint, borrowed: bigint, idle = supplied - borrowed): LiveMarket {
  const sdk = new SdkMarket({
    params: paramsOf(market),
    totalSupplyAssets: supplied,
    totalSupplyShares: supplied * 1_000_000n,
    totalBorrowAssets: borrowed,
    totalBorrowShares: borrowed * 1_000_000n,
    lastUpdate: 1_780_000_000n,
    fee: 0n,
    price: PRICE,
    rateAtTarget: 1_268_391_679n,
  });
  return { sdk, price: PRICE, liquidity: supplied - borrowed, idle, readAt: { blockTimeMs: 0 } };
}
