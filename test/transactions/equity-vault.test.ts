import { describe, expect, test } from 'vitest';
import type { StrategyId } from '../../src/shared/ids.ts';
import { equityChainIds, findVault } from '../../src/transactions/equity/vault.ts';
import { chainOf } from '../domain/world.ts';
import { chain, router, vaultOf } from './equity-world.ts';

const chains = [chainOf(1), chain];
const vault = vaultOf('NVDA');

describe('equityChainIds', () => {
  test('default: the chains of the catalog', () => {
    expect(equityChainIds(chains)).toEqual([4663]);
  });
});

describe('findVault', () => {
  test('default', () => {
    expect(findVault(chains, { strategyId: vault.id })).toEqual({ chain, router, vault });
    expect(findVault(chains, { strategyId: vault.id, chainId: 4663 }).vault).toBe(vault);
  });

  test.each([1, 10])('error: bad_request for chain %s, naming the chains that have vaults', (chainId) => {
    expect(() => findVault(chains, { strategyId: vault.id, chainId })).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        details: { field: 'chainId', value: String(chainId), limit: { oneOf: [4663] } },
      }),
    );
  });

  test.each([1, 4663])('error: NotEligible for a loop of chain %s, with a pointer', (chainId) => {
    const loop = chainOf(chainId).markets.find(({ kind }) => kind === 'loop');
    expect(() => findVault(chains, { strategyId: loop?.id as string as StrategyId })).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        details: { reason: 'not_equity_vault', pointer: '/v1/partner/leverage/simulate' },
      }),
    );
  });

  test.each([`equity-0x${'12'.repeat(32)}`, `0x${'12'.repeat(32)}`, vault.stockMarket.id as string])(
    'error: bad_request for %s, which is not a vault',
    (strategyId) => {
      expect(() => findVault(chains, { strategyId: strategyId as StrategyId })).toThrow(
        expect.objectContaining({ code: 'bad_request', details: { field: 'strategyId', value: strategyId } }),
      );
    },
  );
});
