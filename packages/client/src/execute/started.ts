import { keccak256 } from '../hash/keccak.ts';
import { isRecord } from '../json.ts';
import { originOf } from '../plan-origin.ts';
import { AlreadyStartedError } from './errors.ts';
import { type CheckedPlan, partsOf } from './plan.ts';
import type { SequenceContext } from './transaction.ts';

/** One call of `execute`, by what it has started. */
export interface Run {
  isRunning: boolean;
  /** Hashes and ids of what it has sent. */
  readonly sent: readonly string[];
  /** The places in which it is entered. */
  readonly entered: Set<Run>[];
}

export const newRun = (sent: readonly string[]): Run => ({ isRunning: true, sent, entered: [] });

/** The runs of the plans of one content, apart by whether the build of the plan is known. */
interface SameContent {
  readonly built: Set<Run>;
  readonly copied: Set<Run>;
}

/**
 * The runs of this process. A plan is known by its build, since two builds may have the same calls, and a copy, which has lost its
 * build, by its content.
 */
const byBuild = new WeakMap<object, Set<Run>>();
const byContent = new Map<string, SameContent>();

/** The calls for an account, and the time of their build as far as the plan tells. */
function contentOf({ chainId, calls, expiresAt, content }: CheckedPlan, account: string): string {
  const readAt = partsOf(content.meta).find((part) => isRecord(part.readAt))?.readAt;
  const bytes = calls.map(({ to, data, value }) => [to, data, String(value)]);
  return keccak256(JSON.stringify([account, chainId, bytes, expiresAt, readAt]).toLowerCase());
}

/**
 * Enter a plan as started by a run. With `startAgain` it may be that of another run.
 *
 * @throws AlreadyStartedError
 */
export function start(plan: CheckedPlan, account: string, run: Run, startAgain: boolean): void {
  const build = originOf(plan.content)?.build;
  const content = contentOf(plan, account);
  const same = byContent.get(content) ?? { built: new Set(), copied: new Set() };
  const ofBuild = build === undefined ? undefined : (byBuild.get(build) ?? new Set());
  const [earlier] = [...(ofBuild ?? same.built), ...same.copied].filter((other) => other !== run);
  if (earlier !== undefined && !startAgain) throw new AlreadyStartedError(earlier.isRunning, earlier.sent);
  byContent.set(content, same);
  if (build !== undefined && ofBuild !== undefined) byBuild.set(build, ofBuild);
  for (const place of ofBuild === undefined ? [same.copied] : [ofBuild, same.built]) run.entered.push(place.add(run));
}

/** Record that a run is over. Where nothing was sent, and cannot have been, its plans may be started again. */
export function end(run: Run, { asked }: Pick<SequenceContext, 'asked'>): void {
  run.isRunning = false;
  if (asked.length === 0) for (const place of run.entered) place.delete(run);
  run.entered.length = 0;
}
