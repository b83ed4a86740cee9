import { keccak256, stringToHex } from 'viem';
import type { Catalog, Chain, Market } from '../../src/catalog/index.ts';
import type { Registration } from '../../src/database/registrations.ts';
import { Decimal, ZERO } from '../../src/shared/decimal.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { labelAddress } from './accounts.ts';
import { marketKey } from './markets.ts';
import { tokenSeed } from './tokens.ts';
import { type SeededDeposit, type SeededPosition, type SeededWallet, seededWallet, seededWallets } from './wallets.ts';

const DAY_MS = 86_400_000;
/** Positions are registered as this many days old, each three days younger than the one before it. */
const OLDEST_DAYS = 30;
const DAYS_APART = 3;
const CLOSED_DAYS_AGO = 2;
/** Share of the deposit that a close returned. */
const RETURNED_SHARE = '0.998';

/** Difference between a row and the chain. */
type Departure = 'missing' | 'still open' | 'already closed';

/** All differences between register and chain, by wallet, chain and position id. */
export const seededDrift: readonly {
  readonly wallet: string;
  readonly chainId: number;
  readonly id: number;
  readonly departure: Departure;
}[] = [
  { wallet: 'looper', chainId: 1, id: 3, departure: 'missing' },
  { wallet: 'speculator', chainId: 1, id: 0, departure: 'still open' }, // it was liquidated
  { wallet: 'speculator', chainId: 1, id: 2, departure: 'already closed' },
  { wallet: 'speculator', chainId: 4663, id: 1, departure: 'still open' }, // it was closed
  { wallet: 'speculator', chainId: 4663, id: 2, departure: 'missing' },
  { wallet: 'stacker', chainId: 4663, id: 2, departure: 'already closed' },
];

/** A wallet in the register without positions on chain. */
export const REGISTERED_ONLY: Address = labelAddress('registered only');
/** A market outside the catalogs. */
const FOREIGN_MARKET: MarketId = keccak256(stringToHex('a market of nobody')) as MarketId;

/** Rows without a position on chain, one per reason and one of a wallet that is not on chain. */
export const seededUnresolved: readonly {
  readonly wallet: Address;
  readonly chainId: number;
  readonly id: number;
  /** Key of `devnet/seed/markets.ts` and its chain; `null` = a market outside the catalogs. */
  readonly market: { readonly chainId: number; readonly key: string } | null;
  readonly reason: 'market_not_configured' | 'no_chain_position' | 'chain_mismatch';
}[] = [
  {
    wallet: seededWallet('looper').account.address,
    chainId: 1,
    id: 7,
    market: { chainId: 1, key: 'weETH/WETH 94.5' },
    reason: 'no_chain_position',
  },
  { wallet: seededWallet('retired').account.address, chainId: 1, id: 5, market: null, reason: 'market_not_configured' },
  {
    wallet: seededWallet('retired').account.address,
    chainId: 1,
    id: 6,
    market: { chainId: 4663, key: 'USDe/USDG 91.5' },
    reason: 'chain_mismatch',
  },
  {
    wallet: REGISTERED_ONLY,
    chainId: 4663,
    id: 0,
    market: { chainId: 4663, key: 'USDe/USDG 91.5' },
    reason: 'no_chain_position',
  },
];

/** A loop that was the yield leg of a vault, which has been closed since. */
export const seededClosedVault = { wallet: 'retired', chainId: 4663, id: 0, stock: 'SPY' } as const;

/** The registrations of the app: a row for every seeded position, except for `seededDrift`. */
export function seededRegistrations(catalog: Catalog, nowMs: number): readonly Registration[] {
  return catalog.chains.flatMap((chain) => [
    ...seededWallets.flatMap((wallet) => rowsOfWallet(chain, wallet, nowMs)),
    ...seededUnresolved
      .filter(({ chainId }) => chainId === chain.chainId)
      .map((seed): Registration => {
        const marketId = seed.market ? marketOf(catalog, seed.market).id : FOREIGN_MARKET;
        return { ...blankRow(nowMs), wallet: seed.wallet, chainId: chain.chainId, marketId, positionIndex: seed.id };
      }),
  ]);
}

/** Time at which a wallet's position of this id counts as opened. */
export function openedAtMs(id: number, nowMs: number): number {
  return nowMs - (OLDEST_DAYS - DAYS_APART * id) * DAY_MS;
}

