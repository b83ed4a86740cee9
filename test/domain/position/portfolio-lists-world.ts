import type { EquityVault, Market } from '../../../src/catalog/types.ts';
import type { Drift } from '../../../src/domain/drift/types.ts';
import { isFailed } from '../../../src/domain/portfolio/items.ts';
import { countsOf, type PortfolioReport } from '../../../src/domain/portfolio/report.ts';
import { rowsOfWallet } from '../../../src/domain/portfolio/rows.ts';
import type {
  Pnl,
  Portfolio,
  PortfolioEntry,
  PortfolioLoop,
  PortfolioVault,
} from '../../../src/domain/portfolio/types.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { NOW_MS } from '../world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { held, robinhood } from './position-world.ts';

/* Hand-made wallets for lists and sums: each has something that the others lack. */

export const [vault] = robinhood.equityVaults as [EquityVault];
export const [first, second] = robinhood.markets.filter(({ kind }) => kind === 'loop') as [Market, Market];
export const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address;

export interface LoopChange extends Partial<Omit<PortfolioLoop, 'position' | 'pnl' | 'drift'>> {
  readonly position?: Partial<PortfolioLoop['position']>;
  readonly pnl?: Partial<Pnl>;
  readonly drift?: Partial<Drift>;
}

export const whole = portfolioOf({
  chain: robinhood,
  positions: [held(first.id, { collateral: 10n ** 20n, borrowShares: 10n ** 9n, depositedAssets: 10n ** 8n })],
  rows: [rowOf(first.id)],
});
export const [plain] = whole.positions as [PortfolioLoop];
export const row = plain.row as NonNullable<PortfolioLoop['row']>;

export function loop(id: number, wallet: number, { position, pnl, drift, ...rest }: LoopChange = {}): PortfolioLoop {
  const own = { ...plain.position, wallet: addressOf(wallet), id, positionId: `p${id}`, ...position };
  const found = {
    chainId: 4663,
    wallet: addressOf(wallet),
    positionIndex: id,
    positionId: `p${id}`,
    ...drift,
  } as Drift;
  return {
    ...plain,
    position: own as PortfolioLoop['position'],
    drift: drift === undefined ? null : found,
    pnl: { ...plain.pnl, ...pnl },
    ...rest,
  };
}

export function vaultOf(
  wallet: number,
  loops: readonly PortfolioLoop[],
  change: Partial<PortfolioVault> = {},
): PortfolioVault {
  return {
    kind: 'vault',
    chainId: 4663,
    wallet: addressOf(wallet),
    vaultId: vault.id,
    status: 'open',
    stockSymbol: 'TSLA',
    equity: null,
    loops,
    pnl: { gaps: [] },
    ...change,
  };
}

export const walletOf = (wallet: number, items: Partial<Portfolio>): Portfolio => ({
  ...whole,
  wallet: addressOf(wallet),
  positions: [],
  equityPositions: [],
  closed: [],
  unresolved: [],
  ...items,
});
export const amounts = (usd: string, total = usd): Partial<Pnl> => ({ netValueUsd: usd, totalUsd: total });
export const openedAt = (openedAtMs: number | null) => ({ ...row, openedAtMs });

export const inVault = [
  loop(7, 3, {
    pnl: amounts('70'),
    position: { ltvHeadroomPct: '4' },
    row: openedAt(500),
    drift: { kind: 'no_db_row', severity: 'high', firstSeenMs: 30, marketId: first.id },
  }),
  loop(8, 3, { pnl: amounts('30'), position: { ltvHeadroomPct: '9' }, row: null }),
];
export const wallets: readonly PortfolioEntry[] = [
  walletOf(1, {
    positions: [
      loop(1, 1, {
        pnl: { ...amounts('10', '-5'), returnOnEquityPct: '3' },
        position: { ltvPct: '50', ltvHeadroomPct: '20' },
        row: openedAt(900),
      }),
      loop(2, 1, {
        pnl: { ...amounts('40', '1'), returnOnEquityPct: null },
        position: { marketId: second.id, ltvPct: null, ltvHeadroomPct: null },
        row: openedAt(100),
        drift: { kind: 'db_closed_chain_open', severity: 'medium', firstSeenMs: 10, marketId: second.id },
      }),
    ],
    unresolved: [{ reason: 'chain_mismatch', message: '', row }],
  }),
  walletOf(2, {
    closed: [
      loop(3, 2, {
        pnl: { ...amounts('0', '8'), netValueUsd: undefined, totalUsd: undefined },
        position: { status: 'closed', ltvHeadroomPct: null, collateralSymbol: undefined },
        row: openedAt(null),
      }),
    ],
    unresolved: [
      { reason: 'chain_mismatch', message: '', row },
      { reason: 'market_not_configured', message: '', row },
    ],
  }),
  walletOf(3, { equityPositions: [vaultOf(3, inVault, { pnl: { ...amounts('100', '20'), gaps: [] } })] }),
  { chainId: 4663, wallet: addressOf(4), failure: { reason: 'timeout', message: '' } },
];

export function reportOf(entries: readonly PortfolioEntry[], chainId = 4663): PortfolioReport {
  const rows = entries.flatMap((entry) => (isFailed(entry) ? [] : [{ portfolio: entry, rows: rowsOfWallet(entry) }]));
  return {
    chainId,
    blockNumber: 1n,
    asOfMs: NOW_MS,
    computedAtMs: NOW_MS + 5,
    entries,
    rows,
    counts: countsOf(entries),
  };
}
export const report = reportOf(wallets);
export const page = { window: { size: 100, fromEnd: false } } as const;
