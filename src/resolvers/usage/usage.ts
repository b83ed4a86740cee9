import { BadRequestError } from '../../shared/errors.ts';
import { momentOf } from '../common/age.ts';
import { keyOf } from '../common/caller.ts';
import type { AppContext } from '../common/context.ts';
import type { UsedDay } from './usage-services.ts';

const DAY_MS = 86_400_000;
/** Days are kept this long. */
export const MAX_USAGE_DAYS = 400;

/** The use of the caller's key. */
export interface UsageView {
  readonly tier: 'partner' | 'ops';
  readonly fromMs: number;
  readonly days: readonly UsedDay[];
}

/** Read the use of the caller's key over some UTC days, the present one included. @throws BadRequestError, UnauthorizedError, UpstreamUnavailableError */
export async function readUsage({ days }: { readonly days: number }, ctx: AppContext): Promise<UsageView> {
  if (!Number.isInteger(days) || days < 1 || days > MAX_USAGE_DAYS) {
    throw new BadRequestError(`days is ${days}. Send 1 to ${MAX_USAGE_DAYS}.`, {
      field: 'days',
      value: String(days),
      limit: { min: 1, max: MAX_USAGE_DAYS },
    });
  }
  const keyId = keyOf(ctx);
  const tier = ctx.caller.kind === 'key' ? ctx.caller.tier : 'partner';
  const fromMs = (Math.floor(momentOf(ctx) / DAY_MS) - (days - 1)) * DAY_MS;
  return { tier, fromMs, days: await ctx.live().keyUsage.since(keyId, fromMs) };
}
