import { CONTRACTS } from '../generated/contracts.ts';
import { isRecord } from '../json.ts';
import { loanValue } from '../verify/numbers.ts';
import type { Intent, VerifiedAmount, VerifiedSwap } from '../verify/types.ts';
import { InvalidPlanError } from './errors.ts';
import { approvedAmount, type CheckedPlan, isPreparation, partsOf } from './plan.ts';
import { closedBy, type Proven } from './proof.ts';

/** One figure of two plans in which the second one is worse for the wallet. */
export interface Difference {
  readonly what: string;
  /** As the plans state it; absent from the plan = `undefined`. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Percent of the value before; `Infinity` = it cannot be compared. */
  readonly worsePct: number;
}

export interface Comparison {
  /** Empty = the new plan is as good or better. */
  readonly worse: readonly Difference[];
  /** The largest of `worse`, percent; 0 = none. */
  readonly worsePct: number;
}

/** The stated results, of which more is better. The worst case includes the minimum output of every swap. */
const RESULTS = ['worstCase.equity', 'worstCase.paidOut'];

/** The stated risks, of which more is worse. */
const RISKS = ['worstCase.ltv', 'worstCase.yieldLtv'];

/** The proven effects of two plans; `undefined` = not proven. */
export interface ProvenPlans {
  readonly before: Proven | undefined;
  readonly after: Proven | undefined;
}

/**
 * Compare a plan with the one that replaces it. `proven` is `undefined` where no proof was asked for. Where positions were `closed`
 * by calls of the plan before, its figures and receipts include their payouts: only the swaps that are left are compared.
 *
 * @throws InvalidPlanError when the new one is for another chain, action or strategy, or calls another contract
 */
export function comparePlans(
  before: CheckedPlan,
  after: CheckedPlan,
  proven?: ProvenPlans,
  closed: readonly number[] = [],
): Comparison {
  for (const field of ['chainId', 'action', 'strategyId'] as const) {
    if (before[field] !== after[field]) {
      throw new InvalidPlanError(`The rebuilt plan has ${field} ${after[field]} in place of ${before[field]}.`);
    }
  }
  requireTargets(before, after);
  requirePositions(before, after);
  const [old, now] = [resultsOf(before), resultsOf(after)];
  // A plan of GraphQL states no figures: the proven effects of both are compared.
  const isStated = old.size > 0 && closed.length === 0;
  const names = RESULTS.some((name) => old.has(name)) ? RESULTS.filter((name) => old.has(name)) : ['minTokenOut'];
  const results = isStated ? names.map((what) => lessIsWorse(what, old.get(what), now.get(what))) : [];
  const risks = isStated ? RISKS.map((what) => moreRisk(what, old.get(what), now.get(what))) : [];
  const [oldCosts, costs] = [takenBy(before), takenBy(after)];
  const taken = [...costs].map(([what, amount]) => moreIsWorse(what, oldCosts.get(what) ?? 0n, amount));
  const bounds = proven === undefined ? [isStated ? undefined : UNKNOWN] : compareProven(proven, closed);
  const worse = [...results, ...risks, ...taken, ...bounds].filter((difference) => difference !== undefined);
  return { worse, worsePct: Math.max(0, ...worse.map(({ worsePct }) => worsePct)) };
}

/** Neither stated nor proven: a plan that cannot be measured may be any amount worse. */
const UNKNOWN: Difference = {
  what: 'proof',
  before: undefined,
  after: undefined,
  worsePct: Number.POSITIVE_INFINITY,
};

/** A new plan that is not proven is not executed, so that its comparison does not matter. */
function compareProven({ before, after }: ProvenPlans, closed: readonly number[]): readonly (Difference | undefined)[] {
  if (after === undefined) return [];
  if (before === undefined) return [{ ...UNKNOWN, after: 'proven' }];
  if (closed.length === 0) return compareBounds(before, after);
  const done = closed.map((id) => `position ${id}`);
  return compareSwaps(
    before.proof.swaps.filter((swap) => !done.includes(swap.of)),
    after.proof.swaps,
  );
}

/** Compare the proven effects: a service may repeat the figures of the old plan, and put others into the calls. */
function compareBounds(before: Proven, after: Proven): (Difference | undefined)[] {
  const amountIn = (amounts: readonly VerifiedAmount[], token: string) =>
    amounts.find((amount) => amount.token === token)?.amount ?? 0n;
  const [old, now] = [before.proof, after.proof];
  const received = old.receivesAtLeast.map(({ token, amount }) =>
    lessIsWorse(`proven receipt of ${token}`, String(amount), String(amountIn(now.receivesAtLeast, token))),
  );
  const spent = now.spendsAtMost.map(({ token, amount }) =>
    moreIsWorse(`proven payment of ${token}`, amountIn(old.spendsAtMost, token), amount),
  );
  const equity = lessIsWorse('proven equity', equityOf(before), equityOf(after));
  // With the equity it bounds the debt too. Its amount alone follows the price, and says nothing.
  const ltv = moreRisk('proven LTV', old.position?.ltvAtMostPct, now.position?.ltvAtMostPct);
  return [...received, ...spent, ...compareSwaps(old.swaps, now.swaps), equity, ltv];
}

