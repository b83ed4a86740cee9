import {
  type CatalogOverlay,
  type ChainData,
  computeMarketId,
  createCatalog,
  curatedChains,
} from '../src/catalog/index.ts';
import { labelAddress } from './seed/accounts.ts';
import { feedsOf, oracleSeed } from './seed/oracles.ts';

type ChainOverlay = CatalogOverlay[number];
type TokenRow = ChainData['tokens'][number];

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const THURSDAY = 4;
const PT_LLTV = 915n * 10n ** 15n;

/**
 * Make the parts that exist in the local world only: a principal token long before its maturity on any day, ids for
 * the tokens whose yield source is known by kind but not by id, and the heartbeats of the feeds behind its oracles.
 * @param now Unix milliseconds.
 */
export function createOverlay(now: number, chains: readonly ChainData[] = curatedChains): CatalogOverlay {
  return chains.map((chain): ChainOverlay => {
    const complete = chain.tokens.flatMap(localSourceId);
    const rows = principalToken(chain, now);
    const feeds = localFeeds(chain);
    return { chainId: chain.chainId, tokens: rows.tokens, markets: rows.markets, feeds, complete };
  });
}

/** The heartbeats of all feeds except those of stocks, which are not curated, like most. */
function localFeeds(chain: ChainData): NonNullable<ChainOverlay['feeds']> {
  const { markets } = createCatalog([chain]).chains[0] ?? { markets: [] };
  const feeds = markets.flatMap((market) => {
    const seed = oracleSeed(market);
    if (seed.kind !== 'feed' || market.kind === 'stock') return [];
    const { base, quote } = feedsOf(market);
    const name = `${market.collateral.symbol}/${market.loan.symbol}`;
    const { heartbeatSec, quoteHeartbeatSec } = seed;
    return [
      { address: base, description: `${name} base feed`, heartbeatSec },
      ...(quoteHeartbeatSec === undefined
        ? []
        : [{ address: quote, description: `${name} quote feed`, heartbeatSec: quoteHeartbeatSec }]),
    ];
  });
  return [...new Map(feeds.map((row) => [row.address, row])).values()];
}

/** Compute the maturity (unix seconds, midnight UTC): the first last Thursday of a month that is at least six months ahead. */
export function overlayMaturity(now: number): number {
  const today = new Date(now);
  const earliest = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 6, today.getUTCDate());
  for (let ahead = 5; ; ahead++) {
    // Day 0 of a month is the last one of the month before it.
    const lastDay = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead + 1, 0));
    const back = (lastDay.getUTCDay() - THURSDAY + 7) % 7;
    const thursday = lastDay.getTime() - back * 86_400_000;
    if (thursday >= earliest) return thursday / 1000;
  }
}

/** The overlay's principal token and its market belong to the chain that has its underlying, sUSDe, and USDC to lend. */
function principalToken(chain: ChainData, now: number): Pick<Required<ChainOverlay>, 'tokens' | 'markets'> {
  const loan = chain.tokens.find(({ symbol }) => symbol === 'USDC');
  const underlying = chain.tokens.find(({ symbol }) => symbol === 'sUSDe');
  if (loan === undefined || underlying === undefined) return { tokens: [], markets: [] };

  const maturity = overlayMaturity(now);
  const date = dateSuffix(maturity);
  const symbol = `PT-sUSDe-${date}`;
  const address = labelAddress(symbol);
  const oracle = labelAddress(`oracle ${symbol}/USDC`);
  const irm = chain.contracts.adaptiveCurveIrm;
  const params = { loanToken: loan.address, collateralToken: address, oracle, irm, lltv: PT_LLTV };
  const id = computeMarketId(params as Parameters<typeof computeMarketId>[0]);
  return {
    tokens: [
      {
        symbol,
        address,
        decimals: 18,
        name: `PT Staked USDe ${date}`,
        category: 'stable-PT',
        project: 'Ethena',
        yieldSource: 'Delta-neutral funding, fixed',
        description:
          "Principal token of Ethena's sUSDe that exists in the local world only. Bought below face value and redeemable at maturity, so the rate is fixed at purchase.",
        apySource: 'yieldmarket',
        maturity,
        underlying: underlying.symbol,
      },
    ],
    markets: [{ id, collateral: symbol, loan: loan.symbol, oracle, irm, lltv: PT_LLTV.toString(), correlated: true }],
  };
}

function localSourceId(token: TokenRow): NonNullable<ChainOverlay['complete']> {
  const { symbol } = token;
  const id = `local-${symbol.toLowerCase().replaceAll('+', '-plus')}`;
  if (token.apySource === 'stableindex' && token.stableIndexId === undefined) return [{ symbol, stableIndexId: id }];
  if (token.apySource === 'aggregator' && token.defillamaId === undefined) return [{ symbol, defillamaId: id }];
  return [];
}

/** 1811376000 → `27MAY2027`. */
function dateSuffix(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  return `${date.getUTCDate()}${MONTHS[date.getUTCMonth()]}${date.getUTCFullYear()}`;
}
