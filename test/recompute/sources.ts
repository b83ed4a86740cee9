import { BigNumber } from 'bignumber.js';
import pg from 'pg';
import { type Address, getContractAddress } from 'viem';
import type { Json, TestService } from '../support/service.ts';
import { flashLeverageAbi, irmAbi, morphoAbi, oracleAbi, proxyAbi, rateAbi } from './abis.ts';
import { type AccruedMarket, accrueTo, apyPctOfRay, Exact, type StoredMarket, whole } from './protocol.ts';

/*
 * Raw facts: direct answers of the chain's contracts and of the providers.
 */

export const DAY_MS = 86_400_000;

export type Local = ReturnType<TestService['world']['chains']['on']>;
export type CatalogMarket = ReturnType<Local['market']>;
export type CatalogToken = CatalogMarket['collateral'];
export type YieldSource = CatalogToken['apySource'];

/** A daily or finer series: `[ms, percent]`, oldest first. */
export type Series = readonly (readonly [number, Exact])[];

/** One campaign's APR over time: each step holds until the next; after the end nothing is paid. */
export interface Campaign {
  readonly id: string;
  readonly symbol: string;
  readonly isLive: boolean;
  readonly aprPct: Exact;
  readonly endMs: number;
  readonly steps: Series;
}

export interface SharedSource {
  readonly assets: bigint;
  readonly feeWei: bigint;
  readonly fromMarketId: string;
}

/** A position as the app registered it. */
export interface RegisteredRow {
  readonly wallet: Address;
  readonly marketId: string;
  readonly positionIndex: number;
  readonly isOpen: boolean;
  readonly deposited: Exact;
  readonly added: Exact;
  readonly removed: Exact;
  readonly returned: Exact;
  readonly desiredLtvPct: Exact | undefined;
  readonly entryPrice: Exact | undefined;
  readonly vaultId: string | null;
  readonly createdAtMs: number;
  readonly closedAtMs: number | undefined;
}

export interface HeldOnChain {
  readonly wallet: Address;
  readonly id: number;
  readonly marketId: string;
  readonly open: boolean;
  readonly deposited: bigint;
  readonly returned: bigint;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

const ask = async (url: string, init?: RequestInit): Promise<Json> => (await fetch(url, init)).json();

/** Read everything about one chain of a running local world, at one block. */
export function sourcesOf(service: TestService, databaseUrl: string, chainId: number, blockNumber: bigint) {
  const { urls } = service.world.upstreams;
  const local = service.world.chains.on(chainId);
  const { chain, client } = local;
  const remembered = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    if (!remembered.has(key)) remembered.set(key, read());
    return remembered.get(key) as Promise<T>;
  };
  const read = <T>(address: Address, abi: Json, functionName: string, args: readonly unknown[] = []): Promise<T> =>
    client.readContract({ address, abi, functionName, args, blockNumber }) as Promise<T>;
  const timestamp = () => once('time', async () => (await client.getBlock({ blockNumber })).timestamp);

  const oraclePrice = (market: CatalogMarket) =>
    once(`oracle ${market.oracle}`, () => read<bigint>(market.oracle, oracleAbi, 'price'));

  const storedState = (market: CatalogMarket): Promise<StoredMarket> =>
    once(`stored ${market.id}`, async () => {
      const [row, rateAtTarget] = await Promise.all([
        read<readonly bigint[]>(chain.contracts.morphoBlue, morphoAbi, 'market', [market.id]),
        read<bigint>(market.irm, irmAbi, 'rateAtTarget', [market.id]),
      ]);
      const [supply = 0n, supplyShares = 0n, borrow = 0n, borrowShares = 0n, lastUpdate = 0n, fee = 0n] = row;
      return {
        totalSupplyAssets: supply,
        totalSupplyShares: supplyShares,
        totalBorrowAssets: borrow,
        totalBorrowShares: borrowShares,
        lastUpdate,
        fee,
        rateAtTarget,
      };
    });

