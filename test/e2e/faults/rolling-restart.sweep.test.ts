import { afterAll, beforeAll, expect, test } from 'vitest';
import { dailyCalls, seeded } from '../../../bench/reliability/calls.ts';
import { startLoad } from '../../../bench/reliability/load.ts';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import { whyNoRedis } from '../../snapshot/redis-server.ts';
import { type Cluster, eventually, type ServiceProcess, startCluster } from '../../support/process/cluster.ts';
import { type LoadBalancer, startLoadBalancer } from '../../support/process/load-balancer.ts';

const skipped = whyNoRedis();
const OPEN = { RATE_LIMIT_ANONYMOUS: '0' };

let cluster: Cluster;
let balancer: LoadBalancer;
beforeAll(async () => {
  if (skipped !== null) return;
  cluster = await startCluster();
  balancer = await startLoadBalancer();
});
afterAll(async () => {
  if (skipped !== null) return;
  await balancer.stop();
  await cluster.stop();
});

test.skipIf(skipped !== null)(
  `${skipped ?? ''}behavior: both api processes are replaced under load, and no request is lost or refused`,
  async () => {
    const warmer = await cluster.launch({ ROLE: 'warmer' });
    await warmer.warmed;
    const spawn = () => cluster.spawn({ ...OPEN, ROLE: 'api', STOP_DELAY_SEC: '1' });
    let fleet: readonly ServiceProcess[] = await Promise.all([spawn(), spawn()]);
    const use = async (next: readonly ServiceProcess[]): Promise<void> => {
      fleet = next;
      balancer.use(next.map(({ url }) => url));
      await eventually(balancer.ready, (count) => count === next.length);
    };
    await use(fleet);
    const calls = dailyCalls(createCatalog(curatedChains), '', seeded(1));
    const load = startLoad({
      targets: () => [balancer.url],
      perSecond: 40,
      maxOpen: 100,
      next: () => {
        const { headers: _key, ...call } = calls();
        return call;
      },
    });
    for (const old of fleet) {
      await use([...fleet, await spawn()]);
      // The balancer reacts to /ready only: it gets no notice of the shutdown.
      expect(await old.end('SIGTERM')).toBe(0);
      await use(fleet.filter((service) => service !== old));
    }
    const { requests, statuses, failures } = await load.stop();
    expect({ statuses, failures }).toEqual({ statuses: { 200: requests }, failures: {} });
    expect(requests).toBeGreaterThan(100);
  },
);
