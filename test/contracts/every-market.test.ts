import { parseUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { createOverlay } from '../../devnet/overlay.ts';
import { marketKey } from '../../devnet/seed/markets.ts';
import { tokenSeed } from '../../devnet/seed/tokens.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { alice, leverageCall, routerCall, useWorld } from './world.ts';

const COLLATERAL_USD = 2_000;
/** Points below the liquidation LTV: a thin collateral loses on the way in. */
const MARGIN_POINTS = 3.75;

const catalog = createCatalog(curatedChains, createOverlay(Date.UTC(2026, 8, 1)));

describe.each(catalog.chains.map((chain) => ({ chain, chainId: chain.chainId })))(
  'chain $chainId',
  ({ chain, chainId }) => {
    const world = useWorld(chainId);
    const loops = chain.markets
      .filter(({ kind, collateral }) => kind === 'loop' && !collateral.noSwapRoute)
      .map((market) => ({ key: marketKey(market), market }));

    test.each(loops)('$key opens near its limit and closes', async ({ key, market }) => {
      const { collateral, loan, lltv, id, correlated } = market;
      const read = { address: world().flashLeverage, abi: flashLeverageAbi } as const;
      expect(await world().client.readContract({ ...read, functionName: 'isSupportedMarket', args: [id] })).toBe(true);
      expect(await world().client.readContract({ ...read, functionName: 's_isCorrelated', args: [id] })).toBe(
        correlated,
      );

      const whole = COLLATERAL_USD / Number(tokenSeed(chainId, collateral.symbol).usdPrice);
      const amount = parseUnits(whole.toFixed(6), collateral.decimals);
      const ltvPct = (Number(lltv / 10n ** 13n) / 1_000 - MARGIN_POINTS).toString();
      await world().open(alice, key, amount, ltvPct);
      const opened = await world().position(alice);
      expect(opened.debt).toBeGreaterThan(0n);

      const { swapData, minOut } = await world().swap(
        collateral.symbol,
        loan.symbol,
        opened.collateral,
        world().flashLeverage,
      );
      const data = leverageCall('deleverage', [0n, 0n, swapData, minOut]);
      await world().send({ from: alice, to: world().flashLeverage, data });
      expect(await world().position(alice)).toMatchObject({ open: false, debt: 0n, collateral: 0n });
    });
  },
);

describe('a chain without a public allocator', () => {
  const world = useWorld(4663);

  test('error: ZeroAddress of the allocator', async () => {
    const params = await world().leverageParams('USDe/USDG 91.5', world().units('USDe', '100'), '50');
    const data = routerCall('reallocateAndLeverage', [[], params]);
    expect((await world().refusal({ from: alice, to: world().router, data }))?.name).toBe(
      'FlashLeverageRouter__ZeroAddress',
    );
  });
});