  const marketState = (market: CatalogMarket): Promise<AccruedMarket> =>
    once(`market ${market.id}`, async () => accrueTo(await storedState(market), await timestamp()));

  /** Points between the liquidation LTV and the highest that the product's contract accepts. */
  const bufferPoints = (): Promise<Exact> =>
    once('buffer', async () => {
      const wad = await read<bigint>(chain.contracts.flashLeverage, flashLeverageAbi, 'LIQUIDATION_BUFFER');
      return new Exact(wad.toString()).shiftedBy(-16);
    });

  /** Percent that the product's contract takes of a yield, and of a deposit, on a market. */
  const fees = ({ id }: CatalogMarket): Promise<{ readonly yieldPct: Exact; readonly depositPct: Exact }> =>
    once(`fees ${id}`, async () => {
      const { flashLeverage } = chain.contracts;
      const isCorrelated = await read<boolean>(flashLeverage, flashLeverageAbi, 's_isCorrelated', [id]);
      const yieldFee = await read<bigint>(flashLeverage, flashLeverageAbi, 's_yieldFee');
      const depositFee = await read<bigint>(flashLeverage, flashLeverageAbi, 's_depositFee');
      const pct = (wad: bigint) => new Exact(wad.toString()).shiftedBy(-16);
      return { yieldPct: pct(isCorrelated ? yieldFee : 0n), depositPct: pct(isCorrelated ? 0n : depositFee) };
    });

  /** The app's register of positions. */
  const registeredRows = (): Promise<readonly RegisteredRow[]> =>
    once('rows', async () => {
      const database = new pg.Client({ connectionString: databaseUrl });
      await database.connect();
      try {
        const { rows } = await database.query('select * from position_registrations where chain_id = $1', [chainId]);
        const amount = (value: string | null) => (value === null ? undefined : new Exact(value));
        return rows.map(
          (row): RegisteredRow => ({
            wallet: row.wallet,
            marketId: row.market_id,
            positionIndex: row.position_index,
            isOpen: row.is_open,
            deposited: new Exact(row.deposited_usd),
            added: new Exact(row.added_usd),
            removed: new Exact(row.removed_usd),
            returned: new Exact(row.returned_usd),
            desiredLtvPct: amount(row.desired_ltv_pct),
            entryPrice: amount(row.entry_price),
            vaultId: row.equity_vault_id,
            createdAtMs: row.created_at.getTime(),
            closedAtMs: row.closed_at?.getTime(),
          }),
        );
      } finally {
        await database.end();
      }
    });

  /** USD of a whole token: the provider's, else the oracle of the first market that has it as collateral × its loan token. */
  const usdPrice = (token: CatalogToken): Promise<Exact> =>
    once(`usd ${token.address}`, async () => {
      const named = token.isNative && chain.wrappedNative ? chain.wrappedNative : token;
      if (named.coingeckoId !== undefined) {
        const body = await ask(`${urls.coingecko}/simple/price?vs_currencies=usd&ids=${named.coingeckoId}`);
        const usd = body[named.coingeckoId]?.usd;
        if (usd !== undefined) return new Exact(usd);
      }
      const market = chain.markets.find(({ collateral }) => collateral.address === named.address);
      if (!market) throw new Error(`nothing prices ${named.symbol}`);
      const perUnit = new Exact((await oraclePrice(market)).toString());
      const places = market.collateral.decimals - market.loan.decimals - 36;
      return perUnit.shiftedBy(places).times(await usdPrice(market.loan));
    });

  /** A principal token past its maturity earns nothing any more. */
  const yieldSource = (token: CatalogToken) =>
    token.maturity !== undefined && token.maturity * 1_000 <= service.clock.now() ? 'none' : token.apySource;

