import { keyOf } from '../../../resolvers/common/caller.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { type Page, type PageArgs, toPage } from '../../../resolvers/common/page.ts';
import { BadRequestError, NotFoundError, UpstreamUnavailableError } from '../../../shared/errors.ts';
import { type ChainId, formatValue } from '../../../shared/ids.ts';
import { pageWindow } from '../../../shared/page-window.ts';
import type { AlertDelivery, AlertPage, AlertRecord, DeliveryStatus } from '../domain/records.ts';
import { OVERLAP_SEC } from '../domain/secret-overlap.ts';
import type { AlertCondition, AlertSubject, AlertSubjectKind } from '../domain/types.ts';
import type { AlertInput } from '../schema/alert-inputs.ts';
import { parseAlert, positionInputOf } from './alert-input.ts';
import { type AlertsPort, type AlertWithSecret, alertServices } from './alert-services.ts';

type Maybe<T> = T | null | undefined;

export interface DeletedAlert {
  readonly alertId: string;
  readonly deleted: boolean;
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Of the columns `seq`. */
const MAX_SEQ = 2n ** 63n - 1n;

/** Register an alert. @throws BadRequestError, ConflictError, UpstreamUnavailableError */
export async function createAlert(
  { chainId, input }: { readonly chainId: ChainId; readonly input: AlertInput },
  ctx: AppContext,
): Promise<AlertWithSecret> {
  const { rule, label, idempotencyKey } = parseAlert(chainId, input, ctx);
  await checkPosition(rule.subject, ctx);
  return portOf(ctx).create(keyOf(ctx), { rule, label, url: input.webhookUrl, idempotencyKey });
}

interface RotateArgs {
  readonly alertId: string;
  readonly overlapSec?: Maybe<number>;
}

/** Begin a new signing secret of an alert. @throws BadRequestError, NotFoundError, UpstreamUnavailableError */
export async function rotateAlertSecret(
  { alertId, overlapSec }: RotateArgs,
  ctx: AppContext,
): Promise<AlertWithSecret> {
  const id = alertId.toLowerCase();
  const overlap = overlapSec ?? OVERLAP_SEC.default;
  const { min, max } = OVERLAP_SEC;
  if (overlap < min || overlap > max) {
    throw new BadRequestError(
      `overlapSec is ${overlap}. Send ${min} to ${max} seconds: how long the secret before signs as well.`,
      { field: 'overlapSec', value: String(overlap), limit: { min, max } },
    );
  }
  const rotated = UUID.test(id) ? await portOf(ctx).rotateSecret(keyOf(ctx), id, overlap) : null;
  return rotated ?? unknownAlert(alertId);
}

/**
 * Refuse an alert on a position that the wallet does not have. While the chain cannot be asked every index is accepted: the
 * evaluation finds out later, and the status says so. @throws BadRequestError
 */
async function checkPosition(subject: AlertSubject, ctx: AppContext): Promise<void> {
  if (subject.kind !== 'position') return;
  const { chainId, wallet, positionIndex } = subject;
  const reading = await ctx.loaders.wallet.load({ chainId, wallet }).catch((error: unknown) => {
    if (error instanceof UpstreamUnavailableError) return null;
    throw error;
  });
  if (reading === null) return;
  const { positions, block } = reading.holdings;
  if (positions.some(({ id }) => id === positionIndex)) return;
  const count = positions.length;
  const have = count === 0 ? 'no position' : `${count} position${count === 1 ? '' : 's'}, 0 to ${count - 1}`;
  throw new BadRequestError(
    `${positionInputOf(ctx)} is ${positionIndex}, and at block ${block.number} the wallet has ${have} on chain ${chainId}. Send the index of one of its positions, or try again once the opening is in a block.`,
    {
      field: `input.${positionInputOf(ctx)}`,
      value: String(positionIndex),
      limit: count === 0 ? { positions: 0 } : { min: 0, max: count - 1 },
    },
  );
}

/** Find an alert of the caller. @throws NotFoundError, UpstreamUnavailableError */
export async function readAlert({ alertId }: { readonly alertId: string }, ctx: AppContext): Promise<AlertRecord> {
  return (await findAlert(alertId, ctx)) ?? unknownAlert(alertId);
}

/** Find an alert of the caller; `null` = there is none. @throws UpstreamUnavailableError */
export async function findAlert(alertId: string, ctx: AppContext): Promise<AlertRecord | null> {
  const id = alertId.toLowerCase();
  return UUID.test(id) ? portOf(ctx).find(keyOf(ctx), id) : null;
}

interface AlertListArgs extends PageArgs {
  readonly subject?: Maybe<AlertSubjectKind>;
  readonly condition?: Maybe<AlertCondition>;
}

/** List the alerts of the caller, the newest first. @throws BadRequestError, UpstreamUnavailableError */
export async function listAlerts(args: AlertListArgs, ctx: AppContext): Promise<Page<AlertRecord>> {
  const { subject, condition } = args;
  const query = { ...pageQuery(args, ctx, 'alerts'), subject: subject ?? undefined, condition: condition ?? undefined };
  return pageOf(await portOf(ctx).list(keyOf(ctx), query), 'alerts');
}

/** Delete an alert of the caller. An alert that is not there is no error, so that a repeated request is none. @throws UpstreamUnavailableError */
export async function deleteAlert({ alertId }: { readonly alertId: string }, ctx: AppContext): Promise<DeletedAlert> {
  const id = alertId.toLowerCase();
  return { alertId, deleted: UUID.test(id) && (await portOf(ctx).remove(keyOf(ctx), id)) };
}

/** Send a test event to the receiver of an alert. @throws NotFoundError, UpstreamUnavailableError */
export async function pingAlert({ alertId }: { readonly alertId: string }, ctx: AppContext): Promise<AlertDelivery> {
  const id = alertId.toLowerCase();
  return (UUID.test(id) ? await portOf(ctx).ping(keyOf(ctx), id) : null) ?? unknownAlert(alertId);
}

interface DeliveryListArgs extends PageArgs {
  readonly alertId?: Maybe<string>;
  readonly status?: Maybe<DeliveryStatus>;
}

/** List events and their deliveries, the newest first. @throws BadRequestError, NotFoundError, UpstreamUnavailableError */
export async function listDeliveries(args: DeliveryListArgs, ctx: AppContext): Promise<Page<AlertDelivery>> {
  const { status } = args;
  const alertId = args.alertId?.toLowerCase();
  if (alertId !== undefined && !UUID.test(alertId)) return unknownAlert(alertId);
  const query = { ...pageQuery(args, ctx, 'alertDeliveries'), alertId, status: status ?? undefined };
  return pageOf(await portOf(ctx).deliveries(keyOf(ctx), query), 'alertDeliveries');
}

/** Deliver an event again. @throws NotFoundError, UpstreamUnavailableError */
export async function redeliver({ eventId }: { readonly eventId: string }, ctx: AppContext): Promise<AlertDelivery> {
  const id = eventId.toLowerCase();
  const delivery = UUID.test(id) ? await portOf(ctx).redeliver(keyOf(ctx), id) : null;
  if (delivery) return delivery;
  throw new NotFoundError(
    `There is no event "${formatValue(eventId)}" that can be delivered again: list the deliveries, or wait until the attempt under way has ended.`,
    { resource: 'alertEvent', id: formatValue(eventId) },
  );
}

function portOf(ctx: AppContext): AlertsPort {
  return alertServices.of(ctx);
}

function unknownAlert(alertId: string): never {
  throw new NotFoundError(`This key has no alert "${formatValue(alertId)}". List its alerts to find their ids.`, {
    resource: 'alert',
    id: formatValue(alertId),
  });
}

function pageQuery(args: PageArgs, ctx: AppContext, list: string) {
  const { size, fromEnd } = pageWindow(args, ctx.maxPageSize);
  const place = (field: 'after' | 'before') => (args[field] == null ? undefined : seqOf(args[field], list, field));
  return { size, fromEnd, after: place('after'), before: place('before') };
}

function pageOf<T extends { readonly seq: bigint }>({ items, ...found }: AlertPage<T>, list: string): Page<T> {
  return toPage(
    items.map((node) => ({ cursor: btoa(`${list}:${node.seq}`), node })),
    found,
  );
}

/** @throws BadRequestError */
function seqOf(cursor: string, list: string, field: 'after' | 'before'): bigint {
  const match = cursor.length > 64 ? null : /^(\w+):(\d{1,19})$/.exec(Buffer.from(cursor, 'base64').toString());
  if (match?.[1] === list && BigInt(match[2] ?? 0) <= MAX_SEQ) return BigInt(match[2] ?? 0);
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of an entry of it, or none.`,
    { field, value: formatValue(cursor) },
  );
}