/** Time at which an ended position counts as ended. */
export function endedAtMs(nowMs: number): number {
  return nowMs - CLOSED_DAYS_AGO * DAY_MS;
}

function rowsOfWallet(chain: Chain, { name, account, entries }: SeededWallet, nowMs: number): Registration[] {
  const here = entries.filter(({ chainId }) => chainId === chain.chainId);
  return here.flatMap((entry, id) => {
    const departure = seededDrift.find(
      (drift) => drift.wallet === name && drift.chainId === chain.chainId && drift.id === id,
    )?.departure;
    if (departure === 'missing') return [];
    const closed = seededClosedVault;
    const vaultId =
      closed.wallet === name && closed.chainId === chain.chainId && closed.id === id
        ? chain.equityVaults.find(({ stock }) => stock.displaySymbol === closed.stock)?.id
        : undefined;
    const ended = entry.kind === 'loop' && entry.status !== 'open';
    const isOpen = departure === undefined ? !ended : departure === 'still open';
    const createdAtMs = openedAtMs(id, nowMs);
    const closedAtMs = isOpen ? null : endedAtMs(nowMs);
    const deposit = depositOf(chain, entry);
    const gaveBack = !isOpen && !(entry.kind === 'loop' && entry.status === 'liquidated');
    return [
      {
        ...blankRow(nowMs),
        wallet: account.address,
        chainId: chain.chainId,
        marketId: deposit.market.id,
        positionIndex: id,
        isOpen,
        depositedUsd: deposit.usd,
        returnedUsd: gaveBack ? deposit.usd.times(RETURNED_SHARE) : ZERO,
        desiredLtvPct: new Decimal(entry.kind === 'loop' ? entry.ltvPct : entry.yieldLtvPct),
        entryPrice: new Decimal(tokenSeed(chain.chainId, deposit.market.collateral.symbol).usdPrice),
        equityVaultId: vaultId ?? null,
        createdAtMs,
        updatedAtMs: closedAtMs ?? createdAtMs,
        closedAtMs,
      },
    ];
  });
}

/** Return the market of a seeded entry's loop and its deposit. */
export function depositOf(chain: Chain, entry: SeededPosition | SeededDeposit): { market: Market; usd: Decimal } {
  if (entry.kind === 'loop') {
    const market = byKey(chain, entry.market);
    return { market, usd: new Decimal(entry.amountCollateral).times(priceOf(chain, market.collateral.symbol)) };
  }
  const vault = chain.equityVaults.find(
    ({ stock }) => stock.displaySymbol === entry.stock || stock.symbol === entry.stock,
  );
  if (vault === undefined) throw new Error(`devnet/seed/wallets.ts: no vault on ${entry.stock}`);
  return {
    market: vault.yieldMarket,
    usd: new Decimal(entry.amountUsdg).times(priceOf(chain, vault.depositToken.symbol)),
  };
}

function priceOf(chain: Chain, symbol: string): string {
  return tokenSeed(chain.chainId, symbol).usdPrice;
}

function byKey(chain: Chain, key: string): Market {
  const market = chain.markets.find((candidate) => marketKey(candidate) === key);
  if (market === undefined)
    throw new Error(`devnet/seed/registrations.ts: chain ${chain.chainId} has no market ${key}`);
  return market;
}

function marketOf(catalog: Catalog, { chainId, key }: { readonly chainId: number; readonly key: string }): Market {
  const chain = catalog.chain(chainId);
  if (chain === undefined) throw new Error(`devnet/seed/registrations.ts: no chain ${chainId}`);
  return byKey(chain, key);
}

/** An open row with the required fields only. */
function blankRow(nowMs: number): Omit<Registration, 'wallet' | 'chainId' | 'marketId' | 'positionIndex'> {
  const createdAtMs = nowMs - OLDEST_DAYS * DAY_MS;
  return {
    isOpen: true,
    depositedUsd: new Decimal('1000'),
    addedUsd: ZERO,
    removedUsd: ZERO,
    returnedUsd: ZERO,
    collateralApyPctAtOpen: null,
    borrowApyPctAtOpen: null,
    leverageApyPctAtOpen: null,
    desiredLtvPct: null,
    entryPrice: null,
    exitPrice: null,
    equityVaultId: null,
    createdAtMs,
    updatedAtMs: createdAtMs,
    closedAtMs: null,
  };
}
