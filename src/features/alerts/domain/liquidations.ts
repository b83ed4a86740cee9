import { Decimal } from '../../../shared/decimal.ts';
import type {
  AlertState,
  AlertTransition,
  FoundLiquidation,
  ReportedLiquidations,
  SeenLiquidations,
  SubjectObservation,
} from './types.ts';

/** Events that are remembered; older ones are excluded by their block. */
const MAX_REMEMBERED = 200;

type Emptied = ReportedLiquidations['emptied'][number];

/**
 * Evaluate the condition `liquidated`: each liquidation since the first evaluation fires once, partial ones included, and the
 * condition is never cleared. At the first evaluation positions without collateral fire. An event that a reorganization
 * removes stays reported.
 */
export function stepLiquidated(state: AlertState, seen: SubjectObservation): AlertTransition | null {
  const { liquidations, observedMs } = seen;
  if (liquidations === undefined) return null;
  const before = state.reported ?? firstOf(state, liquidations);
  const { reported, fired } = report(before, liquidations);
  const count = state.value?.toNumber() ?? 0;
  const isNew = state.reported === null || fired.length > 0 || state.status === 'not_applicable';
  if (!isNew && isSame(before, reported)) return null;
  return {
    state: {
      status: fired.length > 0 || state.status === 'firing' ? 'firing' : 'armed',
      value: new Decimal(count + fired.length),
      observedMs: isNew ? observedMs : state.observedMs,
      reported,
    },
    events: fired.map((liquidation, i) => ({ type: 'fired', value: new Decimal(count + i + 1), liquidation })),
  };
}

/** An alert from before liquidations were remembered has reported those that it counted. */
function firstOf({ status }: AlertState, { blockNumber, emptied }: SeenLiquidations): ReportedLiquidations {
  const known = status === 'firing' ? emptied : [];
  return {
    sinceBlock: blockNumber,
    events: [],
    emptied: known.map((positionIndex) => ({ positionIndex, blockNumber, isExplained: true })),
  };
}

function report(before: ReportedLiquidations, seen: SeenLiquidations) {
  // A chain that is shorter than before is another one.
  const sinceBlock = before.sinceBlock < seen.blockNumber ? before.sinceBlock : seen.blockNumber;
  const known = new Set(before.events.map(({ id }) => id));
  const fresh = seen.events.filter(({ id, blockNumber }) => blockNumber > sinceBlock && !known.has(id));
  // The event behind a loss of collateral that was reported already.
  const explains = new Map<number, string>();
  for (const { positionIndex, blockNumber, isExplained } of before.emptied) {
    const event = fresh.findLast((one) => one.positionIndex === positionIndex && one.blockNumber <= blockNumber);
    if (!isExplained && event) explains.set(positionIndex, event.id);
  }
  const fired: FoundLiquidation[] = fresh.filter(
    ({ positionIndex, id }) => positionIndex === null || explains.get(positionIndex) !== id,
  );
  const emptied: Emptied[] = before.emptied
    .map((one) => (explains.has(one.positionIndex) ? { ...one, isExplained: true } : one))
    .filter(({ positionIndex, isExplained }) => !isExplained || seen.emptied.includes(positionIndex));
  for (const positionIndex of seen.emptied) {
    if (emptied.some((one) => one.positionIndex === positionIndex)) continue;
    const { blockNumber, atMs } = seen;
    // Its event does not count: it was before the first evaluation.
    const isOlder = before.sinceBlock >= blockNumber;
    if (!isOlder && seen.history === 'soon') continue;
    const isReported = !isOlder && seen.history === 'whole';
    emptied.push({ positionIndex, blockNumber, isExplained: isOlder || isReported });
    if (!isReported) fired.push({ positionIndex, strategyId: null, blockNumber, atMs, txHash: null });
  }
  const events = [...before.events, ...fresh.map(({ id, blockNumber }) => ({ id, blockNumber }))];
  return { reported: remembered({ sinceBlock, events, emptied }), fired };
}

function remembered({ sinceBlock, events, emptied }: ReportedLiquidations): ReportedLiquidations {
  if (events.length <= MAX_REMEMBERED) return { sinceBlock, events, emptied };
  const byBlock = events.toSorted((a, b) => Number(a.blockNumber - b.blockNumber));
  const kept = byBlock.slice(-MAX_REMEMBERED);
  const last = byBlock.at(-MAX_REMEMBERED - 1)?.blockNumber ?? sinceBlock;
  return { sinceBlock: last > sinceBlock ? last : sinceBlock, events: kept, emptied };
}

function isSame(a: ReportedLiquidations, b: ReportedLiquidations): boolean {
  const keyOf = ({ positionIndex, isExplained }: Emptied): string => `${positionIndex}:${isExplained}`;
  return (
    a.sinceBlock === b.sinceBlock &&
    a.events.length === b.events.length &&
    a.emptied.map(keyOf).join() === b.emptied.map(keyOf).join()
  );
}
