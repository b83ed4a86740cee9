import type { Catalog, Chain } from '../catalog/types.ts';
import type { ReplicaStatus } from '../database/replica.ts';
import { agreementOf } from '../domain/deployment/disagreements.ts';
import { type ChainFacts, FACT_GROUPS } from '../domain/facts.ts';
import { groupHealth } from '../domain/freshness/health.ts';
import type { IndexerRecord } from '../domain/history/indexer-state.ts';
import type { Strategy } from '../domain/strategy/types.ts';
import { compress } from '../http/compression.ts';
import { compressedBodies, type EncodedBodies, plainBody } from '../http/encoded-body.ts';
import { encodedResponse } from '../http/pages/static-files.ts';
import type { KeyChecks } from '../keys/verify-key.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { Services } from '../resolvers/common/services.ts';
import { errorResponse } from '../rest/envelope.ts';
import { ignoredParameters } from '../rest/input.ts';
import { MethodNotAllowedError } from '../rest/router.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import { letOthersRun } from '../shared/turns.ts';
import type { SnapshotPlace } from '../snapshot/types.ts';
import type { Quota, Upstreams } from '../upstreams/index.ts';
import type { WarmerRunner } from '../warmers/runner/runner.ts';
import type { FeatureHealth } from './feature.ts';
import { formatIndexer } from './indexer-health.ts';
import { formatNodes, type NodesOf } from './nodes.ts';
import { degradedParts, formatProvider, formatQuota, knownProviders } from './providers.ts';
import type { DatabasesStatus } from './stores.ts';

export interface StatusDeps {
  readonly catalog: Catalog;
  readonly services: Pick<Services, 'facts' | 'composed' | 'budgets' | 'health'>;
  readonly nodes: NodesOf;
  /** State of each provider in this process, and the use of its budget by all of them. */
  readonly upstreams: Pick<Upstreams, 'states' | 'quotas'>;
  readonly clock: Clock;
  readonly role: 'all' | 'api' | 'warmer';
  /** The jobs of the warmers, in a process with role warmer. */
  readonly jobs: WarmerRunner['jobs'];
  readonly keyChecks: () => KeyChecks;
  /** How far the logs of positions are read; `null` = not known. */
  readonly indexers: () => Promise<readonly IndexerRecord[] | null>;
  /** What features show of themselves. */
  readonly features: (nowMs: number) => Promise<readonly FeatureHealth[]>;
  readonly databaseStatus: () => DatabasesStatus;
  /** Where the facts are stored outside of this process. */
  readonly place: () => SnapshotPlace;
  /** `undefined` without Redis. */
  readonly redisConnections: RedisConnections | undefined;
  /** Whether the process is stopping: it is then not ready. */
  readonly stopping: () => boolean;
}

export interface StatusPages {
  readonly paths: readonly string[];
  /** `undefined` = not a status page. */
  answer(request: RestRequest): Promise<RestResponse> | RestResponse | undefined;
}

/**
 * Create the status pages: liveness with cache diagnostics, and readiness. They contain no upstream messages, URLs or secrets.
 */
export function createStatusPages(deps: StatusDeps): StatusPages {
  const { catalog, services, nodes, clock, role, jobs, keyChecks, databaseStatus, place, redisConnections, stopping } =
    deps;
  const readyPage = async (request: RestRequest): Promise<RestResponse> => {
    const chains = readiness(await deps.indexers());
    const ready = !stopping() && chains.every((chain) => chain.ready);
    const body = JSON.stringify({ ready, stopping: stopping() || undefined, chains });
    return { status: ready ? 200 : 503, headers: headersFor(request), body };
  };
  let latest: { readonly text: string; readonly body: Promise<EncodedBodies> } | undefined;
  let reading: Promise<string> | undefined;
  /** Requests that arrive together share one reading, because there is no limit of them. */
  const readHealth = async (): Promise<string> => {
    try {
      const [indexers, features, quotas] = await Promise.all([
        deps.indexers(),
        deps.features(clock.now()),
        deps.upstreams.quotas(),
        letOthersRun(),
      ]);
      return JSON.stringify(healthBody(indexers, features, quotas));
    } finally {
      reading = undefined;
    }
  };
  const health = async (request: RestRequest): Promise<RestResponse> => {
    reading ??= readHealth();
    const text = await reading;
    if (latest?.text !== text) latest = { text, body: compressedBodies(plainBody(text), compress, 'quick') };
    return encodedResponse(await latest.body, request.headers, { ...headersFor(request), 'cache-control': 'no-cache' });
  };
  const readiness = (indexers: readonly IndexerRecord[] | null) => {
    const nowMs = clock.now();
    return catalog.chainIds.map((chainId) => {
      const { ready, waitingFor, missing } = services.health.readiness(chainId, nowMs);
      return {
        chainId,
        ready,
        waitingFor,
        missing: missing.length === 0 ? undefined : missing,
        // For information: every other answer is whole without histories.
        positionHistory: formatIndexer(indexers, chainId, nowMs)?.status,
      };
    });
  };
  const healthBody = (
    indexers: readonly IndexerRecord[] | null,
    features: readonly FeatureHealth[],
    quotas: readonly Quota[],
  ) => {
    const nowMs = clock.now();
    const providers = knownProviders(deps.upstreams.states(), catalog.chainIds.map(services.facts));
    const [stored, checks, database] = [place(), keyChecks(), databaseStatus()];
    const degraded = degradedParts({
      providers,
      nodes,
      stored,
      checks,
      database,
      redisConnections,
      indexers,
      features,
      nowMs,
    });
    return {
      status: degraded.length === 0 ? 'ok' : 'degraded',
      degraded: degraded.length === 0 ? undefined : degraded,
      // Rounded to a second, so that answers within a second are equal.
      now: new Date(Math.floor(nowMs / 1_000) * 1_000).toISOString(),
      role,
      snapshot: formatPlace(stored),
      database: formatDatabase(database),
      redis: redisConnections === undefined ? undefined : formatRedis(redisConnections),
      keys: formatChecks(checks),
      ...Object.assign({}, ...features.map(({ fields }) => fields)),
      providers: providers.map(formatProvider),
      quotas: quotas.map(formatQuota),
      jobs: role === 'api' ? undefined : jobs(),
      chains: catalog.chains.map((chain) => chainHealth(deps, chain, indexers, nowMs)),
    };
  };
  return {
    paths: PATHS,
    answer(request) {
      if (!PATHS.includes(request.path)) return undefined;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        const refusal = new MethodNotAllowedError(request.method, request.path, ['GET', 'HEAD']);
        const { code, message, status } = refusal;
        return errorResponse({ code, message, status, allow: ['GET', 'HEAD'] }, request.correlationId);
      }
      if (request.path === HEALTH) return health(request);
      return readyPage(request);
    },
  };
}

