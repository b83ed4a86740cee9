import { randomUUID } from 'node:crypto';
import type { Catalog } from '../../../catalog/types.ts';
import { contractTerms } from '../../../domain/deployment/terms.ts';
import type { ChainFacts, FreshnessBudgets } from '../../../domain/facts.ts';
import type { ComposedChain } from '../../../domain/market/types.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Address, ChainId } from '../../../shared/ids.ts';
import { inTurns } from '../../../shared/turns.ts';
import { type AlertRepository, NO_ALERTS, type StoredTransition } from '../database/alerts.ts';
import { makeAlertEvent } from '../domain/event.ts';
import {
  type AlertChange,
  type AlertIndex,
  createAlertIndex,
  evaluateSubject,
  loopsBefore,
} from '../domain/index-by-subject.ts';
import { type AlertWorld, createAlertWorld, type LiquidationHistory, observeSubject } from '../domain/observe.ts';
import type { AlertRecord } from '../domain/records.ts';
import type { AlertCondition, TransitionEvent } from '../domain/types.ts';
import { receiverOf } from '../webhooks/target.ts';
import type { WatchedWallets } from './watched-wallets.ts';

export interface AlertEvaluationDeps {
  readonly catalog: Catalog;
  readonly alerts: Pick<AlertRepository, 'changedAfter' | 'apply'>;
  /** Owners with a valid key: the alerts of others are paused. */
  readonly activeOwners: () => Promise<readonly string[]>;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly facts: (chainId: ChainId) => ChainFacts;
  readonly wallets: WatchedWallets;
  /** Read liquidations after a block. */
  readonly liquidations: (chainId: ChainId, afterBlock: bigint) => Promise<LiquidationHistory | null>;
  readonly budgets: FreshnessBudgets;
  readonly clock: Clock;
  /** Called after events were stored. */
  readonly onEvents: () => void;
  readonly onEvaluated?: ((evaluation: AlertEvaluated) => void) | undefined;
}

export interface AlertEvaluated {
  readonly chainId: ChainId;
  readonly alerts: number;
  readonly events: readonly StoredAlertEvent[];
  /** Milliseconds of work, without the readings of wallets. */
  readonly workMs: number;
}

export interface StoredAlertEvent {
  readonly condition: AlertCondition;
  readonly type: TransitionEvent['type'];
}

export interface AlertEvaluation {
  /** Evaluate chains with news; returns the number of evaluated alerts and of chains that failed, and the error of the last of them. */
  run(signal: AbortSignal): Promise<{ readonly items: number; readonly failures: number; readonly failure?: unknown }>;
}

/** Values become stale without a new version, so each chain is evaluated this often at least. */
const EVERY_MS = 60_000;
const ROWS_PER_READ = 5_000;
const CHANGES_PER_WRITE = 1_000;
/** Deleted rows are kept for a day, so an index that was not brought up to date for longer is made anew. */
const MAX_INDEX_AGE_MS = 12 * 3_600_000;

/**
 * Create the evaluation of alerts. Each version of a chain's facts is evaluated once for all alerts; a subject is observed once,
 * however many conditions it has. The alerts are in memory and follow the changes of their table.
 */
export function createAlertEvaluation(deps: AlertEvaluationDeps): AlertEvaluation {
  const { catalog, clock, wallets } = deps;
  let index = createAlertIndex<AlertRecord>();
  let place: Parameters<AlertRepository['changedAfter']>[0] = NO_ALERTS;
  let syncedMs = clock.now();
  const evaluated = new Map<ChainId, { readonly version: number; readonly atMs: number }>();
  /** Chains with alerts that were never evaluated. */
  const withNew = new Set<ChainId>();

  const sync = async (): Promise<void> => {
    const nowMs = clock.now();
    if (Math.abs(nowMs - syncedMs) > MAX_INDEX_AGE_MS) {
      index = createAlertIndex();
      place = NO_ALERTS;
    }
    for (;;) {
      const rows = await deps.alerts.changedAfter(place, ROWS_PER_READ);
      for (const { id, alert, revision } of rows) {
        if (alert === null) index.remove(id);
        else {
          index.put(alert);
          if (alert.state.observedMs === null) withNew.add(alert.rule.subject.chainId);
        }
        place = { revision, id };
      }
      if (rows.length < ROWS_PER_READ) break;
    }
    syncedMs = nowMs;
  };

  const evaluateChain = async (chainId: ChainId, owners: ReadonlySet<string>, signal: AbortSignal): Promise<number> => {
    const composed = deps.composed(chainId);
    const last = evaluated.get(chainId);
    const nowMs = clock.now();
    const isDue = last === undefined || Math.abs(nowMs - last.atMs) >= EVERY_MS;
    if (!isDue && last.version === composed.version && !withNew.has(chainId)) return 0;
    const facts = deps.facts(chainId);
    // Before the first measurement there is nothing to judge.
    if (facts.version === 0) return 0;
    await wallets.read(chainId, walletsOf(index, chainId, owners), facts, signal);
    // After the wallets, so that events up to their block are among them.
    const after = firstUnreported(index, chainId);
    const history = after === null ? null : await deps.liquidations(chainId, after);
    const world = worldOf(deps, composed, facts, history);
    const { changes, alerts, workMs } = await evaluateAll(index, owners, world);
    signal.throwIfAborted();
    const events = await store(deps, changes, nowMs);
    evaluated.set(chainId, { version: composed.version, atMs: nowMs });
    withNew.delete(chainId);
    deps.onEvaluated?.({ chainId, alerts, events, workMs });
    return alerts;
  };

  return {
    async run(signal) {
      await sync();
      const owners = new Set(await deps.activeOwners());
      let items = 0;
      let failures = 0;
      let failure: unknown;
      for (const chainId of catalog.chainIds) {
        try {
          items += await evaluateChain(chainId, owners, signal);
        } catch (error) {
          failure = error;
          failures += 1;
        }
      }
      if (failures === catalog.chainIds.length) throw failure;
      return { items, failures, failure };
    },
  };
}

