import { describe, expect, test } from 'vitest';
import { execute } from '../../packages/client/src/index.ts';
import type { ChainState } from '../../packages/client/src/intent/chain-state.ts';
import { deriveIntent } from '../../packages/client/src/intent/derive.ts';
import type { RepayIntent } from '../../packages/client/src/verify/index.ts';
import { verify } from '../../packages/client/src/verify/index.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { buildManualExit } from '../../src/transactions/build/manual-exit.ts';
import { localCatalog, marketOf } from '../e2e/leverage/support.ts';
import { account, market, useExecution, user } from '../support/execution.ts';
import { viemWallet } from '../support/wallets.ts';
import { localChains } from './verify-bundles.ts';

const world = useExecution();
const { local, options, openPlan } = world;
const run = async (plan: Parameters<typeof execute>[0]) => execute(plan, viemWallet(local(), account), options());
const build = (more: object) =>
  world.client.manageBuild({
    action: 'repay',
    id: 0,
    userAddress: user,
    payToken: market.loan.address,
    ...more,
  } as never);

/** The debt of the opened position, rounded up as the lending protocol does. */
async function debtNow(): Promise<bigint> {
  const { client, chain } = local();
  const morpho = { address: chain.contracts.morphoBlue, abi: morphoBlueAbi } as const;
  const { userProxy } = await client.readContract({
    address: chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePosition',
    args: [user, 0n],
  });
  const args = [market.id] as const;
  const [, , borrowed, all] = await client.readContract({ ...morpho, functionName: 'market', args });
  const [, shares] = await client.readContract({ ...morpho, functionName: 'position', args: [market.id, userProxy] });
  return (shares * (borrowed + 1n) + all + 1_000_000n - 1n) / (all + 1_000_000n);
}

describe('a debt of some base units', () => {
  test.each([2n, 50n, 150n])('default: is repaid as a whole, where a part has left %i', async (left) => {
    await run(await openPlan());
    await local().mint(market.loan, user, 5_000_000_000n);
    await run(await build({ amount: String(Number((await debtNow()) - left) / 1e6) }));
    const { proof } = await run(await build({ full: true }));
    expect(proof?.spendsAtMost[0]?.amount).toBeLessThan(left + 3n);
    expect(await debtNow()).toBe(0n);
  });

  test('default: is repaid at the end of a position in manual mode', () => {
    const [chain] = localCatalog.chains;
    if (chain === undefined) throw new Error('the local world has a chain');
    const proxy = `0x${'7'.repeat(40)}` as const;
    const state = { collateral: 10n ** 18n, borrowShares: 50_000_000n, debt: 50n };
    const calls = (debtLater: bigint) =>
      buildManualExit(chain, market, { user, proxy, holding: { ...state, debtLater } }).map(({ to, data }) => ({
        to,
        data,
      }));
    const intent = { action: 'manual_exit', chainId: 1, owner: user, marketId: market.id, proxy, state } as const;
    const proof = (debtLater: bigint) => verify({ chainId: 1, calls: calls(debtLater) } as never, intent, localChains);
    expect(proof(51n).spendsAtMost).toMatchObject([{ amount: 51n }]);
    expect(() => proof(53n)).toThrow('it approves');
  });
});

describe('a full repayment in a token of little value', () => {
  test('behavior: its worth is exact, whether the oracle or the caller prices it', async () => {
    const cheap = marketOf(4663, 'PONS/USDG 38.5');
    const chain = localChains.find(({ chainId }) => chainId === 4663);
    if (chain === undefined) throw new Error('the local world has two chains');
    // One token is worth 1.9 base units of the loan token.
    const price = 19n * 10n ** 17n;
    const state: ChainState = {
      priceOf: async () => price,
      position: async () => ({ isOpen: true, marketId: cheap.id, proxy: user, basis: 0n }),
      positions: async () => [],
      holding: async () => ({ collateral: 10n ** 26n, debt: 100_000_000n }),
      maxLtvOf: async () => 10n ** 18n,
      fees: async () => ({ depositFee: 0n, yieldFee: 0n }),
    };
    const worthOf = (amount: bigint) => (amount * price) / 10n ** 36n;
    const [ofOracle, ofCaller] = await Promise.all(
      [cheap.collateral.address, chain.tokens.find(({ symbol }) => symbol === 'USDe')?.address].map(
        async (payToken) => {
          const input = { action: 'repay', full: true, id: 0, chainId: 4663, userAddress: user, payToken };
          const worth = ({ amount }: { readonly amount: bigint }) => worthOf(amount);
          const request = { row: 'manageBuild', input } as never;
          return (await deriveIntent(request, user, chain, state, { worth })) as RepayIntent;
        },
      ),
    );
    for (const intent of [ofOracle, ofCaller]) {
      const { amount, worth = 0n } = intent?.pay ?? { amount: 0n };
      const real = worthOf(amount);
      const off = real - worth;
      expect(off >= -1n && off <= 1n, `${worth} instead of ${real}`).toBe(true);
      expect(worth).toBeGreaterThan(104_000_000n);
    }
  });
});
