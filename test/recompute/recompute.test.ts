import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorldDatabase } from '../support/process/postgres.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../support/service.ts';
import { behindAbi } from './abis.ts';
import { appNumbers, loopNumbers, vaultNumbers } from './answers.ts';
import { expectNumbers, near } from './compare.ts';
import { type ExpectedMarket, expectedExit, expectedMarket } from './expected.ts';
import {
  candidateLoops,
  loopParts,
  type Parts,
  pnlNumbers,
  portfolioLoop,
  positionNumbers,
  sameWallet,
  sumParts,
  unresolvedNumbers,
  valued,
  vaultParts,
  vaultPosition,
  withFreshness,
} from './portfolios.ts';
import { Exact, shown, whole } from './protocol.ts';
import { type RegisteredRow, type Sources, sourcesOf } from './sources.ts';
import { type ExpectedTotals, type KnownVault, nearestOf, shownTotals, totalsOnChain } from './totals.ts';

/*
 * Every number of the reads, of positions and of portfolios, computed again from the direct answers of the chain's contracts, the
 * providers and the register. Formulas are the protocol's; nothing of the service's code is used.
 * Each answer is walked: a number in it that is not computed here fails.
 */

const CHAINS = [1, 4663];
/** The jobs that read what means over time are made of. */
const HISTORIES = [
  'stable-index',
  ...['onchain', 'yieldmarket', 'aggregator', 'incentivemarket'].map((source) => `collateral-apy-${source}:1`),
  ...['onchain', 'aggregator'].map((source) => `collateral-apy-${source}:4663`),
  ...CHAINS.flatMap((chainId) => [`incentive-history:${chainId}`, `borrow-history:${chainId}`]),
];