/** The pages take no parameters. */
function headersFor({ query }: RestRequest): Readonly<Record<string, string>> {
  const ignored = ignoredParameters(query, []);
  return ignored === undefined ? JSON_HEADERS : { ...JSON_HEADERS, 'ignored-parameters': ignored };
}

/** Format the facts and nodes of one chain. */
function chainHealth(
  { services, nodes }: StatusDeps,
  chain: Chain,
  indexers: readonly IndexerRecord[] | null,
  nowMs: number,
) {
  const facts = services.facts(chain.chainId);
  const composed = services.composed(chain.chainId);
  const { ready, missing } = services.health.readiness(chain.chainId, nowMs);
  return {
    chainId: chain.chainId,
    version: facts.version,
    ready,
    missing: missing.length === 0 ? undefined : missing,
    markets: composed.markets.length,
    strategies: composed.strategies.length,
    listed: composed.strategies.filter((strategy) => strategy.visibility.visible).length,
    unlisted: composed.strategies.flatMap(unlistedBy),
    unconfirmed: unconfirmedIn(facts),
    groups: groupHealth(chain, facts, services.budgets, nowMs).map((row) => ({
      group: row.group,
      source: row.source,
      status: row.status,
      ageSec: row.ageSec,
      budgetSec: row.budgetSec,
      lastSuccess: row.lastSuccessMs === null ? null : new Date(row.lastSuccessMs).toISOString(),
      items: row.items,
      itemsAtLastGood: row.itemsAtLastGood,
      neverMeasured: row.neverMeasured,
    })),
    nodes: formatNodes(nodes.get(chain.chainId)),
    positionHistory: formatIndexer(indexers, chain.chainId, nowMs),
    disagreements: agreementOf(chain, facts).disagreements.map(({ asOfMs, ...disagreement }) => ({
      ...disagreement,
      asOf: new Date(asOfMs).toISOString(),
    })),
    excluded: composed.excluded,
  };
}

/** A strategy that the list leaves out, with the rules that it fails; none for a listed one. */
function unlistedBy({ id, collateral, visibility }: Strategy) {
  if (visibility.visible) return [];
  const failed = visibility.checks.filter(({ passed }) => !passed);
  return [
    { strategyId: id, symbol: collateral.symbol, rules: failed.map(({ name, value }) => ({ rule: name, value })) },
  ];
}

/** Values that a source reports and that are not published before they are confirmed. */
function unconfirmedIn({ groups }: ChainFacts) {
  return FACT_GROUPS.flatMap((group) =>
    [...groups[group].failures].flatMap(([key, { source, suspect }]) =>
      suspect ? [{ group, key, source, value: suspect.value.toFixed(), observations: suspect.readings }] : [],
    ),
  );
}

const HEALTH = '/health';
const PATHS = [HEALTH, '/ready'];
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

function formatPlace({ clockSkewMs, ...place }: SnapshotPlace) {
  return { ...place, clockSkewSec: clockSkewMs === undefined ? undefined : clockSkewMs / 1_000 };
}

/** Reasons from a list, without messages of the server, because the page is public. */
function formatRedis({ mode, failing }: RedisConnections) {
  const connections = failing().map(({ connection, reason, sinceMs }) => ({
    connection,
    reason,
    since: new Date(sinceMs).toISOString(),
  }));
  return { mode, ok: connections.length === 0, failing: connections };
}

function formatChecks({ ok, sinceMs }: KeyChecks) {
  return { checked: ok, since: sinceMs === null ? undefined : new Date(sinceMs).toISOString() };
}

function formatDatabase({ replica, ...primary }: DatabasesStatus) {
  return { ...formatProblem(primary), replica: replica && formatProblem(replica) };
}

function formatProblem({ problem, sinceMs }: ReplicaStatus) {
  const since = sinceMs === null ? undefined : new Date(sinceMs).toISOString();
  return { ok: problem === null, problem: problem ?? undefined, since };
}
