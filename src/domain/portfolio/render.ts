import { repairOf } from '../drift/repair.ts';
import type { Drift } from '../drift/types.ts';
import type { EquityPosition } from '../equity/position.ts';
import type { Position } from '../position/types.ts';
import { isFailed } from './items.ts';
import type { Pnl, PortfolioEntry, PortfolioItem, PortfolioLoop, PortfolioVault, RegisteredPosition } from './types.ts';

/**
 * A wallet's portfolio as plain data of the v1 contract: an unknown value is absent, a value that does not apply is `null`.
 */
export type PortfolioDocument = Readonly<Record<string, unknown>>;

/** Render a wallet for the v1 contract, independent of the time of the request. */
export function renderEntry(entry: PortfolioEntry): PortfolioDocument {
  const { wallet: address, chainId } = entry;
  if (isFailed(entry)) return { address, chainId, failure: entry.failure };
  return {
    address,
    chainId,
    header: entry.header,
    pnl: pnlOf(entry.pnl),
    leftAuthorizations: entry.leftAuthorizations,
    positions: entry.positions.map(loopOf),
    equityPositions: entry.equityPositions.map(vaultOf),
    closed: entry.closed.map(endedOf),
    unresolved: entry.unresolved.map(({ reason, message, row }) => ({
      reason,
      message,
      marketId: row.marketId,
      positionIndex: row.positionIndex,
      registered: registeredOf(row),
    })),
  };
}

function endedOf(item: PortfolioItem): object {
  return item.kind === 'loop' ? { kind: 'position', ...loopOf(item) } : { kind: 'equity', ...vaultOf(item) };
}

function loopOf({ position, row, drift, pnl }: PortfolioLoop): object {
  return {
    ...positionOf(position),
    pnl: pnlOf(pnl),
    registered: row && registeredOf(row),
    dbDrift: drift?.kind ?? null,
    drift: drift ? driftDocument(drift) : undefined,
  };
}

function vaultOf({ chainId, vaultId, status, stockSymbol, equity, loops, pnl }: PortfolioVault): object {
  const { yieldLoops: _loops, wallet: _wallet, freshness: _freshness, gaps: _gaps, ...held } = equity ?? NOTHING;
  return {
    ...withReadAt(held),
    strategyId: vaultId,
    chainId,
    status,
    stockSymbol,
    yieldLoops: loops.map(loopOf),
    pnl: pnlOf(pnl),
    dbDrift: loops.find(({ drift }) => drift !== null)?.drift?.kind ?? null,
  };
}

const NOTHING: Partial<EquityPosition> = {};

/** Ages of market values are served per group elsewhere; `freshness` would change every second. */
function positionOf(position: Position): object {
  const {
    freshness: _freshness,
    gaps: _gaps,
    wallet: _wallet,
    marketId: _marketId,
    manual: _manual,
    ...fields
  } = position;
  return withReadAt(fields);
}

/** The block of the reading and the age of its price in the format of the contract. */
function withReadAt({
  readAt,
  oraclePriceAsOfMs,
  ...fields
}: Partial<Pick<Position, 'readAt' | 'oraclePriceAsOfMs'>>): object {
  return {
    ...fields,
    readAt:
      readAt === undefined
        ? undefined
        : { blockNumber: readAt.blockNumber.toString(), blockTime: isoOf(readAt.blockTimeMs) },
    oraclePriceAsOf:
      oraclePriceAsOfMs === undefined ? undefined : oraclePriceAsOfMs === null ? null : isoOf(oraclePriceAsOfMs),
  };
}

function pnlOf({ gaps: _gaps, ...pnl }: Pnl): object {
  return pnl;
}

/** A row of the register as plain data. */
function registeredOf(row: RegisteredPosition): object {
  return {
    isOpen: row.isOpen,
    depositedUsd: row.depositedUsd.toFixed(),
    addedUsd: row.addedUsd.toFixed(),
    removedUsd: row.removedUsd.toFixed(),
    returnedUsd: row.returnedUsd.toFixed(),
    collateralApyPctAtOpen: row.collateralApyPctAtOpen?.toFixed() ?? null,
    borrowApyPctAtOpen: row.borrowApyPctAtOpen?.toFixed() ?? null,
    leverageApyPctAtOpen: row.leverageApyPctAtOpen?.toFixed() ?? null,
    desiredLtvPct: row.desiredLtvPct?.toFixed() ?? null,
    entryPrice: row.entryPrice?.toFixed() ?? null,
    exitPrice: row.exitPrice?.toFixed() ?? null,
    equityVaultId: row.equityVaultId,
    createdAt: isoOf(row.createdAtMs),
    updatedAt: isoOf(row.updatedAtMs),
    closedAt: row.closedAtMs === null ? null : isoOf(row.closedAtMs),
  };
}

function driftDocument(drift: Drift): object {
  const { kind, severity, message, firstSeenMs, lastSeenMs, earlier, chain, register } = drift;
  const { blockNumber, blockTimeMs, ...evidence } = chain;
  return {
    kind,
    severity,
    message,
    firstSeen: isoOf(firstSeenMs),
    lastSeen: isoOf(lastSeenMs),
    earlier: earlier.map((one) => ({
      firstSeen: isoOf(one.firstSeenMs),
      lastSeen: isoOf(one.lastSeenMs),
      goneAt: isoOf(one.goneMs),
    })),
    suggestedSql: repairOf(drift),
    chain: { ...evidence, blockNumber: blockNumber.toString(), blockTime: isoOf(blockTimeMs) },
    database: register && {
      isOpen: register.isOpen,
      depositedUsd: register.depositedUsd,
      returnedUsd: register.returnedUsd,
      createdAt: isoOf(register.createdAtMs),
      updatedAt: isoOf(register.updatedAtMs),
      closedAt: register.closedAtMs === null ? null : isoOf(register.closedAtMs),
    },
  };
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
