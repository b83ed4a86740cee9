import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededWallets } from '../../../devnet/seed/wallets.ts';
import { prove } from '../../../packages/client/src/index.ts';
import { Decimal, formatUnitsPlain } from '../../../src/shared/decimal.ts';
import { withoutUndefined } from '../../../src/shared/without-undefined.ts';
import { localChains } from '../../client/verify-bundles.ts';
import { type AdversarialVenues, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { equityVerbs, passing } from '../../support/equity.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, type Partner, partnerOn } from './support.ts';

/*
 * Every seeded position and vault is left at oracle moves of −30 … +10 %: what is expected costs at most the bound or the consent,
 * what is executed at most the shown worst case, and every plan that is built by default is proven by the client by default.
 */

const MOVES = [
  '-30',
  '-22',
  '-15',
  '-11',
  '-9',
  '-7',
  '-5',
  '-3',
  '-2',
  '-1',
  '-0.5',
  '0',
  '0.3',
  '0.7',
  '1',
  '3',
  '10',
];
const CHAINS = [1, 4663] as const;
const MANAGE = '/v1/partner/manage/build';
const EXIT = '/v1/partner/equity/exit/build';
let service: TestService;
let venues: AdversarialVenues;
const counts = { built: 0, proven: 0, refused: 0, accepted: 0, executed: 0 };

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});

/** Losses of the venues, millionths, one after the other. */
const LOSSES = [0n, 3_000n, 7_000n, 9_500n, 20_000n];
let built = 0;
function nextLoss(): bigint {
  const ppm = LOSSES[built % LOSSES.length] ?? 0n;
  built += 1;
  venues.clear();
  if (ppm > 0n)
    for (const venue of ['kyberswap', 'openocean', 'pendle'] as const) venues.lie(venue, { kind: 'low', ppm });
  return ppm;
}

interface Left {
  readonly path: string;
  readonly row: 'manageBuild' | 'equityExitBuild';
  readonly body: Json;
  /** Own value before, and what of it is left and was paid out; whole loan tokens. */
  value(): Promise<Decimal>;
  send(bundle: Json): Promise<unknown>;
}

/** The costs of a close are in its preview, those of an exit in `meta`. */
const costingOf = ({ meta }: Json): Json => meta.positionPreview ?? meta;
const costOf = (bundle: Json) => Number(costingOf(bundle).totalSwapCostPctOfEquity ?? 0);
const lessThan = (a: Decimal, b: Decimal) => a.lt(b.minus(b.abs().times('0.000001')).minus('0.00001'));

/** Leave by default, else with the number of the refusal. */
async function leave(
  chainId: number,
  user: string,
  { path, row, body, value, send }: Left,
  label: string,
): Promise<void> {
  const ppm = nextLoss();
  const at = `${label}, venues ${ppm} ppm low`;
  const first = await service.post(path, { chainId, userAddress: user, ...body }, PARTNER);
  let answer = first;
  let consent: number | undefined;
  if (first.status !== 200) {
    counts.refused += 1;
    const passes = first.body.error?.details?.limit?.maxSwapLossPct;
    // Under water, above the largest consent, or without a route: nothing is built.
    if (passes === undefined) return;
    consent = Number(passes);
    counts.accepted += 1;
    answer = await service.post(path, { chainId, userAddress: user, ...body, maxSwapLossPct: consent }, PARTNER);
    expect(answer.status, `${at} with ${passes}: ${answer.text}`).toBe(200);
  }
  counts.built += 1;
  const { issues } = answer.body.meta;
  const cost = costOf(answer.body);
  const kinds = issues.map(({ kind }: Json) => kind);
  if (consent !== undefined) expect(cost, at).toBeLessThanOrEqual(consent + 0.01);
  else if (cost > 5.01) expect(kinds, `${at}: ${cost} %`).toContain('high_cost');
  if (cost > 2.01) expect(kinds, at).toContain('high_cost');
  const { client } = service.world.chains.on(chainId);
  const node = { request: (request: object) => client.request(request as never) };
  const input = withoutUndefined({ chainId, userAddress: user, ...body, maxSwapLossPct: consent });
  const request = { row, input } as never;
  await prove(answer.body, node as never, { account: user, request, chains: localChains }).then(
    () => {
      counts.proven += 1;
    },
    (error: Error) => expect.fail(`${at} (${cost} %): ${error.message}`),
  );
  const worst = new Decimal(costingOf(answer.body).worstCase.equity);
  await send(answer.body);
  counts.executed += 1;
  const after = await value();
  expect(lessThan(after, worst), `${at}: ${after} is below the worst case ${worst}`).toBe(false);
}

