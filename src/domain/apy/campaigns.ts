import { ZERO } from '../../shared/decimal.ts';
import type { CampaignRecord, CampaignSide, IncentiveHistory } from '../facts.ts';
import { DAY_MS, type StepPoint, stepAverage } from './series.ts';

/** A stretch of time, ms; the end is excluded. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The incentive rate of one side of a market over time, summed over all campaigns. */
export interface IncentiveRecord {
  /** Oldest first: each holds until the next; before the first nothing was paid. */
  readonly steps: readonly StepPoint[];
  /** Spans in which a campaign ran whose APR is not recorded. */
  readonly unknown: readonly Span[];
}

/** A provider computes the first APR of a campaign some hours after its start. That APR is taken to hold from the start. */
const FIRST_STEP_GRACE_MS = DAY_MS;

/** Sum the campaigns of one side of a market. The sum is made at read time, so that each campaign keeps its own history. */
export function incentiveRecord({ campaigns }: IncentiveHistory, side: CampaignSide): IncentiveRecord {
  return sumOf(campaigns.filter((campaign) => campaign.side === side));
}

function sumOf(campaigns: readonly CampaignRecord[]): IncentiveRecord {
  const parts = campaigns.map(stepsOf);
  const changes = parts
    .flatMap((steps, campaign) => steps.map((step) => ({ ...step, campaign })))
    .sort((a, b) => a.atMs - b.atMs);
  const paid = parts.map(() => ZERO);
  const steps: StepPoint[] = [];
  for (const { atMs, aprPct, campaign } of changes) {
    paid[campaign] = aprPct;
    const sum = paid.reduce((total, apr) => total.plus(apr), ZERO);
    if (steps.at(-1)?.atMs === atMs) steps.pop();
    steps.push({ atMs, aprPct: sum });
  }
  return { steps, unknown: campaigns.flatMap(unknownIn) };
}

/** The steps of one campaign within its own dates. The last step is zero. */
function stepsOf(campaign: CampaignRecord): readonly StepPoint[] {
  const { startsAtMs, endsAtMs } = campaign;
  const recorded = campaign.steps;
  const [first] = recorded;
  if (!first || endsAtMs <= startsAtMs) return [];
  const steps: StepPoint[] = [];
  const heldSinceMs = first.atMs - startsAtMs <= FIRST_STEP_GRACE_MS ? startsAtMs : first.atMs;
  for (const { atMs, ratePct } of recorded) {
    const fromMs = Math.max(atMs === first.atMs ? heldSinceMs : atMs, startsAtMs);
    if (fromMs >= endsAtMs) break;
    if (steps.at(-1)?.atMs === fromMs) steps.pop();
    steps.push({ atMs: fromMs, aprPct: ratePct });
  }
  return steps.length === 0 ? [] : [...steps, { atMs: endsAtMs, aprPct: ZERO }];
}

function unknownIn({ startsAtMs, endsAtMs, steps }: CampaignRecord): readonly Span[] {
  const firstMs = steps[0]?.atMs ?? Number.POSITIVE_INFINITY;
  if (firstMs - startsAtMs <= FIRST_STEP_GRACE_MS || endsAtMs <= startsAtMs) return [];
  return [{ fromMs: startsAtMs, toMs: Math.min(firstMs, endsAtMs) }];
}

/** Check whether a span overlaps with a time at which an unrecorded campaign ran. */
export function hasUnknown({ unknown }: IncentiveRecord, fromMs: number, toMs: number): boolean {
  return unknown.some((span) => span.fromMs < toMs && span.toMs > fromMs);
}

/** Average an incentive over the window that ends at `endMs`, percent; `undefined` when a part of it is not known. */
export function incentiveMean(record: IncentiveRecord, endMs: number, days: number) {
  const fromMs = endMs - days * DAY_MS;
  return hasUnknown(record, fromMs, endMs) ? undefined : stepAverage(record.steps, fromMs, endMs);
}
