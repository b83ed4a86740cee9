import { readFile } from 'node:fs/promises';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMined } from '../../../devnet/chain/receipt.ts';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { irmAbi } from '../../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import type { Market } from '../../../src/catalog/index.ts';
import { borrowApyPctFromRate } from '../../../src/domain/apy/rates.ts';
import { exactApyPctAtLtv } from '../../../src/domain/leverage/leveraged-apy.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { openVariables } from '../../support/partner-inputs.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, marketOf, type OnChain, type Partner, partnerOn, tokenOf, units } from './support.ts';

const OPENS = 200;
/** About the amount that a dollar buys at the oracle of the local world. */
const SUSDE_PER_USD = new Decimal('0.8');
let service: TestService;
const [, account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const partners = new Map<number, Partner>();
const partnerAt = (chainId: number): Partner => {
  const partner = partners.get(chainId);
  if (!partner) throw new Error(`no partner on ${chainId}`);
  return partner;
};

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  for (const chainId of [1, 4663]) {
    partners.set(chainId, partnerOn(service, chainId, account));
    await service.world.chains.on(chainId).impersonate(user);
  }
});
afterAll(() => service?.stop());

/** The same numbers in the same order in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const post = (path: string, body: Json) => service.post(path, body, PARTNER);

/** Budgets of venues are counted by the minute, and the clock stands: let one pass, for chains and service alike. */
async function passMinute(): Promise<void> {
  for (const chainId of [1, 4663]) await service.world.chains.on(chainId).increaseTime(61);
  service.clock.advance(61_000);
  await service.refresh('lending-state:1', 'lending-state:4663', 'prices');
}

/** Above the gas of every bundle: an estimate would run it some ten times. */
const GAS = numberToHex(6_000_000n);

/** Send a bundle as the wallet, without signing: one block each. */
async function execute(chainId: number, bundle: Json): Promise<void> {
  const { client } = service.world.chains.on(chainId);
  for (const { to, data, value } of [...bundle.approvals, bundle.tx]) {
    const quantities = { value: numberToHex(BigInt(value ?? 0)), gas: GAS };
    const { status } = await sendMined(client, { from: user, to, data, ...quantities });
    expect(status).toBe('success');
  }
}

/** Borrow APY that the market's own rate model gives now, percent. */
async function chainBorrowApyPct(chainId: number, market: Market): Promise<Decimal> {
  const { client } = partnerAt(chainId);
  const { morphoBlue } = localCatalog.chain(chainId)?.contracts ?? {};
  if (!morphoBlue) throw new Error(`no protocol on ${chainId}`);
  const [totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee] =
    await client.readContract({ address: morphoBlue, abi: morphoBlueAbi, functionName: 'market', args: [market.id] });
  const rate = await client.readContract({
    address: market.irm,
    abi: irmAbi,
    functionName: 'borrowRateView',
    args: [
      {
        loanToken: market.loan.address,
        collateralToken: market.collateral.address,
        oracle: market.oracle,
        irm: market.irm,
        lltv: market.lltv,
      },
      { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee },
    ],
  });
  return borrowApyPctFromRate(rate);
}

interface Rates {
  readonly collateralApyPct: Decimal;
  readonly incentivePct: Decimal;
}

/** Yield and incentive at full precision, as the app list has them. */
async function ratesOf(chainId: number): Promise<ReadonlyMap<string, Rates>> {
  const { body } = await service.graphql(
    `{ markets(chainIds: [${chainId}], first: 100) { nodes { id: marketId borrowApyPct netBorrowApyPct effectiveCollateralApyPct } } }`,
    {},
  );
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return new Map(
    body.data.markets.nodes.map((node: Json) => [
      node.id,
      {
        collateralApyPct: new Decimal(node.effectiveCollateralApyPct),
        incentivePct: new Decimal(node.borrowApyPct).minus(node.netBorrowApyPct),
      },
    ]),
  );
}

/** APY of a position as the chain has it. */
async function chainApyPct(chainId: number, market: Market, position: OnChain, rates: Rates): Promise<Decimal> {
  const net = (await chainBorrowApyPct(chainId, market)).minus(rates.incentivePct);
  return exactApyPctAtLtv(rates.collateralApyPct, net, position.ltvPct);
}

