import type { Clock } from '../shared/clock.ts';
import {
  type BudgetRules,
  type BudgetState,
  forecasts,
  learn,
  type Spending,
  settled,
  spend,
  spentElsewhere,
  spentInDay,
  type Told,
  type Traffic,
  UNUSED,
  type WindowForecast,
} from './budget.ts';
import { type Sleep, systemSleep } from './sleep.ts';

/** Texts by name that several processes may share. */
export interface SharedTexts {
  /**
   * Replace a text by a function of it, which may be called several times; `null` = there is none.
   * Never rejects: without its server the texts are those of this process, and `isShared` is false.
   * @returns whether the text that all processes share is replaced, or stays by the decision of `change`
   */
  update(name: string, change: (text: string | null, isShared: boolean) => string | null): Promise<boolean>;
  read(name: string): Promise<string | null>;
  /** How far the clock that all processes share is ahead of the one of this process, ms, as last measured. */
  aheadMs(): number;
}

/** Texts of this process alone. */
function createOwnTexts(): SharedTexts {
  const texts = new Map<string, string>();
  return {
    async update(name, change) {
      const next = change(texts.get(name) ?? null, true);
      if (next !== null) texts.set(name, next);
      return true;
    },
    read: async (name) => texts.get(name) ?? null,
    aheadMs: () => 0,
  };
}

/** The use of a provider, and where it leads. */
export interface BudgetUse {
  readonly spentInDay: number;
  readonly windows: readonly WindowForecast[];
  /** Nothing is sent before this time, ms; absent = requests may be sent. */
  readonly heldUntilMs?: number | undefined;
}

/** The budget of one provider. */
export interface Budget {
  /**
   * Wait for permission to send one request; `{ refusedForMs }` when the wait would exceed the bound of its kind.
   * @throws the signal's reason when it is aborted: nothing was spent
   */
  take(spending: Spending, signal?: AbortSignal): Promise<{ readonly refusedForMs: number } | null>;
  /** Take over what the answer to a request says. */
  told(spending: Spending, told: Told): Promise<void>;
  /** Of all processes that share it. */
  use(): Promise<BudgetUse>;
  /** As this process has last seen it. */
  seen(): BudgetUse;
}

/** A quote's caller waits 5 s in total: after a longer wait in the queue the quote would be too late. */
const MAX_WAIT_MS: Readonly<Record<Traffic, number>> = { background: 15_000, waiting: 2_000, unlisted: 0 };

export interface BudgetDeps {
  /** Name under which processes share it. */
  readonly name: string;
  readonly rules: BudgetRules;
  readonly clock: Clock;
  readonly sleep?: Sleep | undefined;
  /** Absent: of this process alone. */
  readonly texts?: SharedTexts | undefined;
  /** Longest wait of a refresh, ms. */
  readonly backgroundWaitMs?: number | undefined;
}

/** Create the budget of one provider. */
export function createBudget(deps: BudgetDeps): Budget {
  const { name, rules, clock, sleep = systemSleep, texts = createOwnTexts() } = deps;
  const maxWaitMs = { ...MAX_WAIT_MS, background: deps.backgroundWaitMs ?? MAX_WAIT_MS.background };
  let latest = UNUSED;
  /** Units that were spent while the texts could not be shared, by kind. */
  let unshared: Readonly<Partial<Record<Traffic, number>>> = {};
  const now = () => clock.now() + texts.aheadMs();
  const useOf = (state: BudgetState): BudgetUse => {
    const nowMs = now();
    return {
      spentInDay: spentInDay(state, nowMs),
      windows: forecasts(rules, state, nowMs),
      heldUntilMs: state.heldUntilMs > nowMs ? state.heldUntilMs : undefined,
    };
  };
  /** Change the state, with what was spent while it could not be reached. */
  const update = async (traffic: Traffic, change: (state: BudgetState) => BudgetState | null) => {
    const isShared = await texts.update(name, (text, isShared) => {
      const stored = readState(text);
      const owed = isShared && stored !== null ? (Object.entries(unshared) as [Traffic, number][]) : [];
      const state = owed.reduce(
        (sum, [kind, cost]) => spentElsewhere(rules, sum, { cost, traffic: kind }, now()),
        stored ?? latest,
      );
      const changed = change(state);
      if (!isShared && changed !== null) {
        const units = spentInDay(changed, now()) - spentInDay(state, now());
        unshared = { ...unshared, [traffic]: Math.max(0, (unshared[traffic] ?? 0) + units) };
      }
      const next = changed ?? (owed.length > 0 ? state : null);
      if (next === null) return null;
      latest = next;
      return JSON.stringify(next);
    });
    if (isShared) unshared = {};
  };
  return {
    async take(spending, signal) {
      signal?.throwIfAborted();
      for (let waitedMs = 0; ; ) {
        let waitMs = 0;
        await update(spending.traffic, (state) => {
          const spent = spend(rules, state, spending, now());
          waitMs = 'waitMs' in spent ? spent.waitMs : 0;
          return 'waitMs' in spent ? settled(rules, state, spending, now()) : spent.state;
        });
        if (waitMs === 0) return null;
        waitedMs += waitMs;
        if (waitedMs > maxWaitMs[spending.traffic]) return { refusedForMs: waitMs };
        await sleep(waitMs, signal);
      }
    },
    told: (spending, told) => update(spending.traffic, (state) => learn(rules, state, spending, told, now())),
    use: async () => useOf(readState(await texts.read(name)) ?? latest),
    seen: () => useOf(latest),
  };
}

/** Read a stored state; `null` = there is none, or another version wrote it. */
function readState(text: string | null): BudgetState | null {
  if (text === null) return null;
  try {
    const stored = { ...UNUSED, ...(JSON.parse(text) as Partial<BudgetState>) };
    const numbers = [stored.fullAtMs, stored.spentByHour, stored.stated, stored.heard, stored.saidFullAtMs].flatMap(
      (record) => Object.values(record),
    );
    const isUsable = [...numbers, stored.heldUntilMs].every((value) => Number.isFinite(value));
    return isUsable ? stored : null;
  } catch {
    return null;
  }
}
