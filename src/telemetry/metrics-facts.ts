import { Gauge, type Registry } from 'prom-client';
import type { Catalog } from '../catalog/types.ts';
import { agreementOf, DISAGREEMENT_EFFECTS } from '../domain/deployment/disagreements.ts';
import { deploymentStates } from '../domain/deployment/states.ts';
import { type ChainFacts, type FreshnessBudgets, TVL_KEY } from '../domain/facts.ts';
import { groupHealth } from '../domain/freshness/health.ts';
import { WARNING_CODES, type WarningCode } from '../domain/plausibility/types.ts';
import type { ChainTvl } from '../domain/tvl/types.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';

/** State of one chain node for gauges. */
export interface NodeGauges {
  /** Its position in RPC_URL_*, from 1. */
  readonly place: number;
  readonly status: string;
  readonly head?: { readonly timestamp: bigint } | undefined;
  readonly capabilities?: { readonly simulateV1: string; readonly stateOverrides: string } | undefined;
}

export interface FactsMetricsDeps {
  readonly catalog: Catalog;
  readonly budgets: FreshnessBudgets;
  readonly facts: (chainId: ChainId) => ChainFacts;
  readonly ready: (chainId: ChainId) => boolean;
  /** The codes of the warnings of each market of a chain. */
  readonly warnings: (chainId: ChainId) => readonly (readonly WarningCode[])[];
  /** Whether the latest version is stored outside this process too (file or Redis). */
  readonly persisted: () => boolean;
  /** Lead of our clock over the shared one, ms; `undefined` = there is no shared clock. */
  readonly clockSkewMs: () => number | undefined;
  /** Whether histories are read from the replica; `undefined` = there is none. */
  readonly replicaUsed: () => boolean | undefined;
  /** The connections to Redis that fail. */
  readonly redisFailing: () => readonly { readonly connection: string; readonly reason: string }[];
  readonly nodes: (chainId: ChainId) => readonly NodeGauges[];
  /** Names of the jobs whose lease this process holds, and of those that it is on standby for. */
  readonly jobs: () => { readonly held: readonly string[]; readonly standby: readonly string[] };
  readonly now: () => number;
}

/**
 * Register the gauges of the snapshot. They are computed at scrape time, so that a process with role api reports the ages that
 * it serves.
 */
export function registerFactsMetrics(register: Registry, deps: FactsMetricsDeps): void {
  const gauges = createGauges(register, deps);
  registerNodes(gauges);
  registerGroups(gauges, deps);
  registerMarkets(gauges, deps);
  registerProcess(gauges, deps);
}

type Gauges = ReturnType<typeof createGauges>;

/** Create the functions that register a gauge: one value, or one per group, chain or node. */
function createGauges(register: Registry, { catalog, budgets, facts, now, nodes }: FactsMetricsDeps) {
  const gauge = (name: string, help: string, labelNames: readonly string[], collect: (gauge: Gauge<string>) => void) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [register],
      collect() {
        this.reset();
        // Without labels a reset leaves 0, which would stand for a value that does not exist.
        if (labelNames.length === 0) this.remove();
        collect(this);
      },
    });
  const rows = () =>
    catalog.chains.flatMap((chain) =>
      groupHealth(chain, facts(chain.chainId), budgets, now()).map((health) => ({
        health,
        labels: { chain_id: String(chain.chainId), group: health.group, source: health.source ?? '' },
      })),
    );
  const perGroup = (
    name: string,
    help: string,
    read: (health: ReturnType<typeof rows>[number]['health']) => number | null,
  ) =>
    gauge(name, help, ['chain_id', 'group', 'source'], (target) => {
      for (const { health, labels } of rows()) {
        const value = read(health);
        if (value !== null) target.set(labels, value);
      }
    });
  const perChain = (name: string, help: string, read: (chainId: ChainId) => number) =>
    gauge(name, help, ['chain_id'], (target) => {
      for (const chainId of catalog.chainIds) target.set({ chain_id: String(chainId) }, read(chainId));
    });

  const perNode = (
    name: string,
    help: string,
    read: (node: NodeGauges) => Readonly<Record<string, number>>,
    label?: string,
  ) =>
    gauge(name, help, ['chain_id', 'node', ...(label === undefined ? [] : [label])], (target) => {
      for (const chainId of catalog.chainIds) {
        for (const node of nodes(chainId)) {
          for (const [key, value] of Object.entries(read(node))) {
            const labels = { chain_id: String(chainId), node: String(node.place) };
            target.set(label === undefined ? labels : { ...labels, [label]: key }, value);
          }
        }
      }
    });
  const perTvl = (name: string, help: string, read: (tvl: ChainTvl) => Decimal | undefined) =>
    gauge(name, help, ['chain_id'], (target) => {
      for (const chainId of catalog.chainIds) {
        const tvl = facts(chainId).groups.tvl.items.get(TVL_KEY)?.value;
        const usd = tvl && read(tvl);
        if (usd) target.set({ chain_id: String(chainId) }, usd.toNumber());
      }
    });
  return { gauge, perGroup, perChain, perNode, perTvl };
}