describe('POST /v1/partner/leverage/simulate', () => {
  it('default: preview and meta have costs, worst case and liquidation', async () => {
    const market = marketOf(1, 'sUSDe/PYUSD 91.5');
    const body = { strategyId: market.id, payToken: tokenOf(1, 'USDC').address, amount: '20000', leverage: 8 };
    const simulated = await post('/v1/partner/leverage/simulate', body);
    expect(bodyViolation('leverageSimulate', simulated.body)).toBeNull();
    const { positionPreview: preview } = simulated.body;
    expect(preview.costs.map(({ kind }: Json) => kind)).toEqual(['ENTRY_SWAP', 'LEVERAGE_SWAP']);
    const summed = preview.costs.reduce((sum: number, { pctOfEquity }: Json) => sum + Number(pctOfEquity), 0);
    expect(Math.abs(summed - Number(preview.totalSwapCostPctOfEquity))).toBeLessThan(0.02);
    expect(Number(preview.totalSwapCostPctOfEquity)).toBeGreaterThan(Number(preview.priceImpactPct));
    expect(Number(preview.worstCase.ltv)).toBeGreaterThan(Number(preview.effectiveLtv));
    expect(Number(preview.liquidation.dropPct)).toBeGreaterThan(0);
    const built = await post('/v1/partner/leverage/build', { ...body, userAddress: user });
    expect(bodyViolation('leverageBuild', built.body)).toBeNull();
  });
});

describe('liquidity', () => {
  it.each([
    [1, 'sUSDe/PYUSD 91.5', 'sUSDe', 10.5],
    [1, 'sUSDe/PYUSD 91.5', 'USDC', 6],
    [4663, 'syrupUSDG/USDG 91.5', 'syrupUSDG', 10.5],
  ] as const)(
    'behavior: the largest named amount passes, and more is refused: chain %i, %s, paid in %s',
    async (chainId, key, pay, leverage) => {
      const market = marketOf(chainId, key);
      const payToken = tokenOf(chainId, pay);
      const local = service.world.chains.on(chainId);
      const snapshot = await local.snapshot();
      try {
        const requested = (amount: string) => ({
          chainId,
          strategyId: market.id,
          payToken: payToken.address,
          amount,
          leverage,
          maxSwapLossPct: 10,
        });
        const both = async (amount: string) =>
          Promise.all([
            post('/v1/partner/leverage/simulate', requested(amount)),
            post('/v1/partner/leverage/build', { ...requested(amount), userAddress: user }),
          ]);
        const refused = await both('3000000');
        for (const { status, body } of refused)
          expect([status, body.error.code], JSON.stringify(body)).toEqual([503, 'insufficient_liquidity']);
        const { maxAmount } = refused[0].body.error.details;
        await local.mint(payToken, user, units(maxAmount, payToken));
        const [simulated, built] = await both(maxAmount);
        expect(simulated.status, simulated.text).toBe(200);
        expect(built.status, built.text).toBe(200);
        await execute(chainId, built.body);
        await local.revert(snapshot);
        const above = new Decimal(maxAmount).times('1.03').decimalPlaces(6).toFixed();
        for (const { status, body } of await both(above)) {
          expect([status, body.error?.code]).toEqual([503, 'insufficient_liquidity']);
        }
      } finally {
        await local.revert(snapshot).catch(() => {});
      }
    },
  );
});

/** A row of the four sizes in docs/reliability.md: APY before, previewed and on chain, and after how many days costs are earned. */
async function sizeRow(usd: string): Promise<readonly [string, string, string, string]> {
  const text = await readFile(new URL('../../../docs/reliability.md', import.meta.url), 'utf8');
  const row = text.split('\n').find((line) => line.startsWith(`| $${Number(usd).toLocaleString('en-US')} |`));
  const cells = (row ?? '').split('|').map((cell) =>
    cell
      .replace('−', '-')
      .replace(/ %| days/, '')
      .trim(),
  );
  return cells.slice(2, 6) as unknown as readonly [string, string, string, string];
}

