import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { MARKET, OWNER } from './refused-inputs.ts';

const VAULT_CHAIN = 4663;
const VAULT_HOLDER = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
/** Longer than every budget of these groups. */
const LONG_SEC = 7_200;
/** The warmers of everything that conditions depend on, with the groups that grow old without each. */
const WARMERS: readonly (readonly [warmer: string, groups: readonly string[]])[] = [
  ['lending-state', ['lendingState', 'oracle', 'wallet']],
  ['prices', ['price']],
  ['incentives', ['incentives']],
  ['deployment', ['deployment']],
  ['collateral-apy', ['collateralApy']],
];

let service: TestService;
const apyWarmers: string[] = [];
const subjects = new Map<string, string>();
beforeAll(async () => {
  service = await startService({ env: { BUDGET_SLOW_APY_SEC: '3600', BUDGET_DAILY_APY_SEC: '3600' } });
  const { held: jobs } = service.app.warmers.jobs();
  apyWarmers.push(...jobs.filter((name) => name.startsWith('collateral-apy') || name === 'stable-index'));
  const { body: held } = await service.get(`/v1/partner/positions/${OWNER}?chainId=1`, PARTNER);
  const open = held.positions.find(({ status }: Json) => status === 'open');
  const { body: vaults } = await service.get(`/v1/partner/positions/${VAULT_HOLDER}?chainId=${VAULT_CHAIN}`, PARTNER);
  const inputs: Record<string, object> = {
    strategy: { chainId: 1, strategyId: open.strategyId },
    position: { chainId: 1, wallet: OWNER, positionIndex: Number(open.positionId.split('-')[2]) },
    wallet: { chainId: 1, wallet: OWNER },
    vault: { chainId: VAULT_CHAIN, wallet: VAULT_HOLDER, strategyId: vaults.equityPositions[0].strategyId },
    vaultStrategy: { chainId: VAULT_CHAIN, strategyId: vaults.equityPositions[0].strategyId },
  };
  for (const [name, input] of Object.entries(inputs)) {
    const webhookUrl = `${service.world.receiver.url}/hook`;
    const { body } = await service.post('/v1/partner/alerts', { ...input, webhookUrl, condition: 'stale' }, PARTNER);
    subjects.set(name, body.alert.id);
  }
});
afterAll(() => service?.stop());

/** Warmers that did not run since time passed: none at the start. */
const late = new Set<string>();
/** Let those that are late run, but for one. */
const refresh = async (without = ''): Promise<void> => {
  for (const warmer of [...late]) {
    if (warmer === without) continue;
    await service.refresh(...(warmer === 'collateral-apy' ? apyWarmers : [warmer]));
    late.delete(warmer);
  }
  await service.refresh('alerts', 'alert-deliveries');
};
const pass = async (): Promise<void> => {
  service.clock.advance(LONG_SEC * 1_000);
  for (const [warmer] of WARMERS) late.add(warmer);
  for (const chainId of [1, VAULT_CHAIN]) await service.world.chains.on(chainId).increaseTime(LONG_SEC);
};
const states = async (): Promise<Record<string, readonly [string, readonly string[]]>> =>
  Object.fromEntries(
    await Promise.all(
      [...subjects].map(async ([name, id]) => {
        const { alert } = (await service.get(`/v1/partner/alerts/${id}`, PARTNER)).body;
        return [name, [alert.status, alert.staleGroups]];
      }),
    ),
  );
const bodiesOf = (id = ''): Json[] =>
  service.world.receiver
    .received()
    .filter(({ headers }) => headers['x-spiral-alert-id'] === id)
    .map(({ body }) => JSON.parse(body));

describe('the condition "stale"', () => {
  test.each(WARMERS)(
    'behavior: without %s it fires once on each subject and names the groups',
    async (warmer, groups) => {
      await refresh();
      for (const [name, state] of Object.entries(await states())) expect([name, state]).toEqual([name, ['armed', []]]);
      const before = new Map([...subjects].map(([name, id]) => [name, bodiesOf(id).length]));
      await pass();
      await refresh(warmer);
      await service.refresh('alerts', 'alert-deliveries');
      for (const [name, [status, named]] of Object.entries(await states())) {
        const expected = groups.filter((group) => group !== 'wallet' || !name.toLowerCase().includes('strategy'));
        // A collateral whose price is that of its oracle has an old price without it.
        const own = named.filter((group) => warmer !== 'lending-state' || group !== 'price');
        expect([name, status, own]).toEqual([name, 'firing', expected]);
        const sent = bodiesOf(subjects.get(name)).slice(before.get(name));
        expect(sent).toMatchObject([{ type: 'alert.fired', staleGroups: named }]);
      }
    },
  );

  test('edge: other conditions have no stale groups', async () => {
    const { body } = await service.post(
      '/v1/partner/alerts',
      { chainId: 1, strategyId: MARKET, condition: 'paused', webhookUrl: `${service.world.receiver.url}/hook` },
      PARTNER,
    );
    await service.refresh('alerts');
    const { alert } = (await service.get(`/v1/partner/alerts/${body.alert.id}`, PARTNER)).body;
    expect(alert.staleGroups).toEqual([]);
  });
});