function positionsOf(chainId: number, partner: Partner, ids: readonly number[], marketOf: (id: number) => Json) {
  return ids.flatMap((id) =>
    [{}, { exact: true }, { share: 0.4 }].map((given) => ({ id, market: marketOf(id), given, chainId, partner })),
  );
}

it.each(CHAINS)(
  'property: every position of chain %i is left within its bound, and within its worst case',
  async (chainId) => {
    const local = service.world.chains.on(chainId);
    const markets = localCatalog.chain(chainId)?.markets ?? [];
    for (const { name, account, entries } of seededWallets) {
      const user = account.address;
      const partner = partnerOn(service, chainId, account);
      const { body: held } = await service.get(`/v1/partner/positions/${user}?chainId=${chainId}`, PARTNER);
      const open = (held.positions ?? []).filter(({ status }: Json) => status === 'open');
      if (entries.length === 0 || open.length === 0) continue;
      const marketOf = (id: number) => {
        const { strategyId, marketId = strategyId } = open.find((position: Json) => position.id === id);
        return markets.find(
          (market) => market.id === String(marketId).split('-').at(-1) || market.id === marketId,
        ) as Json;
      };
      for (const { id, market, given } of positionsOf(
        chainId,
        partner,
        open.map(({ id }: Json) => id),
        marketOf,
      )) {
        for (const move of MOVES) {
          const state = await local.snapshot();
          if (move !== '0') await local.moveOracle(market, move);
          const { collateral } = await partner.position(market, id);
          const loan = async () => {
            const now = await partner.position(market, id);
            const price = await local.oraclePrice(market);
            const units = (now.collateral * price) / 10n ** 36n - now.debt;
            return new Decimal(units.toString()).shiftedBy(-market.loan.decimals);
          };
          const before = await partner.balance(market.loan);
          const value = async () => {
            const paid = new Decimal(((await partner.balance(market.loan)) - before).toString());
            return paid.shiftedBy(-market.loan.decimals).plus(await loan());
          };
          const amount =
            'share' in given ? formatUnitsPlain((collateral * 4n) / 10n, market.collateral.decimals) : undefined;
          const exact = 'exact' in given ? given.exact : undefined;
          const body = withoutUndefined({ id, action: 'close', exact, amount });
          const left: Left = { path: MANAGE, row: 'manageBuild', body, value, send: (bundle) => partner.send(bundle) };
          await leave(chainId, user, left, `${name} ${id} ${JSON.stringify(given)} at ${move} %`);
          await local.revert(state);
        }
      }
    }
  },
  600_000,
);

it('property: so is every vault', async () => {
  const verbs = equityVerbs(service);
  for (const { name, account, vaults } of seededWallets) {
    for (const { stock, yieldLoopIds, match } of vaults) {
      const vault = verbs.vault(stock);
      for (const move of MOVES) {
        for (const market of [vault.stockMarket, vault.yieldMarket]) {
          const state = await verbs.local.snapshot();
          if (move !== '0') await verbs.local.moveOracle(market, move);
          const before = await verbs.balance(vault.depositToken.address, account.address);
          const value = async () => {
            const now = await verbs.balance(vault.depositToken.address, account.address);
            return new Decimal((now - before).toString()).shiftedBy(-vault.depositToken.decimals);
          };
          const named = match === 'ambiguous' ? { yieldPositionIds: yieldLoopIds } : {};
          const exact = market === vault.stockMarket ? {} : { exact: true };
          const body = { strategyId: vault.id, ...named, ...exact };
          const send = (batch: Json) => verbs.sendAtomically(account.address, batch.calls);
          const left: Left = { path: EXIT, row: 'equityExitBuild', body, value, send };
          await leave(4663, account.address, left, `${name} ${stock} at ${move} %`);
          await verbs.local.revert(state);
        }
      }
    }
  }
}, 600_000);

it('behavior: service and client agreed on more than 200 plans', () => {
  expect(counts.proven).toBe(counts.built);
  expect(counts.executed).toBe(counts.built);
  expect(counts.built, JSON.stringify(counts)).toBeGreaterThan(200);
  expect([counts.refused > 20, counts.accepted > 5], JSON.stringify(counts)).toEqual([true, true]);
});
