import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, partnerOn } from '../leverage/support.ts';

const BUFFER_POINTS = 2.5;
const SAFETY_POINTS = 0.75;

let service: TestService;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
/** Ten times the usual buffer: one published build has it. */
beforeAll(async () => {
  service = await startService({ sleep: noSleep, deployment: { liquidationBuffer: 25n * 10n ** 15n } });
});
afterAll(() => service?.stop());

const strategies = async (chainId = 1): Promise<readonly Json[]> =>
  (await service.get(`/v1/strategies?chainId=${chainId}`)).body.strategies;
const strategyOf = async (chainId: number, id: string): Promise<Json> =>
  (await strategies(chainId)).find((strategy) => strategy.id === id);

describe('the buffer of the deployed contract', () => {
  it.each([
    [1, 10],
    [4663, 1],
  ])('default: limits, ladder and default leverage of every loop on chain %i use it', async (chainId, least) => {
    const loops = (await strategies(chainId)).filter(({ equityVault }) => equityVault === undefined);
    expect(loops.length).toBeGreaterThan(least);
    for (const { ltvPct, leverageLadder, defaultLeverage, maxLeverage, gaps, deployment } of loops) {
      const max = Number(ltvPct.liquidation) - BUFFER_POINTS;
      expect(Number(ltvPct.max)).toBeCloseTo(max, 6);
      expect(leverageLadder.at(-1).leverage).toBe(maxLeverage);
      expect(Number(leverageLadder.at(-1).ltvPct)).toBeCloseTo(max, 0);
      expect(Math.abs(Number(defaultLeverage.ltvPct) - (max - SAFETY_POINTS))).toBeLessThanOrEqual(0.051);
      expect((gaps ?? []).filter(({ field }: Json) => /max|safe/.test(field))).toEqual([]);
      expect(deployment).toMatchObject({
        liquidationBufferPct: '2.5',
        source: 'chain',
        freshness: { staleAfterSec: 900 },
      });
    }
  });

  it.each([
    [1, 'sUSDe/PYUSD 91.5'],
    [4663, 'syrupUSDG/USDG 91.5'],
  ])(
    'behavior: on chain %i the app markets agree, and simulations and builds accept exactly that limit',
    async (chainId, key) => {
      const market = marketOf(chainId, key);
      const partner = partnerOn(service, chainId, account);
      const { markets } = (await service.get('/v1/app/markets')).body;
      const shown = markets.find(({ id, marketId }: Json) => (marketId ?? id) === market.id);
      expect([shown.maxLtvPct.$bn, shown.safeLtvPct.$bn]).toEqual(['89', '88.25']);
      const { defaultLeverage } = await strategyOf(chainId, market.id);
      const open = { strategyId: market.id, chainId, payToken: market.collateral.address, amount: '100' };
      const leverage = Number(defaultLeverage.leverage);
      const preview = await partner.build('/v1/partner/leverage/simulate', { ...open, leverage });
      const ltvPct = Number(preview.positionPreview.effectiveLtv);
      expect(ltvPct).toBeGreaterThan(87);
      expect(ltvPct).toBeLessThanOrEqual(88.25);
      await partner.send(await partner.build('/v1/partner/leverage/build', { ...open, leverage, userAddress: user }));
      for (const path of ['simulate', 'build']) {
        const wallet = path === 'build' ? { userAddress: user } : {};
        const refused = await service.post(
          `/v1/partner/leverage/${path}`,
          { ...open, desiredLtv: '88.3', ...wallet },
          PARTNER,
        );
        expect([refused.status, refused.body.error.message]).toEqual([
          400,
          expect.stringContaining('an LTV of 88.25 %'),
        ]);
      }
    },
  );

  it('behavior: the facts have a source, an age and a budget', async () => {
    const query =
      '{ freshness(chainIds: [1]) { groups { group freshness { status staleAfterSec } itemCount failing { key } } } }';
    const { data } = (await service.graphql(query)).body;
    const rows = data.freshness[0].groups.filter(({ group }: Json) =>
      /DEPLOYMENT|MARKET_SUPPORT|TOKEN_CONTRACT/.test(group),
    );
    const freshness = { status: 'FRESH', staleAfterSec: 900 };
    expect(rows).toEqual([
      { group: 'DEPLOYMENT', freshness, itemCount: 1, failing: [] },
      { group: 'MARKET_SUPPORT', freshness, itemCount: expect.any(Number), failing: [] },
      { group: 'TOKEN_CONTRACT', freshness, itemCount: expect.any(Number), failing: [] },
    ]);
  });
});
