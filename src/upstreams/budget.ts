/*
 * The arithmetic of a provider's budget: pure, without clock or store. Each window of a provider is an allowance in the provider's
 * own unit that is half full at most and refills evenly, so that no window ever contains more than its limit. A window of a week or
 * a month holds the units of one day at most: a busy hour cannot use it up, and neither can a process that restarts and forgets.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The windows that providers count in, ms. */
export const WINDOW_MS = {
  '10s': 10_000,
  minute: 60_000,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
} as const;
export type WindowName = keyof typeof WINDOW_MS;
export const WINDOW_NAMES = Object.keys(WINDOW_MS) as readonly WindowName[];

/** Most units in each window; absent = the provider does not count in it. */
export type Limits = Readonly<Partial<Record<WindowName, number>>>;

/**
 * Kinds of requests that share a provider: refreshes that nobody waits for, requests of readers, and among these the ones for names
 * that are not in the catalog, which anybody can invent.
 */
export type Traffic = 'background' | 'waiting' | 'unlisted';
/** Most of each window that a kind may use, as a fraction; absent = all of it. What the others may not use is reserved for it. */
export type Shares = Readonly<Partial<Record<Traffic, number>>>;
const WITHIN: Readonly<Record<Traffic, readonly Traffic[]>> = {
  background: ['background'],
  waiting: ['waiting'],
  unlisted: ['waiting', 'unlisted'],
};

export interface BudgetRules {
  readonly limits: Limits;
  readonly shares?: Shares | undefined;
  /** Whether the operator has set the limits: what the provider states can only lower them. */
  readonly isSet?: boolean | undefined;
}

/** What is remembered of a budget, as plain data. */
export interface BudgetState {
  /** When each allowance is full again without further requests, ms, by window and kind. */
  readonly fullAtMs: Readonly<Record<string, number>>;
  /** Units that were spent, by hour since 1970, of the last day. */
  readonly spentByHour: Readonly<Record<string, number>>;
  /** Time of the first request, ms. */
  readonly sinceMs: number | null;
  /** Nothing is sent before this time, ms, because the provider has said that nothing is left. */
  readonly heldUntilMs: number;
  /** Limits as the provider states them, which count instead of the known ones. */
  readonly stated: Limits;
  /** Limits that the latest answer has stated: the next one has to repeat them. */
  readonly heard: Limits;
  /** When each window is full again by what the latest answer says is left of it, ms. */
  readonly saidFullAtMs: Readonly<Record<string, number>>;
}

export const UNUSED: BudgetState = {
  fullAtMs: {},
  spentByHour: {},
  sinceMs: null,
  heldUntilMs: 0,
  stated: {},
  heard: {},
  saidFullAtMs: {},
};

/** A request to be sent. */
export interface Spending {
  /** Units that it is known to cost. */
  readonly cost: number;
  readonly traffic: Traffic;
}

/** What the headers of an answer say about a window. */
export interface Statement {
  /** Absent = the shortest one that the provider counts in. */
  readonly window?: WindowName | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** Time until the window begins anew, ms. */
  readonly resetMs?: number | undefined;
}

/** What an answer says about the budget. */
export interface Told {
  /** Units that the request has cost. */
  readonly spent?: number | undefined;
  readonly windows: readonly Statement[];
  /** The provider refuses further requests for this time, ms. */
  readonly refusedForMs?: number | undefined;
}

interface Allowance {
  readonly key: string;
  /** Units of a full one. */
  readonly most: number;
  readonly msPerUnit: number;
}

/** A later reset is not waited for in full: one request after this time shows whether it is true. */
const MAX_HOLD_MS = 300_000;
/** Clocks of a provider and of this machine may differ by this much. */
const CLOCK_DIFFERENCE_MS = 5_000;
/** A stated limit above this is taken for a mistake. */
const MAX_STATED = 1_000_000;
/** A request that is said to have cost more than this many times what is known, or less than this part of it, counts as so much. */
const MAX_COST_RATIO = 10;
/** Kept hours: the running one, and those before it. */
const HOURS = 24;

/** The windows with a limit, the shortest first, with the limits that count. */
function windowsOf({ limits, isSet }: BudgetRules, stated: Limits): readonly (readonly [WindowName, number])[] {
  return WINDOW_NAMES.flatMap((name) => {
    const known = limits[name];
    if (known === undefined) return [];
    const limit = stated[name] ?? known;
    return [[name, isSet ? Math.min(limit, known) : limit] as const];
  });
}