function worldOf(
  deps: AlertEvaluationDeps,
  composed: ComposedChain,
  facts: ChainFacts,
  history: LiquidationHistory | null,
): AlertWorld {
  const { budgets, catalog, clock, wallets } = deps;
  const nowMs = clock.now();
  const { equityVaults = [] } = catalog.chain(composed.chainId) ?? {};
  return createAlertWorld({
    composed,
    vaults: equityVaults.map(({ id, stockMarket }) => ({ strategyId: id, marketId: stockMarket.id })),
    contract: contractTerms(facts, budgets.deployment),
    wallets: wallets.of(composed.chainId),
    walletStaleAfterSec: budgets.lendingState,
    history,
    nowMs,
  });
}

/** Find the block after which liquidations are of interest; `null` = no alert has begun to follow them. */
function firstUnreported(index: AlertIndex<AlertRecord>, chainId: ChainId): bigint | null {
  let first: bigint | null = null;
  for (const { alerts } of index.subjects(chainId)) {
    for (const { state } of alerts.values()) {
      const since = state.reported?.sinceBlock;
      if (since !== undefined && (first === null || since < first)) first = since;
    }
  }
  return first;
}

function* walletsOf(
  index: AlertIndex<AlertRecord>,
  chainId: ChainId,
  owners: ReadonlySet<string>,
): Generator<Address, void, void> {
  for (const { subject, alerts } of index.subjects(chainId)) {
    if (subject.kind === 'strategy') continue;
    if ([...alerts.values()].some(({ ownerId }) => owners.has(ownerId))) yield subject.wallet;
  }
}

async function evaluateAll(index: AlertIndex<AlertRecord>, owners: ReadonlySet<string>, world: AlertWorld) {
  const changes: AlertChange<AlertRecord>[] = [];
  let alerts = 0;
  let workMs = 0;
  for await (const entry of inTurns(index.subjects(world.composed.chainId))) {
    const startedMs = performance.now();
    alerts += entry.alerts.size;
    const seen = observeSubject(entry.subject, world, loopsBefore(entry));
    const changed = seen === undefined ? [] : evaluateSubject(entry, seen, world.nowMs);
    changes.push(...changed.filter(({ alert }) => owners.has(alert.ownerId)));
    workMs += performance.now() - startedMs;
  }
  return { changes, alerts, workMs };
}

/** Store changes with their events; returns the stored events. The changed rows come back with the next reading of the table. */
async function store(
  { alerts, onEvents }: Pick<AlertEvaluationDeps, 'alerts' | 'onEvents'>,
  changes: readonly AlertChange<AlertRecord>[],
  nowMs: number,
): Promise<readonly StoredAlertEvent[]> {
  const events: StoredAlertEvent[] = [];
  for (let begin = 0; begin < changes.length; begin += CHANGES_PER_WRITE) {
    const page = changes.slice(begin, begin + CHANGES_PER_WRITE);
    const transitions = page.map(
      ({ alert, state, events: caused }): StoredTransition => ({
        alert,
        state,
        events: caused.map(({ type, value, liquidation }) =>
          makeAlertEvent({
            id: randomUUID(),
            type,
            alert,
            liquidation,
            occurredMs: nowMs,
            state: { ...state, value },
            receiver: receiverOf(new URL(alert.url)),
          }),
        ),
      }),
    );
    const stored = await alerts.apply(transitions);
    for (const { alert, events: caused } of page) {
      if (!stored.has(alert.id)) continue;
      events.push(...caused.map(({ type }) => ({ condition: alert.rule.condition, type })));
    }
  }
  if (events.length > 0) onEvents();
  return events;
}