  const collateralYield = (token: CatalogToken): Promise<{ readonly apy: Exact; readonly history: Series }> =>
    once(`yield ${token.address}`, async () => {
      switch (yieldSource(token)) {
        case 'none':
          return { apy: new Exact(0), history: [] };
        case 'onchain': {
          const rate = await read<bigint>(token.address, rateAbi, token.onchainRate ?? 'str');
          return { apy: apyPctOfRay(rate), history: [] };
        }
        case 'yieldmarket': {
          const { results: markets } = await ask(
            `${urls.pendle}/v2/markets/all?isActive=true&chainId=${chainId}&limit=100`,
          );
          const row = markets.find(({ pt }: Json) => pt === `${chainId}-${token.address.toLowerCase()}`);
          return { apy: new Exact(row.details.impliedApy).times(100), history: [] };
        }
        case 'aggregator': {
          const { data } = await ask(`${urls['defillama-yields']}/chart/${token.defillamaId}`);
          const history = data.map(({ timestamp: at, apy }: Json) => [new Date(at).getTime(), new Exact(apy)] as const);
          return { apy: history.at(-1)[1], history };
        }
        case 'incentivemarket': {
          const path = `${chainId}/${token.address.toLowerCase()}`;
          const key = { headers: { 'x-api-key': 'any' } };
          const info = await ask(`${urls.royco}/vault/info/${path}`, key);
          const { data } = await ask(`${urls.royco}/chart/vault/apy/${path}/3m`, key);
          const points = data.map(
            ({ blockTimestamp, value }: Json) => [Number(blockTimestamp) * 1_000, new Exact(value).times(100)] as const,
          );
          const first = points.findIndex(([, apy]: readonly [number, Exact]) => !apy.isZero());
          const body = info.data ?? info;
          return { apy: new Exact(body.apy7d).times(100), history: points.slice(Math.max(0, first)) };
        }
        case 'stableindex': {
          const { data } = await ask(`${urls.stablewatch}/pools?api_key=any`);
          const pool = data.find(({ id, asset }: Json) =>
            token.stableIndexId ? id === token.stableIndexId : asset.toLowerCase() === token.symbol.toLowerCase(),
          );
          const { data: answer } = await ask(`${urls.stablewatch}/history/${pool.id}?api_key=any`);
          const history = answer.data.map(
            ({ timestamp: at, apy }: Json) => [new Date(at).getTime(), new Exact(apy)] as const,
          );
          return { apy: new Exact(pool.metrics.apy.avg7d), history };
        }
      }
    });

  /** Campaigns of one side that run or have ended, with the provider's records of each. */
  const campaigns = (side: 'MORPHOBORROW' | 'MORPHOCOLLATERAL', market: CatalogMarket): Promise<readonly Campaign[]> =>
    once(`campaigns ${side} ${market.id}`, async () => {
      const rows = await once(`rows ${side}`, async () => {
        const all: Json[] = [];
        for (const status of ['LIVE', 'PAST']) {
          for (let page = 0; ; page += 1) {
            const some: Json[] = await ask(
              `${urls.merkl}/campaigns?type=${side}&chainId=${chainId}&items=100&page=${page}&status=${status}`,
            );
            all.push(...some.map((row) => ({ ...row, isLive: status === 'LIVE' })));
            if (some.length < 100) break;
          }
        }
        return all;
      });
      const own = rows.filter(({ params }) => params.market.toLowerCase() === market.id);
      return Promise.all(
        own.map(async ({ id, apr, endTimestamp, isLive, rewardToken }): Promise<Campaign> => {
          const { aprRecords } = await ask(`${urls.merkl}/campaigns/${id}/metrics`);
          const steps = aprRecords.map((row: Json) => [Number(row.timestamp) * 1_000, new Exact(row.apr)] as const);
          const { symbol } = rewardToken;
          return { id, symbol, isLive, aprPct: new Exact(apr), endMs: Number(endTimestamp) * 1_000, steps };
        }),
      );
    });

  const borrowHistory = (market: CatalogMarket): Promise<Series> =>
    once(`borrow history ${market.id}`, async () => {
      const { data } = await askIndexer(market, 'historicalState { borrowApy { x y } }');
      return data.marketById.historicalState.borrowApy
        .map(({ x, y }: Json) => [Number(x) * 1_000, new Exact(y).times(100)] as const)
        .sort((a: readonly [number, Exact], b: readonly [number, Exact]) => a[0] - b[0]);
    });

