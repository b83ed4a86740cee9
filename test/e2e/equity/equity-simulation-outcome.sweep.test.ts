import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../../devnet/seed/accounts.ts';
import { Decimal, formatUnitsPlain } from '../../../src/shared/decimal.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { type AdversarialVenues, type Pair, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { type EquityVerbs, equityChain, equityVerbs, passing } from '../../support/equity.ts';
import { type Json, startService, type TestService } from '../../support/service.ts';

const [, , , , , , , account] = accounts;
if (!account) throw new Error('the local world has accounts');
const user = account.address;
const chain = equityChain();
const { flashLeverage, equityRouter } = chain.contracts;
const [vault] = chain.equityVaults;
if (!vault) throw new Error('the local world has vaults');
const loop = vault.yieldMarket.collateral.address;
const [usdg, stock] = [vault.depositToken.address, vault.stock.address];
const deposit = { strategyId: vault.id, amount: '5000', userAddress: user };
let service: TestService;
let verbs: EquityVerbs;
let venues: AdversarialVenues;

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
  verbs = equityVerbs(service);
  await verbs.fund(user, vault, 20_000n * 10n ** BigInt(vault.depositToken.decimals));
});
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});
afterEach(() => venues.clear());

const skim = (bps: number, swap?: Pair) => venues.lie('kyberswap', { kind: 'skim', ppm: BigInt(bps) * 100n }, swap);

const built = async (path: 'deposit' | 'exit', body: object): Promise<Json> => {
  const answer = await verbs.post(`/v1/partner/equity/${path}/build`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const DEPOSIT_SWAPS: Readonly<Record<string, Pair>> = {
  'the stock': { tokenIn: usdg, tokenOut: stock },
  'the collateral with what is borrowed': { tokenIn: usdg, tokenOut: loop, recipient: equityRouter as Address },
  'the collateral with the flash loan': { tokenIn: usdg, tokenOut: loop, recipient: flashLeverage },
};
const EXIT_SWAPS: Readonly<Record<string, Pair>> = {
  "the loop's collateral": { tokenIn: loop, tokenOut: usdg },
  'the stock': { tokenIn: stock, tokenOut: usdg },
};

async function expectMismatch(path: 'deposit' | 'exit', body: object): Promise<void> {
  const { status, body: answer } = await verbs.post(`/v1/partner/equity/${path}/build`, body);
  expect([status, answer.error?.code]).toEqual([503, 'simulation_mismatch']);
  const { expected, simulated, of, source } = answer.error.details;
  expect([of, source]).toEqual(['swap_output', 'AggregatorOne']);
  expect(new Decimal(simulated).div(expected).toNumber()).toBeCloseTo(1 - 0.0072, 3);
}

describe('a deposit', () => {
  test.each(Object.keys(DEPOSIT_SWAPS))(
    'error: simulation_mismatch for 72 bp missing from the swap into %s',
    async (name) => {
      skim(72, DEPOSIT_SWAPS[name]);
      await expectMismatch('deposit', deposit);
    },
  );

  test('behavior: a loss within the tolerance is previewed as simulated and executes as previewed', async () => {
    skim(15);
    const before = await verbs.stockLeg(vault, user);
    const { calls, meta } = await built('deposit', deposit);
    await verbs.sendAtomically(user, calls);
    const { collateral } = await verbs.stockLeg(vault, user);
    expect(formatUnitsPlain(collateral - before.collateral, vault.stock.decimals)).toBe(
      meta.preview.stock.expectedReceived,
    );
  });
});

describe('an exit', () => {
  test.each(Object.keys(EXIT_SWAPS))(
    'error: simulation_mismatch for 72 bp missing from the swap of %s',
    async (name) => {
      skim(72, EXIT_SWAPS[name]);
      await expectMismatch('exit', { strategyId: vault.id, userAddress: user });
    },
  );

  test('behavior: shows the payout of the simulation, which equals the execution', async () => {
    const { calls, meta } = await built('exit', { strategyId: vault.id, userAddress: user });
    const before = await verbs.balance(vault.depositToken.address, user);
    await verbs.sendAtomically(user, calls);
    const paid = (await verbs.balance(vault.depositToken.address, user)) - before;
    const [{ symbol, amount }] = meta.received;
    expect(symbol).toBe(vault.depositToken.symbol);
    expect(new Decimal(amount).div(formatUnitsPlain(paid, vault.depositToken.decimals)).toNumber()).toBeCloseTo(1, 5);
    expect(meta.instructions).toContain(`In simulation ${amount} ${symbol} is paid out.`);
  });
});