test('the suite does not use code of the service', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  for (const file of readdirSync(folder))
    expect(readFileSync(folder + file, 'utf8')).not.toMatch(/['"`][^'"`\n]*\/src\//);
});

test('an uncomputed, missing or different number fails', () => {
  const answer = { a: 1, list: [{ b: '2.50' }], text: 'x' };
  expectNumbers(answer, { a: 1, list: [{ b: '2.50' }] }, 'answer');
  for (const wanted of [
    { a: 1 },
    { a: 1, list: [] },
    { a: 2, list: [{ b: '2.50' }] },
    { a: 1, list: [{ b: '2.50', c: 3 }] },
    { a: '1', list: [{ b: '2.50' }] },
  ]) {
    expect(() => expectNumbers(answer, wanted, 'answer')).toThrow();
  }
});

// One published build of the contract has ten times the usual buffer.
describe.each([undefined, 25n * 10n ** 15n])('with the buffer %s', (liquidationBuffer) => {
  let service: TestService;
  const sources = new Map<number, Sources>();
  const expected = new Map<string, ExpectedMarket>();
  let appMarkets: Json;
  let databaseUrl: string;

  beforeAll(async () => {
    const database = await createWorldDatabase();
    databaseUrl = database.url;
    const deployment = liquidationBuffer === undefined ? {} : { deployment: { liquidationBuffer } };
    service = await startService({ sleep: noSleep, database, ...deployment });
    // The clock stands still from here on: histories that end now end at the time that they are computed for.
    await service.refresh(...HISTORIES);
    appMarkets = (await service.get('/v1/app/markets')).body;
    for (const chainId of CHAINS) {
      const own = appMarkets.markets.filter((market: Json) => market.chainId === chainId);
      const blocks = new Set<string>(own.map(({ state }: Json) => state.blockNumber.$bigint));
      expect(blocks.size).toBe(1);
      const source = sourcesOf(service, database.url, chainId, BigInt([...blocks][0] as string));
      sources.set(chainId, source);
      for (const market of source.chain.markets) {
        expected.set(market.id, await expectedMarket(source, market, service.clock.now()));
      }
    }
  });
  afterAll(() => service?.stop());

  const of = (chainId: number) => sources.get(chainId) as Sources;
  const marketOf = (id: string) => expected.get(id) as ExpectedMarket;
  const exitOf = (market: ExpectedMarket) => expectedExit(of(market.market.chainId), market.market);

  describe.each(CHAINS)('/v1/strategies of chain %s', (chainId) => {
    test('every number of every loop and vault', async () => {
      const { body } = await service.get(`/v1/strategies?chainId=${chainId}`);
      const { strategies, ...envelope } = body;
      expectNumbers(envelope, { chainId, count: strategies.length }, 'strategies');
      expect(strategies.length).toBeGreaterThan(5);
      for (const strategy of strategies) {
        const where = `${strategy.collateral.symbol}/${strategy.loan.symbol}`;
        const vault = of(chainId).chain.equityVaults.find(({ id }) => id === strategy.id);
        const market = marketOf(vault?.stockMarket.id ?? strategy.id);
        const exit = await exitOf(market);
        const numbers = vault
          ? vaultNumbers(market, marketOf(vault.yieldMarket.id), exit, String(vault.targetLtvPct), service.clock.now())
          : loopNumbers(market, exit, service.clock.now());
        expectNumbers(strategy, numbers, where);
      }
    });

    test('the listed strategies and their number', async () => {
      const { body } = await service.get(`/v1/strategies?chainId=${chainId}`);
      const source = of(chainId);
      const listed: string[] = source.chain.equityVaults.map(({ id }) => id);
      for (const market of source.chain.markets.filter(({ kind }) => kind === 'loop')) {
        const known = marketOf(market.id);
        const { hasRoute } = await exitOf(known);
        const earns = [known.ownApy, known.borrowIncentive, known.collateralIncentive].some((pct) => pct.gt(0));
        const daysLeft =
          ((market.collateral.maturity ?? Number.POSITIVE_INFINITY) * 1_000 - service.clock.now()) / 86_400_000;
        const isListed =
          (earns || !market.correlated) &&
          hasRoute &&
          !market.collateral.noSwapRoute &&
          daysLeft > 7 &&
          known.liquidityUsd.gt(1_000);
        if (isListed) listed.push(market.id);
      }
      expect(body.strategies.map(({ id }: Json) => id).toSorted()).toEqual(listed.toSorted());
    });
  });

  test('/v1/app/markets: every number of every market, at full precision', async () => {
    const { markets, ...envelope } = appMarkets;
    expectNumbers(envelope, { count: expected.size }, 'app');
    expect(markets.map(({ id }: Json) => id).toSorted()).toEqual([...expected.keys()].toSorted());
    for (const row of markets) {
      const market = marketOf(row.id);
      const exit = market.market.collateral.noSwapRoute ? undefined : await exitOf(market);
      expectNumbers(row, appNumbers(market, exit, service.clock.now()), row.id);
    }
  });

  test('the type of every oracle, by the vault or feed that its contract names', async () => {
    const known: Json[] = [];
    for (const { id, chainId, oracle } of appMarkets.markets) {
      const { client } = service.world.chains.on(chainId);
      const read = (address: Address, functionName: 'BASE_VAULT' | 'BASE_FEED_1' | 'description') =>
        client.readContract({ address, abi: behindAbi, functionName }).catch(() => undefined);
      const [vault, feed] = await Promise.all([
        read(oracle.address, 'BASE_VAULT'),
        read(oracle.address, 'BASE_FEED_1'),
      ]);
      const isNamed = (address: unknown) => address !== undefined && BigInt(address as string) !== 0n;
      const said = isNamed(feed) ? await read(feed as Address, 'description') : undefined;
      const type = isNamed(vault) ? 'nav' : said?.includes(' / ') ? 'market' : undefined;
      expect([id, oracle.type]).toEqual([id, type]);
      known.push(type);
    }
    expect(new Set(known)).toEqual(new Set(['nav', 'market', undefined]));
  });

  test('/v1/markets/{id}/series: the sample of the latest reading', async () => {
    for (const { market, state, price, borrowApy } of expected.values()) {
      const newest = async (metric: string) => {
        const { body } = await service.get(`/v1/markets/${market.id}/series?metric=${metric}&resolution=raw`);
        return body.history.at(-1);
      };
      const { decimals } = market.loan;
      const free = state.totalSupplyAssets - state.totalBorrowAssets;
      const used = new Exact(state.totalBorrowAssets.toString()).times(100).div(state.totalSupplyAssets.toString());
      const [lent, liquidity, value, rate] = await Promise.all(
        ['utilization', 'liquidity', 'collateral_price', 'borrow_apy'].map(newest),
      );
      expectNumbers(lent, { ts: lent.ts, value: near(used) }, market.id);
      expectNumbers(liquidity, { ts: lent.ts, value: whole(free, decimals).toFixed() }, market.id);
      const shownPrice = new Exact(price.toString()).shiftedBy(market.collateral.decimals - decimals - 36);
      expectNumbers(value, { ts: lent.ts, value: shownPrice.toFixed() }, market.id);
      expectNumbers(rate, { ts: lent.ts, value: near(borrowApy) }, market.id);
    }
  });

  /** Every position with its market and its row. */
  async function positionsOf(chainId: number) {
    const rows = await of(chainId).registeredRows();
    return (await of(chainId).positions()).map((held) => {
      const own = rows.filter(
        ({ wallet, positionIndex }) => sameWallet(wallet, held.wallet) && positionIndex === held.id,
      );
      return {
        held,
        market: marketOf(held.marketId),
        row: own.find(({ marketId }) => marketId === held.marketId),
        isOpen: held.open && held.collateral > 0n,
      };
    });
  }
  type Known = Awaited<ReturnType<typeof positionsOf>>[number];

  test('/v1/tvl: sums of all positions of both chains', async () => {
    const { body } = await service.get('/v1/tvl');
    const everyone = new Set<string>();
    const chains: Json[] = [];
    for (const chainId of CHAINS) {
      const open = (await positionsOf(chainId)).filter(({ isOpen }) => isOpen);
      const values = open.map(({ held, market }) => valued(held, market));
      const total = (pick: (value: (typeof values)[number]) => Exact) =>
        new Exact(shown(values.reduce((sum, value) => sum.plus(pick(value)), new Exact(0))));
      const [gross, borrowed] = [total(({ collateralUsd }) => collateralUsd), total(({ debtUsd }) => debtUsd)];
      const users = new Set(open.map(({ held }) => held.wallet));
      for (const user of users) everyone.add(user);
      chains.push({
        chainId,
        tvlUsd: gross.minus(borrowed).toNumber(),
        grossTvlUsd: gross.toNumber(),
        borrowedUsd: borrowed.toNumber(),
        badDebtUsd: total(({ netUsd }) => Exact.max(netUsd.negated(), 0)).toNumber(),
        divergentUsd: 0,
        oracleDivergences: [],
        positions: open.length,
        users: users.size,
      });
    }
    const sum = (name: string) => chains.reduce((all, chain) => all.plus(chain[name]), new Exact(0)).toNumber();
    const names = ['tvlUsd', 'grossTvlUsd', 'borrowedUsd', 'badDebtUsd', 'divergentUsd', 'positions'];
    const total = Object.fromEntries(names.map((name) => [name, sum(name)]));
    expectNumbers(body, { total: { ...total, users: everyone.size }, chains }, 'tvl');
    for (const [query, of] of [
      ['', total],
      ...chains.map((one) => [`&chainId=${one.chainId}`, one] as const),
    ] as const) {
      const { body: past } = await service.get(`/v1/tvl/history?resolution=hour${query}`);
      const { tvlUsd, grossTvlUsd, borrowedUsd } = past.history.at(-1);
      expect([tvlUsd, grossTvlUsd, borrowedUsd].map(Number)).toEqual([of.tvlUsd, of.grossTvlUsd, of.borrowedUsd]);
    }
  });

  describe.each(CHAINS)('wallets of chain %s', (chainId) => {
    /** Numbers of an open vault, of its loops apart; the ids of its loops are those of the answer. */
    async function vaultOf(answer: Json, wallet: Address, own: readonly Known[]) {
      const id = answer.strategyId.replace('equity-', '');
      const stock = marketOf(id);
      const [, borrowShares, collateral] = await of(chainId).holding(id, wallet);
      const loops = own.filter(({ held }) => answer.yieldLoops.some((loop: Json) => loop.id === held.id));
      const { debt, netUsd } = valued({ collateral, borrowShares }, stock);
      const legId = of(chainId).chain.equityVaults.find((vault) => vault.id === answer.strategyId)?.yieldMarket.id;
      const onLeg = own.filter(({ held, isOpen }) => isOpen && held.marketId === legId).map(({ held }) => held);
      const candidates = candidateLoops(onLeg, debt);
      const isAmbiguous = answer.yieldLoopMatch === 'ambiguous';
      const numbers = {
        ...vaultPosition(stock, { collateral, borrowShares }, loops, isAmbiguous),
        ambiguousYieldLoopIds: isAmbiguous ? candidates : undefined,
      };
      return { numbers, loops, netUsd, isAmbiguous };
    }

    async function openVault(answer: Json, wallet: Address, own: readonly Known[], nowMs: number): Promise<Json> {
      const { numbers, loops, netUsd, isAmbiguous } = await vaultOf(answer, wallet, own);
      const known = loops.map(({ held, market, row }) => ({ row, parts: loopParts(held, market, row, nowMs) }));
      return { ...numbers, pnl: pnlNumbers(vaultParts(known, netUsd, isAmbiguous)) };
    }

    test('/v1/partner/positions: every number of every wallet', async () => {
      const known = await positionsOf(chainId);
      const nowMs = Number(await of(chainId).timestamp()) * 1_000;
      let observed = 0;
      for (const wallet of new Set(known.map(({ held }) => held.wallet))) {
        const own = known.filter(({ held }) => held.wallet === wallet);
        const { body } = await service.get(`/v1/partner/positions/${wallet}?chainId=${chainId}`, PARTNER);
        const loop = async ({ id }: Json) => {
          const { held, market, row } = own.find((one) => one.held.id === id) as Known;
          observed += 1;
          const pnl = pnlNumbers(loopParts(held, market, row, nowMs));
          return withFreshness({ ...positionNumbers(held, market, await exitOf(market)), pnl }, market);
        };
        const equityPositions = await Promise.all(
          body.equityPositions.map(async (vault: Json) => ({
            ...(await openVault(vault, wallet, own, nowMs)),
            yieldLoops: await Promise.all(vault.yieldLoops.map(loop)),
            freshness: { borrow: { staleAfterSec: 300 }, oracle: { staleAfterSec: 900 } },
          })),
        );
        expectNumbers(
          body,
          { chainId, positions: await Promise.all(body.positions.map(loop)), equityPositions },
          wallet,
        );
      }
      expect(observed).toBe(known.length);
    });

    test('/v1/ops/portfolios: every number of every wallet, P&L, register and drift included', async () => {
      const { body } = await service.get(`/v1/ops/portfolios?chainId=${chainId}`, OPS);
      const known = await positionsOf(chainId);
      const rows = await of(chainId).registeredRows();
      const nowMs = Number(await of(chainId).timestamp()) * 1_000;
      const counts = { users: 0, open: 0, equity: 0, closed: 0, unresolved: 0, drift: 0, failed: 0 };
      const users: Json[] = [];
      for (const user of body.users) {
        const own = known.filter(({ held }) => sameWallet(held.wallet, user.address));
        users.push(await portfolioOf(user, own, rows, nowMs, counts));
      }
      counts.users = new Set(
        [...known.map(({ held }) => held.wallet), ...rows.map(({ wallet }) => wallet)].map((wallet) =>
          wallet.toLowerCase(),
        ),
      ).size;
      expectNumbers(body, { chainId, counts, users }, 'portfolios');
      const [first] = body.users;
      const one = await service.get(`/v1/ops/portfolio/${first.address}?chainId=${chainId}`, OPS);
      expectNumbers(one.body, users[0], first.address);
    });

    async function portfolioOf(
      user: Json,
      own: readonly Known[],
      rows: readonly RegisteredRow[],
      nowMs: number,
      counts: Record<'open' | 'equity' | 'closed' | 'unresolved' | 'drift', number>,
    ): Promise<Json> {
      const all: Parts[] = [];
      const open: Parts[] = [];
      const partsOf = ({ held, market, row }: Known) => loopParts(held, market, row, nowMs);
      const find = (id: number) => own.find(({ held }) => held.id === id) as Known;
      const loop = async ({ id }: Json) => {
        const one = find(id);
        const numbers = portfolioLoop(one.held, one.market, await exitOf(one.market), one.row, partsOf(one));
        if (numbers.drift) counts.drift += 1;
        return numbers;
      };
      const counted = (parts: Parts, isOpen: boolean) => {
        all.push(parts);
        if (isOpen) open.push(parts);
        return pnlNumbers(parts);
      };
      const vault = async (answer: Json, isOpen: boolean) => {
        const loops = answer.yieldLoops.map(({ id }: Json) => find(id)) as Known[];
        const { numbers, netUsd, isAmbiguous } = isOpen
          ? await vaultOf(answer, user.address, own)
          : { numbers: { chainId }, netUsd: new Exact(0), isAmbiguous: false };
        const parts = vaultParts(
          loops.map((one) => ({ row: one.row, parts: partsOf(one) })),
          netUsd,
          isAmbiguous,
        );
        return { ...numbers, pnl: counted(parts, isOpen), yieldLoops: await Promise.all(answer.yieldLoops.map(loop)) };
      };
      const plain = async (answer: Json, isOpen: boolean) => {
        counted(partsOf(find(answer.id)), isOpen);
        return loop(answer);
      };
      const positions = await Promise.all(user.positions.map((answer: Json) => plain(answer, true)));
      const equityPositions = await Promise.all(user.equityPositions.map((answer: Json) => vault(answer, true)));
      const closed = await Promise.all(
        user.closed.map((answer: Json) => (answer.kind === 'equity' ? vault(answer, false) : plain(answer, false))),
      );
      const behind = new Set(own.flatMap(({ row }) => (row ? [row] : [])));
      const unresolved = rows.filter((row) => sameWallet(row.wallet, user.address) && !behind.has(row));
      counts.open += positions.length;
      counts.equity += equityPositions.length;
      counts.closed += closed.length;
      counts.unresolved += unresolved.length;
      const deposited = sumParts(open).deposited;
      return {
        chainId,
        header: { openCount: open.length, totalDepositedUsd: deposited?.toFixed() },
        pnl: pnlNumbers(sumParts(all)),
        positions,
        equityPositions,
        closed,
        unresolved: unresolved.map(unresolvedNumbers),
      };
    }
  });

  describe('totals of wallets', () => {
    const SUMS =
      'openCount collateralUsd debtUsd equityUsd badDebtUsd netApyPct gaps { field reason } pnl { depositedUsd returnedUsd netValueUsd badDebtUsd divergentUsd baseResultUsd incentivesUsd totalUsd yieldFeeUsd baseResultAfterFeeUsd totalAfterFeeUsd returnOnEquityPct }';
    const NEAREST =
      'nearestLiquidation { position { positionIndex chainId } equityPosition { strategyId } priceDropToLiquidationPct }';
    const QUERY = `query ($address: Address!) { wallet(address: $address) {
      totals { ${SUMS} ${NEAREST} } onChains { chainId totals { ${SUMS} } }
      equityPositions { chainId strategyId yieldLoopMatch yieldLoops { positionIndex } } } }`;

    async function expectedOn(chainId: number, wallet: Address, vaults: readonly Json[]): Promise<ExpectedTotals> {
      const own = (await positionsOf(chainId)).filter(({ held }) => held.wallet === wallet);
      const nowMs = Number(await of(chainId).timestamp()) * 1_000;
      const held = await Promise.all(
        vaults.map(async ({ strategyId, yieldLoops, yieldLoopMatch }): Promise<KnownVault> => {
          const id = strategyId.replace('equity-', '');
          const [, borrowShares, collateral] = await of(chainId).holding(id, wallet);
          const loops = own.filter((known) =>
            yieldLoops.some(({ positionIndex }: Json) => positionIndex === known.held.id),
          );
          const isAmbiguous = yieldLoopMatch === 'AMBIGUOUS';
          return { strategyId, stock: marketOf(id), holding: { borrowShares, collateral }, loops, isAmbiguous };
        }),
      );
      return totalsOnChain(own, held, nowMs);
    }

    const isKnown = ([, value]: readonly [string, unknown]) => value !== null;
    /** Without the reasons, and an unknown number as absent. */
    const numbersOf = ({ gaps: _gaps, nearestLiquidation: _nearest, pnl, ...sums }: Json): Json => ({
      ...Object.fromEntries(Object.entries(sums).filter(isKnown)),
      pnl: Object.fromEntries(Object.entries(pnl).filter(isKnown)),
    });
    const wanted = (all: readonly ExpectedTotals[]): Json => {
      const { pnl, ...sums } = shownTotals(all);
      return { ...sums, pnl: Object.fromEntries(Object.entries(pnl).filter(isKnown)) };
    };

    async function check(wallet: Address): Promise<Json> {
      const { body } = await service.graphql(QUERY, { address: wallet }, PARTNER);
      const { totals, onChains, equityPositions } = (body.data as Json).wallet;
      const all: ExpectedTotals[] = [];
      for (const { chainId, totals: sums } of onChains) {
        const vaults = equityPositions.filter((vault: Json) => vault.chainId === chainId);
        const expectedSums = await expectedOn(chainId, wallet, vaults);
        all.push(expectedSums);
        expectNumbers(numbersOf(sums), wanted([expectedSums]), `${wallet} on ${chainId}`);
      }
      expectNumbers(numbersOf(totals), wanted(all), wallet);
      const { position, equityPosition, priceDropToLiquidationPct: drop } = totals.nearestLiquidation ?? {};
      const name = position
        ? `loop ${position.chainId} ${position.positionIndex}`
        : `stock ${equityPosition?.strategyId}`;
      expect(totals.nearestLiquidation ? [name, drop] : undefined).toEqual(nearestOf(all));
      return totals;
    }

    test('of every wallet over both chains', async () => {
      const wallets = new Set<Address>();
      for (const chainId of CHAINS) for (const { held } of await positionsOf(chainId)) wallets.add(held.wallet);
      const all = await Promise.all([...wallets].map(check));
      expect(all.filter(({ netApyPct }) => netApyPct !== null).length).toBeGreaterThan(3);
    });

    test('with a loop under water: its debt takes nothing from the others', async () => {
      const [chainId] = CHAINS as [number];
      const open = (await positionsOf(chainId)).filter(({ isOpen, held }) => isOpen && held.borrowShares > 0n);
      const { held, market } = open.find(
        (one) => open.filter((other) => other.held.wallet === one.held.wallet).length > 1,
      ) as Known;
      const local = service.world.chains.on(chainId);
      const before = await local.snapshot();
      const remembered = [new Map(sources), new Map(expected)] as const;
      await local.moveOracle(market.market, '-60');
      const now = sourcesOf(service, databaseUrl, chainId, await local.client.getBlockNumber());
      sources.set(chainId, now);
      for (const one of now.chain.markets) expected.set(one.id, await expectedMarket(now, one, service.clock.now()));
      const totals = await check(held.wallet);
      expect(Number(totals.badDebtUsd)).toBeGreaterThan(0);
      expect(Number(totals.nearestLiquidation.priceDropToLiquidationPct)).toBeLessThan(0);
      await local.revert(before);
      for (const [id, source] of remembered[0]) sources.set(id, source);
      for (const [id, one] of remembered[1]) expected.set(id, one);
    });
  });
});