function allowanceOf(window: WindowName, limit: number, kind?: Traffic, share = 1): Allowance {
  const units = Math.max(1, limit * share);
  const ms = WINDOW_MS[window];
  const most = Math.max(1, Math.floor(units * Math.min(0.5, DAY_MS / ms)));
  return { key: kind === undefined ? window : `${window} ${kind}`, most, msPerUnit: ms / Math.max(1, units - most) };
}

/** Every allowance that a request of this kind uses: the whole of each window, and the share of the kind. */
function allowancesOf(rules: BudgetRules, stated: Limits, traffic: Traffic): readonly Allowance[] {
  return windowsOf(rules, stated).flatMap(([window, limit]) => [
    allowanceOf(window, limit),
    ...WITHIN[traffic].flatMap((kind) => {
      const share = rules.shares?.[kind];
      return share === undefined ? [] : [allowanceOf(window, limit, kind, share)];
    }),
  ]);
}

/** When an allowance is full again, ms. A time beyond that of two empty ones is of a clock that was set back, or of another limit. */
function fullAtMsOf(state: BudgetState, allowance: Allowance, nowMs: number): number {
  const { key, most, msPerUnit } = allowance;
  const said = Math.min(state.saidFullAtMs[key] ?? 0, nowMs + most * msPerUnit);
  return Math.max(ownFullAtMsOf(state, allowance, nowMs), said);
}

/** The same by our own requests alone. */
function ownFullAtMsOf({ fullAtMs }: BudgetState, { key, most, msPerUnit }: Allowance, nowMs: number): number {
  return Math.min(Math.max(fullAtMs[key] ?? 0, nowMs), nowMs + 2 * most * msPerUnit);
}

function charged(state: BudgetState, allowances: readonly Allowance[], units: number, nowMs: number): BudgetState {
  const fullAtMs = { ...state.fullAtMs };
  const saidFullAtMs = { ...state.saidFullAtMs };
  for (const allowance of allowances) {
    // One request may cost more than a full allowance holds: then it takes all of it.
    const added = Math.min(units, allowance.most) * allowance.msPerUnit;
    fullAtMs[allowance.key] = ownFullAtMsOf(state, allowance, nowMs) + added;
    const said = state.saidFullAtMs[allowance.key];
    if (said !== undefined) saidFullAtMs[allowance.key] = Math.max(said, nowMs) + added;
  }
  const hour = Math.floor(nowMs / HOUR_MS);
  const kept = Object.entries(state.spentByHour).filter(([at]) => Number(at) > hour - HOURS && Number(at) <= hour);
  const spentByHour = Object.fromEntries(kept);
  spentByHour[hour] = Math.max(0, (spentByHour[hour] ?? 0) + units);
  return { ...state, fullAtMs, saidFullAtMs, spentByHour, sinceMs: Math.min(state.sinceMs ?? nowMs, nowMs) };
}

/**
 * The state without times that cannot be: those of a clock that was set back, or of a process whose clock is ahead. They run down
 * from now on. `null` = there are none.
 */
export function settled(
  rules: BudgetRules,
  state: BudgetState,
  { traffic }: Spending,
  nowMs: number,
): BudgetState | null {
  const heldUntilMs = Math.min(state.heldUntilMs, nowMs + MAX_HOLD_MS);
  const [fullAtMs, saidFullAtMs] = [{ ...state.fullAtMs }, { ...state.saidFullAtMs }];
  let isSame = heldUntilMs === state.heldUntilMs;
  for (const { key, most, msPerUnit } of allowancesOf(rules, state.stated, traffic)) {
    for (const times of [fullAtMs, saidFullAtMs]) {
      if ((times[key] ?? 0) <= nowMs + most * msPerUnit) continue;
      times[key] = nowMs + most * msPerUnit;
      isSame = false;
    }
  }
  return isSame ? null : { ...state, heldUntilMs, fullAtMs, saidFullAtMs };
}

/** Charge a request that is sent now, or say how long it has to wait, ms. */
export function spend(
  rules: BudgetRules,
  state: BudgetState,
  { cost, traffic }: Spending,
  nowMs: number,
): { readonly state: BudgetState } | { readonly waitMs: number } {
  const allowances = allowancesOf(rules, state.stated, traffic);
  const waits = allowances.map((allowance) => {
    const { most, msPerUnit } = allowance;
    return fullAtMsOf(state, allowance, nowMs) - nowMs - (most - Math.min(cost, most)) * msPerUnit;
  });
  const waitMs = Math.max(Math.min(state.heldUntilMs - nowMs, MAX_HOLD_MS), ...waits);
  // Fractions of a microsecond are of the arithmetic.
  if (waitMs > 0.001) return { waitMs: Math.ceil(waitMs) };
  return { state: charged(state, allowances, cost, nowMs) };
}