/** By the least output for the amount that the swap sold before: a loan of another size is no loss by itself. */
function compareSwaps(before: readonly VerifiedSwap[], after: readonly VerifiedSwap[]): (Difference | undefined)[] {
  return before.map(({ of, sells, givesAtLeast }) => {
    const now = after.find((swap) => swap.of === of);
    const output =
      now === undefined || now.sells.amount === 0n
        ? undefined
        : (now.givesAtLeast.amount * sells.amount) / now.sells.amount;
    const what = `proven output of the ${of} in ${givesAtLeast.token}`;
    return lessIsWorse(what, String(givesAtLeast.amount), output === undefined ? undefined : String(output));
  });
}

/** Of the position that is opened or grown, at the least outputs, loan base units. */
function equityOf({ proof: { position }, intent }: Proven): string | undefined {
  const price = priceOf(intent);
  if (position === undefined || price === undefined) return undefined;
  return String(loanValue(position.collateralAtLeast.amount, price) - position.debtAtMost.amount);
}

function priceOf(intent: Intent): bigint | undefined {
  if (intent.action === 'equity_deposit') return intent.state.yield.price;
  return intent.action === 'open_leverage' || intent.action === 'increase_leverage' ? intent.state.price : undefined;
}

/** A plan may change between the contracts of the service, e.g. for its router; every other target is that of the old plan. */
function requireTargets(before: CheckedPlan, { calls, chainId }: CheckedPlan): void {
  const ofService: object = (CONTRACTS as Readonly<Record<string, object>>)[chainId] ?? {};
  const known = [...before.calls.map(({ to }) => to), ...Object.values(ofService).map(String)];
  const targets = new Set(known.map((address) => address.toLowerCase()));
  const other = calls.find((call) => !isPreparation(call) && !targets.has(call.to.toLowerCase()));
  if (other === undefined) return;
  throw new InvalidPlanError(`The rebuilt plan calls ${other.to}, which the plan before it does not.`);
}

function requirePositions(before: CheckedPlan, after: CheckedPlan): void {
  const known = closedBy(before.calls);
  const other = closedBy(after.calls).find((id) => !known.includes(id));
  if (other === undefined) return;
  throw new InvalidPlanError(`The rebuilt plan closes position ${other}, which the plan before it does not.`);
}

/** The result that a plan states, by name. */
function resultsOf({ content }: CheckedPlan): Map<string, string> {
  const parts = partsOf(content.meta);
  const worstCase = parts.map((part) => part.worstCase).find(isRecord) ?? {};
  const found = [
    ...[...RESULTS, ...RISKS].map((name) => [name, worstCase[name.split('.')[1] ?? '']]),
    ['minTokenOut', parts[0]?.minTokenOut],
  ];
  return new Map(found.flatMap(([name, value]) => (typeof value === 'string' ? [[String(name), value]] : [])));
}

/** The payment of a plan from the wallet: native value, and the approved amount of each token. */
function takenBy({ calls }: CheckedPlan): Map<string, bigint> {
  const taken = new Map<string, bigint>();
  const add = (what: string, amount: bigint) => taken.set(what, (taken.get(what) ?? 0n) + amount);
  for (const call of calls) {
    if (call.value > 0n) add('value', call.value);
    add(`approval of ${call.to.toLowerCase()}`, approvedAmount(call) ?? 0n);
  }
  return taken;
}

const DECIMAL = /^(-?)(\d{1,60})(?:\.(\d{1,40}))?$/;
const PLACES = 40;

function scaled(text: string | undefined): bigint | undefined {
  const match = DECIMAL.exec(text ?? '');
  if (!match) return undefined;
  const [, sign, whole, fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(PLACES, '0')}`);
}

function lessIsWorse(what: string, before: string | undefined, after: string | undefined): Difference | undefined {
  const [old, now] = [scaled(before), scaled(after)];
  // Neither plan states it, e.g. without a swap: nothing in it can have changed.
  if (before === undefined && after === undefined) return undefined;
  if (old === undefined || now === undefined) return { what, before, after, worsePct: Number.POSITIVE_INFINITY };
  return now >= old ? undefined : { what, before, after, worsePct: percentOf(old - now, old) };
}

function moreRisk(what: string, before: string | undefined, after: string | undefined): Difference | undefined {
  // Without a position afterwards there is no risk.
  if (after === undefined) return undefined;
  const [old, now] = [scaled(before), scaled(after)];
  if (old === undefined || now === undefined) return { what, before, after, worsePct: Number.POSITIVE_INFINITY };
  return now <= old ? undefined : { what, before, after, worsePct: percentOf(now - old, old) };
}

function moreIsWorse(what: string, before: bigint, after: bigint): Difference | undefined {
  if (after <= before) return undefined;
  return { what, before: String(before), after: String(after), worsePct: percentOf(after - before, before) };
}

/** To a millionth. */
function percentOf(part: bigint, whole: bigint): number {
  return whole <= 0n ? Number.POSITIVE_INFINITY : Number((part * 100_000_000n + whole - 1n) / whole) / 1_000_000;
}