describe('an open executes as previewed', () => {
  it(`behavior: ${OPENS} seeded opens: APY within 0.05 points, LTV at most as requested, worst case at most the contract's limit`, async () => {
    const random = seeded(20_261_122);
    const places = await Promise.all(
      [1, 4663].map(async (chainId) => {
        const rates = await ratesOf(chainId);
        const markets = (localCatalog.chain(chainId)?.markets ?? []).filter(
          ({ kind, id }) => kind === 'loop' && rates.has(id),
        );
        return { chainId, rates, markets };
      }),
    );
    let opened = 0;
    let largest = 0;
    for (let i = 0; opened < OPENS; i += 1) {
      expect(i).toBeLessThan(OPENS * 4);
      if (i % 50 === 49) await passMinute();
      const { chainId, rates, markets } = places[Math.floor(random() * 2)] as (typeof places)[number];
      const market = markets[Math.floor(random() * markets.length)] as Market;
      const amount = (10 ** (1 + random() * 3.5)).toFixed(2);
      const leverage = Number((1.5 + random() * 9).toFixed(2));
      const local = service.world.chains.on(chainId);
      const snapshot = await local.snapshot();
      const body = {
        chainId,
        strategyId: market.id,
        payToken: market.collateral.address,
        amount,
        leverage,
        userAddress: user,
      };
      const built = await post('/v1/partner/leverage/build', body);
      if (built.status === 200) {
        await local.mint(market.collateral, user, units(amount, market.collateral));
        const id = await partnerAt(chainId).nextId();
        await execute(chainId, built.body);
        const position = await partnerAt(chainId).position(market, id);
        const { positionPreview: preview } = built.body.meta;
        const apy = await chainApyPct(chainId, market, position, rates.get(market.id) as Rates);
        const off = apy.minus(preview.expectedLeverageApy).abs().toNumber();
        expect(
          off,
          `${market.collateral.symbol} ${amount} ${leverage}: ${apy.toFixed(4)} vs ${preview.expectedLeverageApy}`,
        ).toBeLessThanOrEqual(0.05);
        expect(Number(preview.effectiveLtv)).toBeLessThanOrEqual(Number(preview.requestedLtv));
        const limit = new Decimal(market.lltv.toString()).shiftedBy(-16).minus('0.25');
        expect(limit.gte(preview.worstCase.ltv)).toBe(true);
        expect(limit.gte(position.ltvPct)).toBe(true);
        largest = Math.max(largest, off);
        opened += 1;
      }
      await local.revert(snapshot);
    }
    expect(largest).toBeLessThan(0.05);
  });

  it.each(['10000', '30000', '100000', '300000'])(
    'behavior: sUSDe/PYUSD at 10.5x with $%s shows the rate after its own loan',
    async (amount) => {
      const market = marketOf(1, 'sUSDe/PYUSD 91.5');
      const local = service.world.chains.on(1);
      await passMinute();
      const snapshot = await local.snapshot();
      const body = {
        strategyId: market.id,
        payToken: market.collateral.address,
        amount: SUSDE_PER_USD.times(amount).toFixed(2),
        leverage: 10.5,
      };
      const { data } = (
        await service.graphql(
          `query($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { ... on LeveragePreview { position { leverageApyPct leverageApyBeforePct exitNow { breakEvenDays gaps(fields: ["breakEvenDays"]) { reason } } } } ... on Refusal { code message } } }`,
          { ...openVariables({ ...body, maxSwapLossPct: 10 }) },
          PARTNER,
        )
      ).body;
      const { position } = data.preview;
      expect(position, JSON.stringify(data)).toBeDefined();
      const built = await post('/v1/partner/leverage/build', { ...body, maxSwapLossPct: 10, userAddress: user });
      expect(built.status, built.text).toBe(200);
      await local.mint(market.collateral, user, units(body.amount, market.collateral));
      const id = await partnerAt(1).nextId();
      await execute(1, built.body);
      const after = await partnerAt(1).position(market, id);
      const apy = await chainApyPct(1, market, after, (await ratesOf(1)).get(market.id) as Rates);
      expect(apy.minus(built.body.meta.positionPreview.expectedLeverageApy).abs().lte('0.05')).toBe(true);
      expect(apy.minus(position.leverageApyPct).abs().lte('0.05')).toBe(true);
      expect(position.exitNow.gaps).toEqual(Number(position.leverageApyPct) > 0 ? [] : [{ reason: 'NONE' }]);
      const { breakEvenDays } = position.exitNow;
      const near = (shown: string, value: string, what: string) =>
        expect(new Decimal(shown).minus(value).abs().lte('0.1'), `${what}: ${shown} is not ${value}`).toBe(true);
      const [before, previewed, onChain, days] = await sizeRow(amount);
      near(before, position.leverageApyBeforePct, 'APY at the rate before');
      near(previewed, position.leverageApyPct, 'APY previewed');
      near(onChain, apy.toFixed(2), 'APY on chain');
      if (breakEvenDays === null) expect(days).toBe('never');
      else near(days, breakEvenDays, 'days');
      await local.revert(snapshot);
    },
  );
});
