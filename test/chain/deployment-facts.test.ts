import { encodeFunctionResult, type Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { codeAddresses, foldDeploymentFacts, planDeploymentFacts } from '../../src/chain/plans/deployment.ts';
import type { CallResult } from '../../src/chain/types.ts';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { chainOf } from '../domain/world.ts';

const chain = chainOf(4663);
const TREASURY = '0x00000000000000000000000000000000000000A1';
const WAD = 10n ** 18n;
const answer = (functionName: 'LIQUIDATION_BUFFER' | 's_treasury' | 'paused', result: unknown): CallResult => ({
  ok: true,
  data: encodeFunctionResult({ abi: flashLeverageAbi, functionName, result } as never) as Hex,
});
const share = (value: bigint) => answer('LIQUIDATION_BUFFER', value);
const yes = answer('paused', true);
const no = answer('paused', false);
const views = [share(WAD / 40n), share(WAD / 10n), share(WAD / 100n), answer('s_treasury', TREASURY), no];
const others = planDeploymentFacts(chain).length - views.length;
const all = (first: readonly CallResult[]) => [...first, ...Array.from({ length: others }, () => yes)];
const codeEverywhere = new Map(codeAddresses(chain).map((address) => [address, true] as const));
const noCode = new Map(codeAddresses(chain).map((address) => [address, false] as const));
const contractOf = (results: readonly CallResult[]) => foldDeploymentFacts(chain, results, codeEverywhere).deployment;

describe('foldDeploymentFacts', () => {
  test('default: every view, venue, operator and market', () => {
    const { deployment, marketSupport } = foldDeploymentFacts(chain, all(views), codeEverywhere);
    const contract = deployment.values.get(DEPLOYMENT_KEY);
    expect(contract).toMatchObject({
      hasCode: true,
      liquidationBuffer: WAD / 40n,
      yieldFee: WAD / 10n,
      depositFee: WAD / 100n,
      treasury: TREASURY,
      isPaused: false,
    });
    const { flashLeverageRouter, equityRouter } = chain.contracts;
    expect(contract?.operators.map(({ address }) => address)).toEqual([flashLeverageRouter, equityRouter]);
    expect(new Set(contract?.swapRouters.map(({ address }) => address))).toEqual(
      new Set(Object.values(chain.swapRouters).flat()),
    );
    expect([...marketSupport.values.keys()]).toEqual(chain.markets.map(({ id }) => id));
    expect(new Set([...marketSupport.values.values()].map((support) => JSON.stringify(support)))).toEqual(
      new Set(['{"isSupported":true,"isCorrelated":true}']),
    );
  });

  test('behavior: a missing, empty or absurd view is unknown, and the others stay', () => {
    const results = all([
      { ok: false, reason: 'reverted' },
      { ok: true, data: '0x' },
      share(WAD),
      answer('s_treasury', TREASURY),
      yes,
    ]);
    const contract = contractOf(results).values.get(DEPLOYMENT_KEY);
    expect(contract).toMatchObject({ treasury: TREASURY, isPaused: true });
    expect([contract?.liquidationBuffer, contract?.yieldFee, contract?.depositFee]).toEqual(
      Array.from({ length: 3 }, () => undefined),
    );
    expect(contract?.implausible).toEqual(['depositFee']);
  });

  test('behavior: an address without code has no views', () => {
    const silent = all(views).map((): CallResult => ({ ok: true, data: '0x' }));
    const { deployment, marketSupport } = foldDeploymentFacts(chain, silent, noCode);
    const code = codeAddresses(chain).map((address) => ({ address, hasCode: false }));
    const contract = { hasCode: false, swapRouters: [], operators: [], links: [], code: code.slice(1) };
    expect(deployment.values.get(DEPLOYMENT_KEY)).toEqual(contract);
    expect(Object.values([...marketSupport.values.values()][0] ?? {})).toEqual([undefined, undefined, undefined]);
  });

  test('error: an unanswered view fails its item, so that the last good value stays', () => {
    const { deployment, marketSupport } = foldDeploymentFacts(
      chain,
      all([{ ok: false, reason: 'timeout' }, ...views.slice(1)]),
      codeEverywhere,
    );
    expect([deployment.values.size, deployment.failures.get(DEPLOYMENT_KEY)]).toEqual([0, 'timeout']);
    expect(marketSupport.failures.size).toBe(0);
    const cut = foldDeploymentFacts(chain, all(views).slice(0, -1), codeEverywhere);
    expect([...cut.marketSupport.failures]).toEqual([[chain.markets.at(-1)?.id, 'malformed']]);
  });
});
