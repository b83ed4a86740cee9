import type { EquityPosition } from '../../domain/equity/position.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import type { Position } from '../../domain/position/types.ts';
import type { AppContext } from '../common/context.ts';
import { explorerLinksOf, openedAtOf } from './position-result.ts';

const NO_EXPLORER = gap('explorerLinks', 'NOT_MEASURED', 'No block explorer of the chain is known.');
const NOT_MANUAL = gap('manualModeCalls', 'NOT_APPLICABLE', 'The position is not in manual mode.');

/** Give the reasons of a position's empty fields. */
export function holdingGaps(position: Position, ctx: AppContext): readonly Gap[] | Promise<readonly Gap[]> {
  // The rows of /v1 treat these fields as unknown when they have no gap.
  return ctx.contract === 'v1' ? position.gaps : withOpenedAt(ownGaps(position, ctx), position, ctx);
}

async function withOpenedAt(gaps: readonly Gap[], position: Position, ctx: AppContext): Promise<readonly Gap[]> {
  const openedAt = await openedAtOf(position, ctx);
  return typeof openedAt === 'number' ? gaps : [...gaps, { ...openedAt, field: 'openedAt' }];
}

function ownGaps(position: Position, ctx: AppContext): readonly Gap[] {
  const unvalued = position.gaps.find(({ field }) => field === 'closeNow');
  const fields = position.freshness ? [] : ['freshness', 'oraclePriceAsOf'];
  return [
    ...position.gaps,
    ...(unvalued ? fields.map((field) => ({ ...unvalued, field })) : []),
    ...(position.manual ? [] : [manualGap(position)]),
    ...(explorerLinksOf(position, ctx) ? [] : [NO_EXPLORER]),
  ];
}

function manualGap({ manualMode, gaps }: Position): Gap {
  const why = gaps.find(({ field }) => field === (manualMode ? 'closeNow' : 'manualMode'));
  return why ? { ...why, field: 'manualModeCalls' } : NOT_MANUAL;
}

const NOT_AMBIGUOUS = gap('yieldPositionIds', 'NOT_APPLICABLE', 'The loops of the vault are known, or it has none.');

/** Give the reasons of a vault's empty fields. */
export function equityPositionGaps({ gaps, yieldLoopMatch }: EquityPosition, { contract }: AppContext): readonly Gap[] {
  return contract === 'v1' || yieldLoopMatch === 'ambiguous' ? gaps : [...gaps, NOT_AMBIGUOUS];
}
