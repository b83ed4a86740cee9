import { afterAll, beforeAll, expect, test } from 'vitest';
import { accounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { CHAIN_ID, type EquityVerbs, equityVerbs } from '../../support/equity.ts';
import { noSleep, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';

// A separate world, because the time of the chain and of the service cannot go back.
let service: TestService;
let verbs: EquityVerbs;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  verbs = equityVerbs(service);
});
afterAll(() => service?.stop());

test('error: StaleData for deposits and exits while the oracle does not answer and market state is fresh', async () => {
  const strategyId = verbs.vault('SPY').id;
  await verbs.local.client.setCode({ address: verbs.vault('SPY').stockMarket.oracle, bytecode: '0xfe' });
  service.clock.advance(901_000);
  await verbs.local.increaseTime(901);
  await service.refresh(`lending-state:${CHAIN_ID}`);

  const deposit = { strategyId, amount: '1000' };
  const built = { ...deposit, userAddress: accounts[7]?.address };
  for (const [path, body] of [
    ['/v1/partner/equity/simulate', deposit],
    ['/v1/partner/equity/deposit/build', built],
    ['/v1/partner/equity/exit/build', { strategyId, userAddress: seededWallet('shareholder').account.address }],
  ] as const) {
    const { details } = expectEnvelope(await verbs.post(path, body), 503, 'stale_data');
    expect(details, path).toMatchObject({ group: 'oracle' });
  }
});
