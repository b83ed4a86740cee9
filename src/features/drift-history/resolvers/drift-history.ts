import type { AppContext } from '../../../resolvers/common/context.ts';
import { type Page, type PageArgs, toPage } from '../../../resolvers/common/page.ts';
import { selectChains } from '../../../resolvers/market/chains.ts';
import type { DriftFilterInput } from '../../../schema/ops/ops-inputs.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import { type ChainId, formatValue } from '../../../shared/ids.ts';
import { pageWindow } from '../../../shared/page-window.ts';
import type { DriftRecord } from '../domain/types.ts';
import { driftHistoryServices } from './drift-history-services.ts';

/**
 * List the history of drift, the latest recorded first. It is read from the database alone, so that it is there while a chain
 * is not.
 * @throws BadRequestError, UpstreamUnavailableError
 */
export async function listDriftHistory(
  args: PageArgs & {
    readonly chainIds?: readonly ChainId[] | null | undefined;
    readonly filter?: DriftFilterInput | null | undefined;
    readonly isGone?: boolean | null | undefined;
  },
  ctx: AppContext,
): Promise<Page<DriftRecord>> {
  const { chainIds, filter, isGone, after, before } = args;
  const { size, fromEnd } = pageWindow(args, ctx.maxPageSize);
  const { records, ...found } = await driftHistoryServices.of(ctx).list({
    filter: {
      chainIds: selectChains(ctx, chainIds).map(({ chainId }) => chainId),
      kinds: filter?.kinds ?? undefined,
      severities: filter?.severities ?? undefined,
      wallets: filter?.wallets ?? undefined,
      marketIds: filter?.marketIds ?? undefined,
      vaultIds: filter?.vaultIds ?? undefined,
      isGone: isGone ?? undefined,
    },
    size,
    fromEnd,
    after: after == null ? undefined : idOf(after, 'after'),
    before: before == null ? undefined : idOf(before, 'before'),
  });
  return toPage(
    records.map((node) => ({ cursor: btoa(`${LIST}:${node.id}`), node })),
    found,
  );
}

const LIST = 'driftHistory';
/** Of the column. */
const MAX_ID = 2n ** 63n - 1n;

/** @throws BadRequestError */
function idOf(cursor: string, field: 'after' | 'before'): bigint {
  const match = cursor.length > 64 ? null : /^(\w+):(\d{1,19})$/.exec(Buffer.from(cursor, 'base64').toString());
  if (match?.[1] === LIST && BigInt(match[2] ?? 0) <= MAX_ID) return BigInt(match[2] ?? 0);
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of an entry of it, or none.`,
    { field, value: formatValue(cursor) },
  );
}
