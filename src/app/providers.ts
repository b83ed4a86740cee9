import type { DatabaseStatus } from '../database/connection/watch.ts';
import type { ChainFacts, FailureReason } from '../domain/facts.ts';
import { type IndexerRecord, indexerStatus } from '../domain/history/indexer-state.ts';
import { meaningOf } from '../domain/outside-answer.ts';
import type { KeyChecks } from '../keys/verify-key.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { SnapshotPlace } from '../snapshot/types.ts';
import type { ProviderState, Quota } from '../upstreams/index.ts';
import type { FeatureHealth } from './feature.ts';
import type { NodesOf } from './nodes.ts';

/** Reasons of a provider as a whole, as opposed to one of its values. */
const OF_PROVIDER: readonly FailureReason[] = [
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'price_moved',
  'rejected',
  'server_error',
];

/**
 * Derive the state of providers that this process has not called from the facts: in an installation with roles the
 * warmers call most providers, and the facts are shared.
 */
export function knownProviders(
  states: readonly ProviderState[],
  facts: readonly ChainFacts[],
): readonly ProviderState[] {
  const fromFacts = inFacts(facts);
  return states.map((state) => {
    const known = fromFacts.get(state.provider);
    return state.status === 'unknown' && !state.isWaitedFor && known ? { ...state, ...known } : state;
  });
}

type KnownState = Pick<ProviderState, 'status' | 'lastAnswerMs' | 'failingSinceMs' | 'reason'>;

function inFacts(facts: readonly ChainFacts[]): ReadonlyMap<string, KnownState> {
  const known = new Map<string, KnownState>();
  const groups = facts.flatMap((chain) => Object.values(chain.groups));
  for (const { items } of groups) {
    for (const { source, asOfMs } of items.values()) {
      const lastAnswerMs = Math.max(asOfMs, known.get(source)?.lastAnswerMs ?? asOfMs);
      known.set(source, { status: 'ok', lastAnswerMs });
    }
  }
  for (const { failures } of groups) {
    for (const { source, reason, sinceMs } of failures.values()) {
      if (!OF_PROVIDER.includes(reason)) continue;
      const before = known.get(source);
      const failingSinceMs = Math.min(sinceMs, before?.failingSinceMs ?? sinceMs);
      known.set(source, { ...before, status: 'failing', failingSinceMs, reason });
    }
  }
  return known;
}

/** Names of the parts that fail, so that the service answers from last good values or not at all; empty = none. */
export function degradedParts({
  providers,
  nodes,
  stored,
  checks,
  database,
  redisConnections,
  indexers,
  features,
  nowMs,
}: {
  readonly providers: readonly ProviderState[];
  readonly nodes: NodesOf;
  readonly stored: SnapshotPlace;
  readonly checks: KeyChecks;
  readonly database: DatabaseStatus;
  readonly redisConnections: RedisConnections | undefined;
  readonly indexers: readonly IndexerRecord[] | null;
  readonly features: readonly FeatureHealth[];
  readonly nowMs: number;
}): readonly string[] {
  const failing = providers.filter(({ status }) => status === 'failing');
  const silent = [...nodes].flatMap(([chainId, all]) =>
    all.status().every(({ status }) => status === 'failing' || status === 'other_chain') ? [`chain ${chainId}`] : [],
  );
  return [
    ...silent.map((chain) => `no node of ${chain} answers`),
    ...failing.map((provider) => `provider ${nameOf(provider)} ${whyFailing(provider)}`),
    ...(stored.ok ? [] : [`the facts are not stored in ${stored.kind}`]),
    ...(stored.unreadable ?? []).map(
      ({ chainId, group, reason }) =>
        `the ${group} facts of chain ${chainId} in ${stored.kind} cannot be read: ${reason}`,
    ),
    ...(redisConnections?.failing() ?? []).map(({ connection, reason }) => `redis (${connection}) fails: ${reason}`),
    ...(database.problem === null ? [] : [`the database fails: ${database.problem}`]),
    ...(indexers ?? []).flatMap((record) => historyProblem(record, nowMs)),
    ...features.flatMap(({ problems }) => problems),
    ...(checks.ok ? [] : ['keys are not checked in the database']),
  ];
}

function historyProblem(record: IndexerRecord, nowMs: number): string[] {
  const name = `the position history of chain ${record.chainId}`;
  const status = indexerStatus(record, nowMs);
  if (status === 'failing') return [`${name} fails: ${record.run?.failure}`];
  if (status === 'unknown') return [`${name} has a latest run in the future: a clock is wrong`];
  if (status === 'stopped') return [`${name} is not read`];
  return status === 'behind' ? [`${name} is behind`] : [];
}

function whyFailing({ failures = [], reason }: ProviderState): string {
  const isOurs = failures.some((failure) => meaningOf(failure.reason) === 'our_mistake') || reason === 'rejected';
  return isOurs ? 'refuses our requests' : 'fails';
}

function nameOf({ provider, part }: ProviderState): string {
  return part === undefined ? provider : `${provider} (${part})`;
}

/** Format the state of a provider for the health page. */
export function formatProvider(state: ProviderState) {
  const at = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const { provider, part, status, reason, lastAnswerMs, failingSinceMs, failures, throttledUntilMs } = state;
  return {
    provider,
    part,
    status,
    lastAnswer: at(lastAnswerMs) ?? null,
    failingSince: at(failingSinceMs),
    reason,
    meaning: reason && meaningOf(reason),
    failures: failures?.map(({ sinceMs, httpStatus, code, ...failure }) => ({
      ...failure,
      httpStatus: httpStatus?.toString(),
      code: code?.toString(),
      meaning: meaningOf(failure.reason),
      since: at(sinceMs),
    })),
    throttledUntil: at(throttledUntilMs),
  };
}

/** Format the quota of a provider for the health page. */
export function formatQuota({ publicName, unit, spentInDay, windows, heldUntilMs }: Quota) {
  return {
    provider: publicName,
    unit,
    spentInDay,
    heldUntil: heldUntilMs === undefined ? undefined : new Date(heldUntilMs).toISOString(),
    windows,
  };
}
