import { type Address, encodeAbiParameters, keccak256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  CatalogError,
  type CatalogOverlay,
  type ChainData,
  computeMarketId,
  createCatalog,
  curatedChains,
} from '../../src/catalog/index.ts';

const catalog = createCatalog(curatedChains);
const [ethereum, robinhood] = structuredClone(curatedChains) as [ChainData, ChainData];
type MarketRow = ChainData['markets'][number];
type TokenRow = ChainData['tokens'][number];

/** Build the catalog with one chain changed. @returns the thrown error */
function refusal(change: (chain: Mutable<ChainData>) => void, data: ChainData = ethereum): unknown {
  const chain = structuredClone(data) as Mutable<ChainData>;
  change(chain);
  try {
    createCatalog([chain]);
  } catch (error) {
    return error;
  }
  return undefined;
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? Mutable<I>[] : T[K] };

describe(createCatalog, () => {
  test.each(
    curatedChains.flatMap(({ chainId, markets }) => markets.map((market) => [chainId, market.id, market] as const)),
  )('behavior: chain %i market %s is the hash of its parameters', (chainId, id, row) => {
    const chain = curatedChains.find((candidate) => candidate.chainId === chainId);
    const addressOf = (symbol: string) => chain?.tokens.find((token) => token.symbol === symbol)?.address as Address;
    const encoded = encodeAbiParameters(
      [{ type: 'address' }, { type: 'address' }, { type: 'address' }, { type: 'address' }, { type: 'uint256' }],
      [addressOf(row.loan), addressOf(row.collateral), row.oracle as Address, row.irm as Address, BigInt(row.lltv)],
    );
    expect(keccak256(encoded)).toBe(id.toLowerCase());
    expect(catalog.market(chainId, keccak256(encoded) as never)?.collateral.symbol).toBe(row.collateral);
  });

  test.each(
    curatedChains.flatMap(({ chainId, equityVaults }) => (equityVaults ?? []).map((row) => [chainId, row.id] as const)),
  )('behavior: chain %i vault %s has a market whose id is the hash of its parameters', (chainId, id) => {
    const vault = catalog.vault(chainId, id as never);
    const { stockMarket } = vault ?? {};
    if (!vault || !stockMarket) throw new Error(`no vault ${id}`);
    const { loan, collateral, oracle, irm, lltv } = stockMarket;
    const params = { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
    expect(`equity-${computeMarketId(params)}`).toBe(vault.id);
    expect(vault.yieldMarket.kind).toBe('loop');
    expect(stockMarket.kind).toBe('stock');
  });

  test('behavior: every collateral has a description', () => {
    for (const { markets } of catalog.chains) {
      for (const { collateral } of markets) {
        expect(collateral.description, collateral.symbol).toMatch(/^[A-Z].{30,400}\.$/);
        expect(collateral.name, collateral.symbol).toMatch(/\S/);
      }
    }
  });

  test('behavior: every market belongs to one chain, and look-ups find it only there', () => {
    for (const { chainId, markets } of catalog.chains) {
      for (const market of markets) {
        expect(catalog.market(chainId, market.id)).toBe(market);
        for (const other of catalog.chainIds.filter((id) => id !== chainId)) {
          expect(catalog.market(other, market.id)).toBeUndefined();
        }
      }
    }
  });

  test('behavior: principal tokens are shown without their date', () => {
    const pts = catalog.chains.flatMap(({ tokens }) => tokens.filter(({ isPt }) => isPt));
    expect(pts.length).toBeGreaterThan(0);
    for (const { displaySymbol, symbol, maturity, underlying } of pts) {
      expect(displaySymbol).not.toMatch(/\d{4}$/);
      expect(symbol.startsWith(displaySymbol)).toBe(true);
      expect(maturity).toBeGreaterThan(0);
      expect(underlying?.address).not.toBe(zeroAddress);
    }
  });

  const first = ethereum.markets[0] as MarketRow;
  const other = ethereum.markets[1] as MarketRow;
  const wrongRows: readonly (readonly [name: string, change: (chain: Mutable<ChainData>) => void, named: string])[] = [
    ['a liquidation LTV that is not the hashed one', (c) => at(c.markets, 0, { lltv: '860000000000000001' }), first.id],
    ['another oracle', (c) => at(c.markets, 0, { oracle: other.oracle }), first.id],
    ['an id with one digit changed', (c) => at(c.markets, 0, { id: flipped(first.id) }), flipped(first.id)],
    ['a loan token that is not listed', (c) => at(c.markets, 0, { loan: 'NOPE' }), first.id],
    ['a collateral that is not listed', (c) => at(c.markets, 0, { collateral: 'NOPE' }), first.id],
    ['a market listed twice', (c) => c.markets.push({ ...first }), 'chain 1'],
    ['a token listed twice', (c) => c.tokens.push({ ...(ethereum.tokens[0] as TokenRow) }), 'chain 1'],
    ['an address of 39 digits', (c) => at(c.tokens, 0, { address: '0x123' }), 'tokens'],
    ['a misspelt field', (c) => at(c.tokens, 0, { decimal: 18 } as never), 'decimal'],
    ['an unknown APY source', (c) => at(c.tokens, 0, { apySource: 'guess' } as never), 'apySource'],
    ['an underlying that is not listed', (c) => at(c.tokens, 0, { underlying: 'NOPE' }), 'NOPE'],
    ['no native token', (c) => c.tokens.splice(0, c.tokens.length, ...withoutNative(c)), 'native'],
    ['a stable that is not listed', (c) => Object.assign(c, { stable: 'NOPE' }), 'NOPE'],
  ];
  test.each(wrongRows)('error: CatalogError for %s names the row', (_, change, named) => {
    const error = refusal(change);
    expect(error).toBeInstanceOf(CatalogError);
    expect((error as CatalogError).message).toContain(named);
  });

  const vault = robinhood.equityVaults?.[0];
  test.each([
    ['its id', { id: `equity-${flipped(vault?.stockMarketId ?? '')}` }],
    ['its liquidation LTV', { lltv: '1' }],
    ['its yield market', { yieldMarketId: flipped(vault?.yieldMarketId ?? '') }],
  ])('error: CatalogError for a vault with a mistake in %s', (_, patch) => {
    expect(refusal((chain) => at(chain.equityVaults ?? [], 0, patch as never), robinhood)).toBeInstanceOf(CatalogError);
  });
});

describe('points', () => {
  const evidence = { sourceUrl: 'https://points.example/program', checkedOn: '2026-11-01' };
  const withPoints = (points: object) =>
    createCatalog(curatedChains, [{ chainId: 1, complete: [{ symbol: 'sUSDe', points } as never] }]);
  const pointsOf = (catalog: ReturnType<typeof createCatalog>) =>
    catalog.chain(1)?.tokens.find(({ symbol }) => symbol === 'sUSDe')?.points;

  test('default: nothing is curated yet', () => {
    const { chains } = createCatalog(curatedChains);
    expect(chains.flatMap(({ tokens }) => tokens).filter(({ points }) => points !== undefined)).toEqual([]);
  });

  test('behavior: a curated program, or that there is none, has its page and day', () => {
    const program = { program: 'Sats', perDayPerCollateralToken: 20 };
    const known = { sourceUrl: evidence.sourceUrl, checkedAtMs: Date.parse('2026-11-01') };
    expect(pointsOf(withPoints({ ...program, ...evidence }))).toEqual({ program, ...known });
    expect(pointsOf(withPoints({ program: null, ...evidence }))).toEqual({ program: null, ...known });
  });

  test.each([
    ['no source', { program: 'Sats', perDayPerCollateralToken: 20, checkedOn: '2026-11-01' }],
    ['no day', { program: null, sourceUrl: evidence.sourceUrl }],
    ['no such day', { program: null, ...evidence, checkedOn: '2026-02-30' }],
    ['no page', { program: null, ...evidence, sourceUrl: 'a friend' }],
    ['no rate', { program: 'Sats', ...evidence }],
  ])('error: CatalogError for a fact with %s', (_what, points) => {
    expect(() => withPoints(points)).toThrow(CatalogError);
  });
});

describe('overlay', () => {
  const [loan, base] = ['USDC', 'sUSDe'].map((symbol) => ethereum.tokens.find((token) => token.symbol === symbol));
  const token: TokenRow = {
    symbol: 'NEW',
    address: '0x00000000000000000000000000000000000000ab',
    decimals: 18,
    name: 'New token',
    description: 'A token of the overlay.',
  };
  const params = {
    loanToken: loan?.address as Address,
    collateralToken: '0x00000000000000000000000000000000000000ab' as Address,
    oracle: '0x00000000000000000000000000000000000000cd' as Address,
    irm: ethereum.contracts.adaptiveCurveIrm as Address,
    lltv: 860000000000000000n,
  };
  const market = {
    id: computeMarketId(params),
    collateral: 'NEW',
    loan: 'USDC',
    oracle: params.oracle,
    irm: params.irm,
    lltv: params.lltv.toString(),
    correlated: true,
  };
  const overlay: CatalogOverlay = [{ chainId: 1, tokens: [token], markets: [market] }];

  test('behavior: adds tokens and markets only to its chain, after the curated ones', () => {
    const merged = createCatalog(curatedChains, overlay);
    expect(merged.market(1, market.id)?.collateral.symbol).toBe('NEW');
    expect(merged.market(4663, market.id)).toBeUndefined();
    expect(merged.chain(1)?.markets.filter(({ kind }) => kind === 'loop')).toHaveLength(ethereum.markets.length + 1);
    expect(merged.chain(4663)?.markets).toHaveLength(catalog.chain(4663)?.markets.length ?? 0);
    for (const { id } of ethereum.markets) expect(merged.market(1, id.toLowerCase() as never)).toBeDefined();
  });

  test('behavior: fills a missing field and never replaces one', () => {
    const complete = [
      { symbol: 'sUSDe', coingeckoId: 'not-this-one', description: 'Not this one.', defillamaId: 'added' },
    ];
    const merged = createCatalog(curatedChains, [{ chainId: 1, complete }]);
    const found = merged.chain(1)?.tokens.find(({ symbol }) => symbol === 'sUSDe');
    expect(found?.description).toBe(base?.description);
    expect(found?.coingeckoId).toBe(base?.coingeckoId);
    expect(found?.defillamaId).toBe(base?.defillamaId ?? 'added');
  });

  test.each([
    [
      'a market that does not hash',
      [{ chainId: 1, tokens: [token], markets: [{ ...market, id: flipped(market.id) }] }],
    ],
    ['a market whose token nobody lists', [{ chainId: 1, markets: [market] }]],
    [
      'a collateral without a description',
      [{ chainId: 1, tokens: [(({ description: _, ...rest }) => rest)(token)], markets: [market] }],
    ],
    ['a curated token again', [{ chainId: 1, tokens: [base as TokenRow] }]],
    ['a curated market again', [{ chainId: 1, markets: [ethereum.markets[0] as MarketRow] }]],
    ['a field that it may not have', [{ chainId: 1, contracts: {} }]],
    ['something that is no list', { chainId: 1 }],
  ])('error: CatalogError for %s', (_, wrong) => {
    expect(() => createCatalog(curatedChains, wrong as never)).toThrow(CatalogError);
  });
});

function at<T extends object>(rows: T[], index: number, patch: Partial<T>): void {
  rows[index] = { ...(rows[index] as T), ...patch };
}

function flipped(id: string): string {
  return id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
}

function withoutNative(chain: Mutable<ChainData>): TokenRow[] {
  return chain.tokens.filter(({ address }) => address !== zeroAddress);
}