  /** The amounts that vaults could move to a market, by source market. */
  const sharedLiquidity = (market: CatalogMarket): Promise<readonly SharedSource[]> =>
    once(`shared ${market.id}`, async () => {
      const { data } = await askIndexer(
        market,
        'publicAllocatorSharedLiquidity { assets vault { address publicAllocatorConfig { fee } } withdrawMarket { marketId } }',
      );
      return data.marketById.publicAllocatorSharedLiquidity.map(
        ({ assets, vault, withdrawMarket }: Json): SharedSource => ({
          assets: BigInt(assets),
          feeWei: BigInt(vault.publicAllocatorConfig.fee),
          fromMarketId: withdrawMarket.marketId.toLowerCase(),
        }),
      );
    });

  const askIndexer = (market: CatalogMarket, selection: string) =>
    ask(urls.morpho, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ marketById(marketId: "${market.id}", chainId: ${chainId}) { ${selection} } }` }),
    });

  /** Percent lost selling so many USD of a token for the chain's stable; `null` = no route. */
  const exitLossPct = (token: CatalogToken, usd: number): Promise<Exact | null> =>
    once(`exit ${token.address} ${usd}`, async () => {
      const [price, stablePrice] = await Promise.all([usdPrice(token), usdPrice(chain.stable)]);
      const amountIn = new Exact(usd).div(price).shiftedBy(token.decimals).integerValue(BigNumber.ROUND_DOWN);
      const { data } = await ask(
        `${urls.kyberswap}/${chain.providers.kyberswap}/api/v1/routes?tokenIn=${token.address}&tokenOut=${chain.stable.address}&amountIn=${amountIn.toFixed(0)}`,
      );
      if (!data?.routeSummary) return null;
      const sold = amountIn.shiftedBy(-token.decimals).times(price);
      const got = whole(BigInt(data.routeSummary.amountOut), chain.stable.decimals).times(stablePrice);
      return sold.minus(got).div(sold).times(100);
    });

  /** Every position that was ever opened: proxies are made one after the other by the product's contract. */
  const positions = (): Promise<readonly HeldOnChain[]> =>
    once('positions', async () => {
      const from = chain.contracts.flashLeverage;
      const made = await client.getTransactionCount({ address: from, blockNumber });
      const owners = new Set<Address>();
      // Nonce 1 is the implementation behind the proxies.
      for (let nonce = 2; nonce < made; nonce += 1) {
        owners.add(await read<Address>(getContractAddress({ from, nonce: BigInt(nonce) }), proxyAbi, 's_user'));
      }
      const held: HeldOnChain[] = [];
      for (const wallet of owners) {
        const rows = await read<readonly Json[]>(from, flashLeverageAbi, 'getUserLeveragePositions', [wallet]);
        for (const [id, row] of rows.entries()) {
          const [, borrowShares, collateral] = await holding(row.marketId, row.userProxy);
          held.push({
            wallet,
            id,
            marketId: row.marketId,
            open: row.open,
            deposited: row.amountDepositedInLoanToken,
            returned: row.amountReturnedInLoanToken,
            collateral,
            borrowShares,
          });
        }
      }
      return held;
    });

  /** Supply shares, borrow shares and collateral of an account. */
  const holding = (marketId: string, account: Address) =>
    read<readonly [bigint, bigint, bigint]>(chain.contracts.morphoBlue, morphoAbi, 'position', [marketId, account]);

  return {
    chain,
    local,
    blockNumber,
    timestamp,
    storedState,
    bufferPoints,
    fees,
    registeredRows,
    oraclePrice,
    marketState,
    usdPrice,
    yieldSource,
    collateralYield,
    campaigns,
    borrowHistory,
    sharedLiquidity,
    exitLossPct,
    positions,
    holding,
  };
}

export type Sources = ReturnType<typeof sourcesOf>;
