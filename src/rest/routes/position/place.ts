import { BadRequestError, NotFoundError } from '../../../shared/errors.ts';
import type { PositionIdParts } from '../../schemas/transactions.ts';

/** The place of a position as a request names it: its positionId, or its index with a chain. */
interface SentPlace {
  readonly id: number | PositionIdParts;
  readonly chainId?: number | undefined;
}

/** Locations of both parts in the request. */
interface PlaceFields {
  readonly id: string;
  readonly chainId: string;
}

interface Place {
  readonly chainId: number;
  readonly positionIndex: number;
  /** Known from a positionId only. */
  readonly marketId?: string | undefined;
}

/**
 * Read where a position is. An index without a chain is one of the default chain.
 * @throws BadRequestError for a positionId on a chain that is not served, and for a chainId that contradicts it
 */
export function positionPlace({ id, chainId }: SentPlace, chainIds: readonly number[], fields: PlaceFields): Place {
  if (typeof id === 'number') return { chainId: chainId ?? chainIds[0] ?? 1, positionIndex: id };
  if (!chainIds.includes(id.chainId)) {
    throw new BadRequestError(
      `The positionId is on chain ${id.chainId}, which is not served. Send one on ${chainIds.join(' or ')}.`,
      { field: fields.id, value: positionIdOf(id), limit: { oneOf: chainIds } },
    );
  }
  if (chainId === undefined || chainId === id.chainId) return id;
  throw new BadRequestError(
    `chainId ${chainId} contradicts the positionId, which is on chain ${id.chainId}. Send chainId ${id.chainId}, or none.`,
    { field: fields.chainId, value: String(chainId), limit: { oneOf: [id.chainId] } },
  );
}

/** Format a positionId that was sent. */
export function positionIdOf({ chainId, marketId, positionIndex }: PositionIdParts): string {
  return `${chainId}-${marketId}-${positionIndex}`;
}

/** The parameters of a row of one position. */
interface PositionParams extends SentPlace {
  readonly address: string;
}

const IN_PATH: PlaceFields = { id: 'path.id', chainId: 'query.chainId' };

/** Read the position of a row. @throws BadRequestError as of `positionPlace` */
export function placeInPath(params: PositionParams, chainIds: readonly number[]) {
  const { chainId, positionIndex } = positionPlace(params, chainIds, IN_PATH);
  return { id: `${chainId}-${positionIndex}` };
}

/**
 * Check the position that a row has read.
 * @throws NotFoundError naming the chain that was read; BadRequestError when it is on another market than its positionId says
 */
export function foundAt(
  position: Readonly<Record<string, unknown>> | null,
  params: PositionParams,
  chainIds: readonly number[],
): void {
  const { address, id } = params;
  const { chainId, positionIndex, marketId } = positionPlace(params, chainIds, IN_PATH);
  const list = `/v1/partner/positions/${address}?chainId=${chainId}`;
  const sent = typeof id === 'number' ? String(id) : positionIdOf(id);
  if (!position) {
    const isDefault = marketId === undefined && params.chainId === undefined;
    const elsewhere = isDefault ? ' If the position is on another chain, send its positionId, or its chainId too.' : '';
    throw new NotFoundError(
      `${address} has no position ${positionIndex} on chain ${chainId}. Send an id from ${list}.${elsewhere}`,
      { resource: 'position', id: sent },
    );
  }
  if (marketId === undefined || position.positionId === sent) return;
  throw new BadRequestError(
    `Position ${positionIndex} of ${address} on chain ${chainId} has the positionId ${position.positionId}. Send that, or the id of another position from ${list}.`,
    { field: IN_PATH.id, value: sent },
  );
}
