import type { ServiceProcess } from '../../test/support/process/spawn-service.ts';
import type { Lab } from './environment.ts';
import { postgresScenarios } from './postgres-scenarios.ts';
import { redisScenarios } from './redis-scenarios.ts';
import type { Watch, WatchedGroup } from './watch.ts';

/** The three current processes. */
export interface Fleet {
  apis: ServiceProcess[];
  warmer: ServiceProcess;
  spawnWarmer(): Promise<ServiceProcess>;
}

export interface Scenario {
  readonly name: string;
  /** Duration of the outage, seconds. */
  readonly holdSec: number;
  /** Whether a tenth of the calls reads the positions of a wallet, which asks the nodes. */
  readonly readsPositions?: boolean;
  readonly break: () => Promise<void> | void;
  readonly mend: () => Promise<void> | void;
  /** Whether the state is as before; called until it is. */
  readonly recovered: () => Promise<boolean> | boolean;
}

/** Name of the row without a fault. */
export const BASELINE = 'nothing (baseline)';

/** Blocks that a lagging node is behind: more than one refresh, less than local nodes keep. */
const LAG_BLOCKS = 12n;
const FLOOD_BYTES = 200_000_000;

/** List the scenarios in the order of the table. `minuteSec` is the duration of an outage of a minute. */
export function scenariosOf(lab: Lab, fleet: Fleet, watch: Watch, minuteSec: number): readonly Scenario[] {
  let sinceMs = 0;
  const mark = (): void => {
    sinceMs = Date.now();
  };
  const fresh = (group: WatchedGroup) => () =>
    fleet.apis.every((api) => (watch.last(api, group)?.asOfMs ?? 0) > sinceMs);
  const shared = async (): Promise<boolean> => {
    const states = await Promise.all(
      fleet.apis.map(async ({ url }) => {
        const { snapshot } = (await (await fetch(`${url}/health`)).json()) as { snapshot: { ok: boolean } };
        return snapshot.ok;
      }),
    );
    return states.every(Boolean) && fresh('LENDING_STATE')();
  };
  const keyed = async (): Promise<boolean> => {
    const answers = await Promise.all(
      fleet.apis.map(({ url }) =>
        fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${lab.partnerKey}` },
          body: '{"query":"{ chains { chainId } }"}',
        }),
      ),
    );
    // A key accepted by an older check is not yet a recovery.
    const checked = await Promise.all(
      fleet.apis.map(async ({ url }) => {
        const { keys } = (await (await fetch(`${url}/health`)).json()) as { keys: { checked: boolean } };
        return keys.checked;
      }),
    );
    return answers.every(({ ok }) => ok) && checked.every(Boolean);
  };
  const node = lab.nodes[1];
  return [
    { name: BASELINE, holdSec: 10, break: () => {}, mend: mark, recovered: fresh('LENDING_STATE') },
    {
      name: 'the warmer is killed and restarted',
      holdSec: 0,
      break: async () => {
        await fleet.warmer.end('SIGKILL');
      },
      mend: async () => {
        mark();
        fleet.warmer = await fleet.spawnWarmer();
      },
      recovered: fresh('LENDING_STATE'),
    },
    {
      name: 'Redis is killed and restarted, empty',
      holdSec: 1,
      break: () => lab.redis.stop?.(),
      mend: async () => {
        mark();
        await lab.redis.start?.();
      },
      recovered: shared,
    },
    {
      name: `Redis is gone for ${minuteSec} s, and returns empty`,
      holdSec: minuteSec,
      break: () => lab.redis.stop?.(),
      mend: async () => {
        mark();
        await lab.redis.start?.();
      },
      recovered: shared,
    },
    ...redisScenarios({ lab, mark, shared }, minuteSec),
    ...postgresScenarios(
      { lab, fleet, mark, recovered: async () => (await keyed()) && fresh('LENDING_STATE')() },
      minuteSec,
    ),
    {
      name: 'a provider hangs (prices)',
      holdSec: Math.min(minuteSec, 30),
      break: () => lab.world.upstreams.faults.set('coingecko', { kind: 'hang' }),
      mend: () => {
        mark();
        lab.world.upstreams.faults.clear('coingecko');
      },
      recovered: fresh('PRICE'),
    },
    {
      name: `a chain node answers with a block ${LAG_BLOCKS} older`,
      holdSec: Math.min(minuteSec, 20),
      break: async () => {
        const blockNumber = await lab.world.chains.on(1).client.getBlockNumber();
        node.set({ kind: 'lag', blockNumber: blockNumber - LAG_BLOCKS });
      },
      mend: () => {
        mark();
        node.set({ kind: 'pass' });
      },
      recovered: fresh('LENDING_STATE'),
    },
    ...(
      [
        ['hangs', { kind: 'hang' }],
        [`sends ${FLOOD_BYTES / 1_000_000} MB for every answer`, { kind: 'flood', bytes: FLOOD_BYTES }],
      ] as const
    ).map(
      ([what, mode]): Scenario => ({
        name: `a chain node ${what}`,
        holdSec: Math.min(minuteSec, 30),
        readsPositions: true,
        break: () => node.set(mode),
        mend: () => {
          mark();
          node.set({ kind: 'pass' });
        },
        recovered: fresh('LENDING_STATE'),
      }),
    ),
  ];
}
