import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import type { Position } from '../../domain/position/types.ts';
import { UpstreamUnavailableError } from '../../shared/errors.ts';
import type { AppContext } from '../common/context.ts';
import type { RecordedReward } from '../common/services.ts';

export interface PositionRewards {
  /** `null` = not known. */
  readonly rewards: readonly RecordedReward[] | null;
  readonly stamp: Stamp | null;
  readonly gaps: readonly Gap[];
}

const UNKNOWN_WAY = gap(
  'isCollectable',
  'NOT_MEASURED',
  'Rewards accrue to the contract that holds the position, which has no function that collects them: whether and how they can be collected is not known.',
);

/** Read what a position has earned by the record of the provider; unknown, with a reason, while it cannot be read. */
export async function rewardsOf({ chainId, proxy }: Position, ctx: AppContext): Promise<PositionRewards> {
  const { rewards: port } = ctx.live();
  if (!port) return unknown('NOT_MEASURED', 'This service does not ask the provider for rewards of positions.');
  try {
    const { rewards, asOfMs } = await port.of(chainId, proxy);
    return { rewards, stamp: { asOfMs, staleAfterSec: ctx.services.budgets.incentives }, gaps: [UNKNOWN_WAY] };
  } catch (error) {
    if (!(error instanceof UpstreamUnavailableError)) throw error;
    return unknown('SOURCE_FAILED', 'The provider of the record gives no usable answer now.');
  }
}

function unknown(reason: Gap['reason'], message: string): PositionRewards {
  const fields = ['entries', 'freshness'];
  return { rewards: null, stamp: null, gaps: [...fields.map((field) => gap(field, reason, message)), UNKNOWN_WAY] };
}
