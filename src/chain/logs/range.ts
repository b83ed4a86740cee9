/** Number of blocks of one step, and the largest that is tried at present. */
export interface RangeSize {
  readonly blocks: number;
  readonly ceiling: number;
}

/** Above it a step saves no requests that matter, and one answer takes a node long. */
const MAX_BLOCKS = 50_000;
/** Range for a node whose probe found none. */
const UNKNOWN_BLOCKS = 1_000;
/** Successes after which a refused range is tried again: limits may depend on the number of logs. */
const TRY_AGAIN_AFTER = 8;
/** A range that timed out is cut more, because each timeout counts against the node for all readers. */
const TIMEOUT_SHARE = 8;

/** Start with the range that the probe of the node found. */
export function firstRange(probed: number | null): RangeSize {
  return { blocks: probed && probed > 0 ? Math.min(probed, MAX_BLOCKS) : UNKNOWN_BLOCKS, ceiling: MAX_BLOCKS };
}

/** Double a range that was answered, up to the ceiling, which rises again after some successes. */
export function grown({ blocks, ceiling }: RangeSize, successes: number): RangeSize {
  const raised = successes > 0 && successes % TRY_AGAIN_AFTER === 0 ? Math.min(ceiling * 2, MAX_BLOCKS) : ceiling;
  return { blocks: Math.min(blocks * 2, raised), ceiling: raised };
}

/** Halve a range that was refused; `null` = it is a single block, which cannot be smaller. */
export function shrunk({ blocks }: RangeSize, why: 'refused' | 'timeout'): RangeSize | null {
  if (blocks <= 1) return null;
  const smaller = Math.max(1, Math.floor(blocks / (why === 'timeout' ? TIMEOUT_SHARE : 2)));
  return { blocks: smaller, ceiling: smaller };
}