function registerNodes({ perNode }: Gauges): void {
  perNode(
    'spiral_node_up',
    '1 while a chain node answers and is not behind the others.',
    ({ status }): Record<string, number> => (status === 'unknown' ? {} : { up: status === 'ok' ? 1 : 0 }),
  );
  perNode(
    'spiral_node_block_time_seconds',
    'Time of the newest block of a chain node, unix seconds.',
    ({ head }): Record<string, number> => (head ? { block: Number(head.timestamp) } : {}),
  );
  perNode(
    'spiral_node_capability',
    '1 if a chain node passed the probe of a capability for simulations.',
    ({ capabilities }): Record<string, number> =>
      capabilities
        ? {
            simulate_v1: capabilities.simulateV1 === 'works' ? 1 : 0,
            state_overrides: capabilities.stateOverrides === 'works' ? 1 : 0,
          }
        : {},
    'capability',
  );
}

function registerGroups({ perGroup, perChain }: Gauges, { facts }: FactsMetricsDeps): void {
  perGroup(
    'spiral_facts_age_seconds',
    'Age of the oldest item of a group; absent without items.',
    ({ ageSec }) => ageSec,
  );
  perGroup('spiral_facts_budget_seconds', 'Freshness budget of a group.', ({ budgetSec }) => budgetSec);
  perGroup('spiral_facts_items', 'Items with a value.', ({ items }) => items);
  perGroup(
    'spiral_facts_items_at_last_good',
    'Items served at last-good after a failed refresh.',
    ({ itemsAtLastGood }) => itemsAtLastGood,
  );
  perGroup('spiral_facts_items_never_measured', 'Requested items that were never measured.', ({ neverMeasured }) =>
    Object.values(neverMeasured).reduce((sum, count) => sum + count, 0),
  );
  perChain('spiral_facts_version', 'Version of the facts in this process.', (chainId) => facts(chainId).version);
}

function registerMarkets({ gauge, perTvl }: Gauges, deps: FactsMetricsDeps): void {
  const { catalog, facts } = deps;
  gauge(
    'spiral_catalog_disagreements',
    'Differences between the catalog and the chain, by their effect.',
    ['chain_id', 'effect'],
    (target) => {
      for (const chain of catalog.chains) {
        const found = agreementOf(chain, facts(chain.chainId)).disagreements;
        for (const effect of DISAGREEMENT_EFFECTS) {
          const count = found.filter((one) => one.effect === effect).length;
          target.set({ chain_id: String(chain.chainId), effect }, count);
        }
      }
    },
  );
  gauge(
    'spiral_deployment_state',
    'Restrictions by the deployed contract: 1 or their number, 0 when there is none.',
    ['chain_id', 'state'],
    (target) => {
      for (const chain of catalog.chains) {
        for (const [state, count] of Object.entries(deploymentStates(chain, facts(chain.chainId)))) {
          target.set({ chain_id: String(chain.chainId), state }, count);
        }
      }
    },
  );
  gauge('spiral_markets_with_warning', 'Markets with a warning about a value.', ['chain_id', 'code'], (target) => {
    for (const chainId of catalog.chainIds) {
      const markets = deps.warnings(chainId);
      for (const code of WARNING_CODES) {
        const warned = markets.filter((codes) => codes.includes(code)).length;
        target.set({ chain_id: String(chainId), code }, warned);
      }
    }
  });
  perTvl('spiral_tvl_gross_usd', 'Looped collateral in USD; absent until computed.', (tvl) => tvl.grossTvlUsd);
  perTvl(
    'spiral_tvl_divergent_usd',
    'Looped collateral that is valued by an oracle far from its reference, in USD.',
    (tvl) => tvl.divergentUsd,
  );
}

function registerProcess({ gauge, perChain }: Gauges, deps: FactsMetricsDeps): void {
  perChain('spiral_ready', '1 while the chain is ready, else 0.', (chainId) => Number(deps.ready(chainId)));
  gauge('spiral_warmer_leases_held', '1 while this process runs a job, 0 while it stands by.', ['warmer'], (target) => {
    const { held, standby } = deps.jobs();
    for (const warmer of held) target.set({ warmer }, 1);
    for (const warmer of standby) target.set({ warmer }, 0);
  });
  gauge('spiral_snapshot_persisted', '1 while the facts are also kept outside this process, else 0.', [], (target) =>
    target.set(Number(deps.persisted())),
  );
  gauge(
    'spiral_database_replica_used',
    'Whether histories are read from the replica; absent without one.',
    [],
    (target) => {
      const isUsed = deps.replicaUsed();
      if (isUsed !== undefined) target.set(Number(isUsed));
    },
  );
  gauge(
    'spiral_redis_failing',
    '1 for each connection to Redis that fails, by reason.',
    ['connection', 'reason'],
    (target) => {
      for (const { connection, reason } of deps.redisFailing()) target.set({ connection, reason }, 1);
    },
  );
  gauge(
    'spiral_clock_skew_seconds',
    'Lead of the process clock over the one of Redis; absent without Redis.',
    [],
    (target) => {
      const skewMs = deps.clockSkewMs();
      if (skewMs !== undefined) target.set(skewMs / 1_000);
    },
  );
}