/** Charge units that were spent without this state, such as while it could not be reached. */
export function spentElsewhere(
  rules: BudgetRules,
  state: BudgetState,
  { cost, traffic }: Spending,
  nowMs: number,
): BudgetState {
  return charged(state, allowancesOf(rules, state.stated, traffic), cost, nowMs);
}

/**
 * Take over what an answer says: what it has cost, the limits, and what is left of them. One answer may be wrong, so it does not
 * decide alone: a cost is bounded by what is known, a limit counts when the next answer repeats it, and what is left counts until
 * the next answer says something else. A request for which nothing is left is permitted as soon as its units have refilled.
 */
export function learn(
  rules: BudgetRules,
  state: BudgetState,
  { cost, traffic }: Spending,
  told: Told,
  nowMs: number,
): BudgetState {
  const [shortest] = windowsOf(rules, state.stated);
  let next = state;
  if (told.spent !== undefined && told.spent !== cost) {
    const spent = Math.min(Math.max(told.spent, cost / MAX_COST_RATIO), Math.max(1, cost) * MAX_COST_RATIO);
    next = charged(next, allowancesOf(rules, state.stated, traffic), spent - cost, nowMs);
  }
  for (const { window = shortest?.[0], limit, remaining, resetMs = 0 } of told.windows) {
    if (window === undefined) continue;
    // A limit without its window is that of a longer one, if that begins anew later.
    const isOfWindow = resetMs <= WINDOW_MS[window] + CLOCK_DIFFERENCE_MS;
    const isLimit = limit !== undefined && limit >= 1 && limit <= MAX_STATED;
    if (isLimit && isOfWindow && rules.limits[window] !== undefined) {
      const isRepeated = state.heard[window] === limit;
      next = { ...next, heard: { ...next.heard, [window]: limit } };
      if (isRepeated) next = { ...next, stated: { ...next.stated, [window]: limit } };
    }
    if (remaining === undefined) continue;
    if (remaining < 1) next = held(next, resetMs, nowMs);
    const whole = windowsOf(rules, next.stated).find(([name]) => name === window);
    if (!whole) continue;
    const { key, most, msPerUnit } = allowanceOf(...whole);
    // Others use it as well, such as another service at the same address.
    const fullAtMs = nowMs + Math.max(0, most - Math.max(remaining, 1)) * msPerUnit;
    next = { ...next, saidFullAtMs: { ...next.saidFullAtMs, [key]: fullAtMs } };
  }
  return told.refusedForMs === undefined ? next : held(next, told.refusedForMs, nowMs);
}

function held(state: BudgetState, forMs: number, nowMs: number): BudgetState {
  return { ...state, heldUntilMs: Math.max(state.heldUntilMs, nowMs + Math.min(MAX_HOLD_MS, forMs)) };
}

/** A window of a budget, and where its use leads. */
export interface WindowForecast {
  readonly window: WindowName;
  /** Units in the window, as the provider states them, or else as its plan is known. */
  readonly limit: number;
  readonly isStated: boolean;
  /** Units in a whole window at the mean rate of the last day, for windows of a week or more. */
  readonly forecast?: number | undefined;
}

/** Units that were spent in the last day. */
export function spentInDay({ spentByHour }: BudgetState, nowMs: number): number {
  const hour = Math.floor(nowMs / HOUR_MS);
  return Object.entries(spentByHour).reduce(
    (sum, [at, units]) => (Number(at) > hour - HOURS && Number(at) <= hour ? sum + units : sum),
    0,
  );
}

/** Where the use of the last day leads. In the first hour it counts as that of a whole hour. */
export function forecasts(rules: BudgetRules, state: BudgetState, nowMs: number): readonly WindowForecast[] {
  const countedFromMs = (Math.floor(nowMs / HOUR_MS) - HOURS + 1) * HOUR_MS;
  const spanMs = Math.max(HOUR_MS, nowMs - Math.max(state.sinceMs ?? nowMs, countedFromMs));
  const spent = spentInDay(state, nowMs);
  return windowsOf(rules, state.stated).map(([window, limit]) => ({
    window,
    limit,
    isStated: state.stated[window] !== undefined,
    // The budget itself never permits more than the limit.
    forecast: WINDOW_MS[window] < DAY_MS ? undefined : Math.min(limit, Math.ceil((spent * WINDOW_MS[window]) / spanMs)),
  }));
}

/** Least interval of a refresh that costs `cost` units, so that every allowance that it uses lasts, seconds. */
export function affordableSec(rules: BudgetRules, { cost, traffic }: Spending): number {
  const intervals = allowancesOf(rules, {}, traffic).map(({ msPerUnit }) => msPerUnit * cost);
  return Math.ceil(Math.max(0, ...intervals) / 1_000);
}
